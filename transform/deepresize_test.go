package transform_test

import (
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
)

// TestDepth16ResizesUint8AsPillowDoes compares with images of 8 bits, whose pixels are
// Pillow's. Both clamp what overshoots in a row before they go down the columns.
func TestDepth16ResizesUint8AsPillowDoes(t *testing.T) {
	testenv.OneGoroutine(t)
	const h, w = 61, 83
	r := rand.New(rand.NewPCG(1, 2))
	pix := make([]uint8, h*w*3)
	for i := range pix {
		pix[i] = uint8(255 * r.IntN(2)) // black and white, which overshoots most
	}
	ds := arrays(t, dataset.Uint8, dataset.Shape{h, w, 3}, pix)
	for _, filter := range []transform.Filter{transform.Bilinear, transform.Bicubic, transform.Lanczos} {
		for _, to := range [][]int{{40, 50}, {90, 131}, {61, 50}, {40, 83}, {200, 31}} {
			resized := resizeTo(to, transform.Interpolation(filter))
			want := valuesOf[uint8](t, ds, resized)
			other := 0
			for i, v := range valuesOf[uint8](t, ds, transform.Depth16(3), resized) {
				if v == want[i] {
					continue
				}
				other++
				if d := int(v) - int(want[i]); d < -1 || d > 1 {
					t.Fatalf("%v: value %d is %d, want %d", resized, i, v, want[i])
				}
			}
			if other > len(want)/50 {
				t.Errorf("%v: %d of %d values are a level off", resized, other, len(want))
			}
		}
	}
}
