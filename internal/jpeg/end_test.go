package jpeg_test

import (
	"bytes"
	"image"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/jpeg"
)

// TestWhatFollowsTheScan puts segments between the only scan and the end of the
// image, as no encoder does: libjpeg reads them, so what is wrong there is an
// error, and what is right changes nothing, not even for another window.
func TestWhatFollowsTheScan(t *testing.T) {
	set := pictures(t)
	var sound []byte
	for _, p := range set {
		if bytes.Count(p.data, []byte{0xff, 0xda}) == 1 && bytes.HasSuffix(p.data, []byte{0xff, 0xd9}) && bytes.Contains(p.data, []byte{0xff, 0xc0}) {
			sound = p.data
			break
		}
	}
	if sound == nil {
		t.Fatal("the test set has no baseline file")
	}
	table := slices.Concat([]byte{0xff, 0xdb, 0, 67, 0}, bytes.Repeat([]byte{1}, 64))
	for name, c := range map[string]struct {
		segment []byte
		ok      bool
	}{
		"comment":      {[]byte{0xff, 0xfe, 0, 4, 'h', 'i'}, true},
		"table":        {table, true},
		"second image": {[]byte{0xff, 0xd8}, false},
		"reserved":     {[]byte{0xff, 0x33, 0, 2}, false},
	} {
		data := slices.Concat(sound[:len(sound)-2], c.segment, sound[len(sound)-2:])
		var d jpeg.Decoder
		config, err := d.Header(data)
		if err != nil {
			t.Fatal(err)
		}
		whole := image.Rect(0, 0, config.Width, config.Height)
		first, second := make([]byte, 4*config.Width*config.Height), make([]byte, 4*config.Width*config.Height)
		err = d.Decode(first, 4*config.Width, whole)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if !c.ok {
			continue
		}
		if err := d.Decode(second, 4*config.Width, whole); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: decoded again it differs: %v", name, err)
		}
	}
}
