package jpeg

import (
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

func TestEveryTripleHasLibjpegsColor(t *testing.T) {
	testenv.OneGoroutine(t)
	var luma, blues, reds [256]byte
	var got [4 * 256]byte
	for i := range luma {
		luma[i] = byte(i)
	}
	for b := range 256 {
		for r := range 256 {
			for i := range luma {
				blues[i], reds[i] = byte(b), byte(r)
			}
			colorYCbCr(got[:], luma[:], blues[:], reds[:])
			cb, cr := int32(b)-128, int32(r)-128
			red, blue := (redCr*cr+1<<15)>>16, (blueCb*cb+1<<15)>>16
			green := (-greenCb*cb + 1<<15 - greenCr*cr) >> 16
			for y := range int32(256) {
				want := [4]byte{clamp(y + red), clamp(y + green), clamp(y + blue), 255}
				if [4]byte(got[4*y:]) != want {
					t.Fatalf("YCbCr %d %d %d: got %v, want %v", y, b, r, got[4*y:4*y+4], want)
				}
			}
		}
	}
}

func TestGrayIsRepeatedInAllColours(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, n := range []int{1, 15, 16, 33, 500, 1024, 1030, 2100} {
		gray, got := random(r, n), make([]byte, 4*n)
		colorGray(got, gray)
		for i, v := range gray {
			if want := [4]byte{v, v, v, 255}; [4]byte(got[4*i:]) != want {
				t.Fatalf("pixel %d of %d: got %v, want %v", i, n, got[4*i:4*i+4], want)
			}
		}
	}
}
