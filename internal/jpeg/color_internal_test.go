package jpeg

import "testing"

func TestEveryTripleHasLibjpegsColor(t *testing.T) {
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
