package transform_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/penstock-go/penstock/transform"
)

// TestTorchsResizeOfAPart: a crop of a resize has the pixels of the whole, and the version of Pillow, which chooses the first of the
// two passes, does not matter.
func TestTorchsResizeOfAPart(t *testing.T) {
	const w, h = 30, 400
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3*w*h)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	made := func(steps string, n int, more ...Item) []byte {
		t.Helper()
		list, err := FromJSON([]byte(`{"version": 1, "steps": [` + steps + `, {"PILToTensor": {}}, {"Layout": {"axes": "HWC"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Compile(append(list, more...)...)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, n)
		if err := c.IntoBytes(dst, RGB(noise, w, h)); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	for _, filter := range []string{"torchbilinear", "torchbicubic", "torchlanczos", "bicubic"} {
		resize := fmt.Sprintf(`{"Resize": {"size": [20, 9], "interpolation": %q}}`, filter)
		whole, other := made(resize, 3*20*9, Pillow(12)), made(resize, 3*20*9, Pillow(13))
		if got, want := bytes.Equal(whole, other), filter != "bicubic"; got != want {
			t.Errorf("%s: with Pillow 12 and 13 the same: %v, want %v", filter, got, want)
		}
		part := made(resize+`, {"Crop": {"top": 6, "left": 2, "height": 11, "width": 5}}, {"RandomHorizontalFlip": {"p": 1}}`, 3*11*5)
		for y := range 11 {
			for x := range 5 {
				got, want := part[3*(5*y+x):][:3], whole[3*(9*(6+y)+6-x):][:3]
				if !bytes.Equal(got, want) {
					t.Fatalf("%s, pixel (%d, %d): got %v, want %v", filter, x, y, got, want)
				}
			}
		}
	}
}
