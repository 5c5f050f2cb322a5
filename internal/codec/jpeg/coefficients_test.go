package jpeg_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// kept holds the coefficients of an image, by row of MCUs and component.
type kept struct {
	rows  [][4][]jpeg.Block
	last  []uint8
	asked []int
	wrong int // a row that is an error, or -1
}

func (k *kept) Row(component, y int) ([]jpeg.Block, []uint8, error) {
	if component == 0 {
		k.asked = append(k.asked, y)
	}
	if y == k.wrong {
		return nil, nil, fmt.Errorf("row %d is wrong", y)
	}
	blocks := k.rows[y][component]
	k.last = slices.Grow(k.last[:0], len(blocks))[:len(blocks)]
	for i := range k.last {
		k.last[i] = 63
	}
	return blocks, k.last, nil
}

func keep(d *jpeg.Decoder) (jpeg.Frame, *kept, error) {
	k := &kept{wrong: -1}
	f, err := d.Coefficients(func(y int, blocks *[4][]jpeg.Block) error {
		var row [4][]jpeg.Block
		for i, b := range blocks {
			row[i] = slices.Clone(b)
		}
		k.rows = append(k.rows, row)
		return nil
	})
	return f, k, err
}

func TestCoefficientsGiveTheFilesPixels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same, estimated := 0, 0
	var from, to jpeg.Decoder
	for _, p := range testImages(t) {
		c, err := from.Header(p.data)
		if err != nil || c.Components == 4 {
			continue
		}
		want, wrong := whole(&from, c)
		f, rows, err := keep(&from)
		if errors.Is(err, errors.ErrUnsupported) && wrong == nil {
			estimated++
			continue
		}
		if wrong != nil || err != nil {
			if wrong == nil || err == nil {
				t.Errorf("%s: pixels %v, coefficients %v", p.name, wrong, err)
			}
			continue
		}
		got, err := to.Open(f, rows)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if got.Width != c.Width || got.Height != c.Height || got.Components != c.Components || got.Model != c.Model || got.Orientation != c.Orientation {
			t.Errorf("%s: %+v, want %+v", p.name, got, c)
		}
		pixels, err := whole(&to, got)
		if err != nil || !bytes.Equal(pixels, want) {
			t.Errorf("%s: %+v: pixels differ: %v", p.name, f, err)
		}
		checkWindow(t, &to, p.name, c, want, randomWindow(r, c))
		same++
	}
	if same < 90 || estimated == 0 {
		t.Errorf("%d images have the same pixels, %d need estimated coefficients", same, estimated)
	}
}

func TestWindowAsksOnlyForItsRows(t *testing.T) {
	rows := &kept{wrong: 3}
	for range 6 {
		rows.rows = append(rows.rows, [4][]jpeg.Block{make([]jpeg.Block, 16), make([]jpeg.Block, 4), make([]jpeg.Block, 4)})
	}
	f := jpeg.Frame{Width: 64, Height: 96, Model: jpeg.YCbCr, Sampling: [4]jpeg.Sampling{{H: 2, V: 2}, {H: 1, V: 1}, {H: 1, V: 1}}}
	var d jpeg.Decoder
	if _, err := d.Open(f, rows); err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 4*64*96)
	if err := d.Decode(dst, 4*64, image.Rect(0, 20, 64, 47)); err != nil || !slices.Equal(rows.asked, []int{1, 2}) {
		t.Errorf("rows 20 to 46: asked for %v, want MCU rows 1 and 2: %v", rows.asked, err)
	}
	if err := d.Decode(dst, 4*64, image.Rect(0, 20, 64, 48)); fmt.Sprint(err) != "row 3 is wrong" {
		t.Errorf("row 47 needs the chroma of MCU row 3: error %v", err)
	}
	if _, err := d.Coefficients(nil); err == nil {
		t.Error("an image that is not a file has coefficients to read")
	}
	f.Sampling[1].H = 3
	if _, err := d.Open(f, rows); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("fractional sampling: %v", err)
	}
}
