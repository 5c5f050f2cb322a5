package webp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/webp"
	"github.com/penstock-go/penstock/internal/pillowtest"
)

func TestFramesArePillows(t *testing.T) { pillowtest.Frames(t, new(webp.Animation)) }

func TestTheFirstFrameIsThatOfDecoder(t *testing.T) {
	for _, f := range pillowtest.Files(t) {
		if f.RGB == "" {
			continue
		}
		var a webp.Animation
		w, h, err := a.Header(f.Data)
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
type last struct{ webp.Animation }

func (l *last) Header(data []byte) (w, h int, err error) {
	l.Limit = lastLimit
	w, h, err = l.Animation.Header(data)
	l.Seek(l.Len() - 1)
	return w, h, err
}

const lastLimit = 1 << 20

func TestWindowsOfFramesAreCrops(t *testing.T) { pillowtest.Windows(t, new(last)) }

// chunk is a chunk of a file.
func chunk(name string, body ...byte) []byte {
	c := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body)))
	return append(append(c, body...), make([]byte, len(body)%2)...)
}

// animated is a file of frames on a canvas of w×h pixels.
func animated(w, h byte, frames ...[]byte) []byte {
	body := slices.Concat([]byte("WEBP"), chunk("VP8X", 2, 0, 0, 0, w-1, 0, 0, h-1, 0, 0), chunk("ANIM", 0, 0, 0, 0, 0, 0), slices.Concat(frames...))
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// at is a frame of a still image's file, twice x to the right.
func at(x, flags byte, still []byte) []byte {
	return chunk("ANMF", append([]byte{x, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flags}, still[12:]...)...)
}

func TestAnimationsHaveALimit(t *testing.T) {
	file := animated(3, 1, at(0, 0, lossless(1)), at(1, 0, lossless(1)))
	for limit, want := range map[int64]string{0: "", 2: "", 1: "the frames up to number 1 have 2 pixels, more than the limit of 1"} {
		a := webp.Animation{Limit: limit}
		if _, _, err := a.Header(file); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("limit %d: error %v, want %q", limit, err, want)
		}
	}
}

func TestDamagedFramesAreErrors(t *testing.T) {
	pixel := lossless(1)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"beyond":             {animated(3, 1, at(0, 0, pixel), at(2, 0, pixel)), "webp: header: frame 1: (4,0)-(5,1) outside of 3×1 pixels"},
		"cut":                {animated(3, 1, at(0, 0, pixel), chunk("ANMF", make([]byte, 15)...)), "webp: header: frame 1: unexpected EOF"},
		"alpha alone":        {animated(3, 1, at(0, 0, pixel), at(0, 0, append(make([]byte, 12), chunk("ALPH", 0, 1)...))), "webp: header: frame 1: no frame"},
		"alpha and lossless": {animated(3, 1, at(0, 0, pixel), at(0, 0, slices.Concat(make([]byte, 12), chunk("ALPH", 0, 1), pixel[12:]))), "webp: header: frame 1: lossless frame with a chunk of alpha"},
		"pixels":             {animated(3, 1, at(0, 0, pixel), at(0, 0, append(make([]byte, 12), chunk("VP8L", 0x2f, 0, 0, 0, 0)...))), "webp: decode: frame 1: unexpected EOF"},
	} {
		var a webp.Animation
		w, h, err := a.Header(c.file)
		if err == nil {
			_, err = pillowtest.Frame(&a, a.Len()-1, w, h)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// lossy is a lossy file of 3×3 pixels.
func lossy(t *testing.T) []byte {
	t.Helper()
	for _, f := range pillowtest.Files(t) {
		if f.Name == "lossy-3-3.webp" {
			return f.Data
		}
	}
	t.Fatal("no lossy-3-3.webp")
	return nil
}

// transparent is a lossy file with a chunk of alpha.
func transparent(still, alpha []byte) []byte {
	return slices.Concat(make([]byte, 12), chunk("ALPH", alpha...), still[12:])
}

// TestMemoryOfAlphaIsBesideThatOfItsFrame, because both are there at once.
func TestMemoryOfAlphaIsBesideThatOfItsFrame(t *testing.T) {
	memory := func(d interface {
		Header([]byte) (w, h int, err error)
		Memory(image.Rectangle) int64
	}, file []byte) int64 {
		t.Helper()
		w, h, err := d.Header(file)
		if err != nil {
			t.Fatal(err)
		}
		return d.Memory(image.Rect(0, 0, w, h))
	}
	still, alpha := lossy(t), make([]byte, 10)
	stream := chunk("VP8L", append([]byte{0x2f, 2, 2 << 6, 0, 0}, make([]byte, 5)...)...) // as long as alpha
	coded := slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(4+len(stream))), []byte("WEBP"), stream)
	want := memory(new(webp.Decoder), still) + memory(new(webp.Decoder), coded) + 9 + int64(len(alpha)) // 9 values of alpha, and a copy
	if got := memory(new(webp.Animation), animated(3, 3, at(0, 0, still), at(0, 0, transparent(still, alpha)))); got < want {
		t.Errorf("%d bytes, want %d or more", got, want)
	}
}

func TestDamagedAlphaIsAnError(t *testing.T) {
	lossy := lossy(t)
	for name, c := range map[string]struct {
		alpha []byte
		want  string
	}{
		"nothing":     {nil, "alpha: unexpected EOF"},
		"cut":         {make([]byte, 9), "alpha: unexpected EOF"},
		"reserved":    {append([]byte{0x80}, make([]byte, 9)...), "alpha: invalid header 0x80"},
		"compression": {append([]byte{2}, make([]byte, 9)...), "alpha: an unknown compression"},
		"lossless":    {[]byte{1, 0}, "alpha: unexpected EOF"},
	} {
		var a webp.Animation
		if w, h, err := a.Header(animated(3, 3, at(0, 0, lossy), at(0, 0, transparent(lossy, c.alpha)))); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if _, err := pillowtest.Frame(&a, 1, w, h); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestStopEndsBetweenFrames(t *testing.T) {
	calls, enough := 0, errors.New("enough")
	a := webp.Animation{Stop: func() error {
		if calls++; calls == 3 {
			return enough
		}
		return nil
	}}
	pixel := at(0, 0, lossless(1))
	w, h, err := a.Header(animated(3, 1, pixel, pixel, pixel, pixel))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pillowtest.Frame(&a, 3, w, h); !errors.Is(err, enough) || calls != 3 {
		t.Errorf("after %d calls error %v, want %v after 3", calls, err, enough)
	}
}

func TestManyFramesThatSayLittleTakeLittle(t *testing.T) {
	pixel := at(0, 1, lossless(1))
	pillowtest.Hostile(t, func() pillowtest.Decoder { return new(last) }, 16<<20, map[string][]byte{
		"frames":       animated(255, 255, bytes.Repeat(pixel, 1<<12)),
		"empty frames": animated(255, 255, pixel, bytes.Repeat(chunk("ANMF", make([]byte, 16)...), 1<<15)),
	})
}

func FuzzAnimation(f *testing.F) {
	for _, a := range pillowtest.Animations(f) {
		f.Add(a.Data)
	}
	// The pixels of all frames, of which those of lossless ones are kept twice, and alpha.
	pillowtest.Fuzz(f, func() pillowtest.Decoder { return new(last) }, func(w, h int) int { return groupsMemory + 4*w*h + 24*lastLimit })
}
