package gif_test

import (
	"bytes"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/pillowtest"
)

func TestFramesArePillows(t *testing.T) { pillowtest.Frames(t, new(gif.Animation)) }

func TestTheFirstFrameIsThatOfDecoder(t *testing.T) {
	for _, f := range pillowtest.Files(t) {
		var a gif.Animation
		w, h, err := a.Header(f.Data)
		if f.RGB == "" || err != nil && strings.Contains(err.Error(), "beyond") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if got, err := pillowtest.Frame(&a, 0, w, h); err != nil || got != f.RGB[:16] {
			t.Errorf("%s: another first frame than Pillow's (%v)", f.Name, err)
		}
	}
}

// last decodes the last frame of animations.
type last struct{ gif.Animation }

func (l *last) Header(data []byte) (w, h int, err error) {
	l.Limit = 1 << 22
	w, h, err = l.Animation.Header(data)
	l.Seek(l.Len() - 1)
	return w, h, err
}

func TestWindowsOfFramesAreCrops(t *testing.T) { pillowtest.Windows(t, new(last)) }

func TestFramesTakeNoAllocation(t *testing.T) {
	var l last
	all := pillowtest.Animations(t)
	pix := make([]byte, 4*20*20)
	decode := func() {
		for _, f := range all {
			w, h, err := l.Header(f.Data)
			if err == nil {
				err = l.Decode(pix, 4*w, image.Rect(0, 0, w, h))
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	decode()
	if n := allocs.PerRun(0, 5, decode); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestAnimationsHaveALimit(t *testing.T) {
	screen, frame := []byte("GIF89a\x05\x00\x04\x00\x00\x00\x00"), []byte(",\x00\x00\x00\x00\x05\x00\x04\x00\x00")
	codes := []byte{2, 2, 0x44, 1, 0}
	wide := bytes.Clone(frame)
	wide[5] = 6
	for limit, want := range map[int64]string{0: "", 40: "", 39: "the frames up to number 1 have 40 pixels, more than the limit of 39", 1: "more than the limit of 1"} {
		a := gif.Animation{Limit: limit}
		if _, _, err := a.Header(slices.Concat(screen, frame, codes, frame, codes)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("limit %d: error %v, want %q", limit, err, want)
		}
	}
	var a gif.Animation
	if _, _, err := a.Header(slices.Concat(screen, frame, codes, wide, codes)); err == nil || !strings.Contains(err.Error(), "frame 1: gif: header: a frame reaches beyond") {
		t.Errorf("error %v, want that of a frame beyond the first one's canvas", err)
	}
}

func TestManyFramesThatSayLittleTakeLittle(t *testing.T) {
	screen := []byte("GIF89a\xff\x00\xff\x00\x00\x00\x00")
	control := []byte("!\xf9\x04\x0c\x00\x00\x00\x00")
	frame := []byte(",\x00\x00\x00\x00\x01\x00\x01\x00\x00")
	large := []byte(",\x00\x00\x00\x00\xff\x00\xff\x00\x00")
	pixel := []byte{2, 2, 0x44, 1, 0}
	pillowtest.Hostile(t, func() pillowtest.Decoder { return new(last) }, 16<<20, map[string][]byte{
		"frames":       slices.Concat(screen, bytes.Repeat(slices.Concat(control, frame, pixel), 1<<14)),
		"large frames": slices.Concat(screen, bytes.Repeat(slices.Concat(control, large, pixel), 1<<14)),
	})
}

func FuzzAnimation(f *testing.F) {
	for _, a := range pillowtest.Animations(f) {
		f.Add(a.Data)
	}
	pillowtest.Fuzz(f, func() pillowtest.Decoder { return new(last) }, func(w, h int) int { return 8*w*h + 16<<20 })
}
