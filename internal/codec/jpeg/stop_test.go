package jpeg_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// TestDecodeIsStoppedBetweenRows stops every image at every row of MCUs, of every scan. Then it decodes it.
func TestDecodeIsStoppedBetweenRows(t *testing.T) {
	enough := errors.New("enough")
	progressive := 0
	for _, p := range testImages(t) {
		if p.hash == "error" {
			continue
		}
		asked, last := 0, -1
		d := jpeg.Decoder{AllowTruncated: strings.HasPrefix(p.name, "truncated"), Stop: func() error {
			asked++
			if asked > last && last >= 0 {
				return enough
			}
			return nil
		}}
		decode := func(most int) (jpeg.Config, error) {
			asked, last = 0, most
			c, err := d.Header(p.data)
			if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			pixels, err := whole(&d, c)
			if err == nil && hash(pixels) != p.hash {
				t.Errorf("%s: pixels differ from libjpeg's", p.name)
			}
			return c, err
		}
		c, err := decode(-1)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		high := 8
		for _, s := range c.Sampling[:c.Components] {
			if c.Components > 1 {
				high = max(high, 8*s.V)
			}
		}
		rows, all := (c.Height+high-1)/high, asked
		if all < rows || c.Progressive && all < 2*rows && !d.AllowTruncated {
			t.Errorf("%s: asked %d times for %d rows of MCUs", p.name, all, rows)
		}
		if c.Progressive {
			progressive++
		}
		for n := range all {
			if _, err := decode(n); !errors.Is(err, enough) || asked != n+1 {
				t.Errorf("%s: stopped after %d of %d: got %v, asked %d times", p.name, n, all, err, asked)
			}
		}
		if _, err := decode(-1); err != nil {
			t.Errorf("%s: after it was stopped: %v", p.name, err)
		}
	}
	if progressive < 10 {
		t.Errorf("%d progressive images", progressive)
	}
}
