package jpeg_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/testenv"
)

// TestWhatFollowsTheScan puts segments between the only scan and the end of the
// image, as no encoder does. libjpeg reads them, so an invalid segment is an error.
// A valid one changes nothing, in the next window too.
func TestWhatFollowsTheScan(t *testing.T) {
	set := testImages(t)
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

// verdicts are, by file, the numbers of bytes that can be missing from its end
// before Pillow gives up. testdata/ends.py wrote them.
func verdicts(t *testing.T, name string) (archive *zip.ReadCloser, of map[string][]int) {
	archive, err := zip.OpenReader("testdata/ends.zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { archive.Close() })
	raw, err := fs.ReadFile(archive, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &of); err != nil {
		t.Fatal(err)
	}
	return archive, of
}

// checkCut decodes some windows of a file without its last bytes, and the whole
// image. All of them must be errors unless whole, which says whether Pillow decodes
// the file.
func checkCut(t *testing.T, d *jpeg.Decoder, name string, data []byte, missing int, whole bool) {
	t.Helper()
	data = data[: len(data)-missing : len(data)-missing]
	c, err := d.Header(data)
	if err != nil {
		if whole {
			t.Errorf("%s without %d bytes: %v", name, missing, err)
		}
		return
	}
	dst := make([]byte, 4*c.Width*c.Height)
	for _, window := range []image.Rectangle{
		image.Rect(0, 0, 1, 1), image.Rect(c.Width/3, c.Height/2, c.Width/2+1, c.Height/2+1),
		image.Rect(0, c.Height-1, c.Width, c.Height), image.Rect(0, 0, c.Width, c.Height),
	} {
		err := d.Decode(dst, 4*c.Width, window)
		if (err == nil) != whole {
			t.Errorf("%s without %d bytes, window %v: error %v; Pillow decodes it: %v", name, missing, window, err, whole)
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s without %d bytes: error %v, want an unexpected end", name, missing, err)
		}
	}
}

func TestAllWindowsOfACutFileDecodeIfTheWholeDoes(t *testing.T) {
	testenv.OneGoroutine(t)
	testenv.Slow(t)
	var d jpeg.Decoder
	archive, all := verdicts(t, "verdicts.json")
	unended := 0
	for name, enough := range all {
		data, err := fs.ReadFile(archive, name)
		if err != nil {
			t.Fatal(err)
		}
		for missing := range data {
			if testing.Short() && missing%8 > 0 && !slices.Contains(enough, missing) {
				continue
			}
			checkCut(t, &d, name, data, missing, slices.Contains(enough, missing))
		}
		unended += len(enough) - 1
	}
	if unended == 0 {
		t.Error("no file is whole without its end marker")
	}
}

func TestPhotosWithoutTheirEndDecodeIfPillowDecodesThem(t *testing.T) {
	testenv.OneGoroutine(t)
	photos := goldenPhotos(t)
	few := everyTwentieth(photos)
	_, all := verdicts(t, "photos.json")
	var d jpeg.Decoder
	for name := range photos {
		if _, ok := few[name]; !ok && (len(all[name]) == 1 || testing.Short()) {
			continue
		}
		data := readPhoto(t, name)
		for _, missing := range []int{1, 2, 3, len(data) / 5} {
			checkCut(t, &d, name, data, missing, slices.Contains(all[name], missing))
		}
	}
}

func TestWhatFollowsTheEndDoesNotMatter(t *testing.T) {
	var d jpeg.Decoder
	for _, p := range samples(t) {
		want, err := decode(&d, p.data)
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range [][]byte{make([]byte, 100), {0xff}, {0xff, 0xd8, 0xff}, []byte("\r\n")} {
			if got, err := decode(&d, slices.Concat(p.data, more)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s with %q after its end: other pixels, or %v", p.name, more, err)
			}
		}
	}
}
