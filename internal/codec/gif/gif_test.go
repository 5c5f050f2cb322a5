package gif_test

import (
	"bytes"
	"errors"
	"image"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/pillowtest"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestFilesBecomePillowsRGB(t *testing.T)  { pillowtest.Equal(t, new(gif.Decoder)) }
func TestWindowsAreCrops(t *testing.T)        { pillowtest.Windows(t, new(gif.Decoder)) }
func TestImagesTakeNoAllocation(t *testing.T) { pillowtest.Still(t, new(gif.Decoder)) }

func TestCutFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	pillowtest.Cut(t, new(gif.Decoder), func(name string) bool { return name != "short-table.gif" })
}

func TestCutFileIsAnErrorForEveryWindow(t *testing.T) {
	data, err := os.ReadFile("testdata/plain.gif")
	if err != nil {
		t.Fatal(err)
	}
	var d gif.Decoder
	w, h, err := d.Header(data[:len(data)-20])
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 4*w*h)
	for _, window := range []image.Rectangle{image.Rect(0, 0, 1, 1), image.Rect(0, 0, w, h)} {
		if err := d.Decode(dst, 4*w, window); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("window %v: error %v, want an unexpected end", window, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	open := func() pillowtest.Decoder { return new(gif.Decoder) }
	pillowtest.Fuzz(f, open, func(int, int) int { return 0 })
}

// TestManyPartsThatSayLittleTakeLittle has codes that only clear the table, frames after the first,
// extensions, and a frame of many pixels in few codes.
func TestManyPartsThatSayLittleTakeLittle(t *testing.T) {
	const n = 1 << 18
	screen := []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00")
	frame := []byte(",\x00\x00\x00\x00\x01\x00\x01\x00\x00")
	pixel := []byte{2, 2, 0x44, 1, 0}
	cleared := slices.Concat([]byte{2}, bytes.Repeat(append([]byte{255}, bytes.Repeat([]byte{0x24, 0x49, 0x92}, 85)...), n/256), []byte{2, 0x44, 1, 0})
	long := bytes.Clone(frame)
	copy(long[5:], "\xff\xff\xff\xff")
	pillowtest.Hostile(t, func() pillowtest.Decoder { return new(gif.Decoder) }, 0, map[string][]byte{
		"clear codes":      slices.Concat(screen, frame, cleared),
		"frames":           slices.Concat(screen, bytes.Repeat(slices.Concat(frame, pixel), n/15)),
		"extensions":       slices.Concat(screen, bytes.Repeat([]byte("!\xff\x00\x00"), n/4), frame, pixel),
		"empty extensions": slices.Concat(screen, bytes.Repeat([]byte("!\xfe\x00"), n/3), frame, pixel),
		"a large frame":    slices.Concat(screen, long, pixel),
	})
}
