package gif_test

import (
	"errors"
	"image"
	"io"
	"os"
	"testing"

	"github.com/penstock-go/penstock/internal/gif"
	"github.com/penstock-go/penstock/internal/pillowtest"
)

func TestFilesBecomePillowsRGB(t *testing.T)  { pillowtest.Equal(t, new(gif.Decoder)) }
func TestWindowsAreCrops(t *testing.T)        { pillowtest.Windows(t, new(gif.Decoder)) }
func TestImagesTakeNoAllocation(t *testing.T) { pillowtest.Still(t, new(gif.Decoder)) }

func TestCutFilesAreErrors(t *testing.T) {
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
