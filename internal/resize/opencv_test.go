package resize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// hashed is w×h pixels of the noise in testdata/opencv.py, with 7 as the fourth byte.
func hashed(w, h int) []byte {
	pix := make([]byte, 4*w*h)
	for p := range w * h {
		for c := range 3 {
			i := uint32(3*p + c)
			pix[4*p+c] = uint8(i*2654435761>>24) ^ uint8(i>>7)
		}
		pix[4*p+3] = 7
	}
	return pix
}

func digest(pix []byte) string {
	h := sha256.New()
	for i := 0; i < len(pix); i += 4 {
		h.Write(pix[i : i+3])
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func TestOpenCVsBits(t *testing.T) {
	text, err := os.ReadFile("testdata/opencv.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		From, To [2]int
		Linear   string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	var o OpenCV
	for _, c := range cases {
		src := hashed(c.From[0], c.From[1])
		if got := digest(openCV(&o, src, c.From, Axis{To: c.To[0]}, Axis{To: c.To[1]}, c.To)); got != c.Linear {
			t.Errorf("%v to %v: digest %s, want %s", c.From, c.To, got, c.Linear)
		}
	}
}

// openCV resizes to the positions of two axes, of which From, To and Reverse are set.
func openCV(o *OpenCV, src []byte, from [2]int, x, y Axis, to [2]int) []byte {
	x.In, x.Out, y.In, y.Out = from[0], to[0], from[1], to[1]
	need := o.Begin(x, y)
	w := x.To - x.From
	dst := make([]byte, 4*w*(y.To-y.From))
	o.Resize(dst, 4*w, src[4*(need.Min.Y*from[0]+need.Min.X):], 4*from[0])
	return dst
}

func TestOpenCVOfAPart(t *testing.T) {
	from, to := [2]int{61, 43}, [2]int{37, 90}
	src := hashed(from[0], from[1])
	var o OpenCV
	whole := openCV(&o, src, from, Axis{To: to[0]}, Axis{To: to[1]}, to)
	for _, mirror := range []bool{false, true} {
		x, y := Axis{From: 5, To: 30, Reverse: mirror}, Axis{From: 11, To: 71, Reverse: mirror}
		part := openCV(&o, src, from, x, y, to)
		for i := range y.To - y.From {
			for j := range x.To - x.From {
				sx, sy := x.From+j, y.From+i
				if mirror {
					sx, sy = x.To-1-j, y.To-1-i
				}
				if got, want := [4]byte(part[4*(i*(x.To-x.From)+j):]), [4]byte(whole[4*(sy*to[0]+sx):]); got != want {
					t.Fatalf("mirror %v, pixel (%d, %d): %v, want %v", mirror, j, i, got, want)
				}
			}
		}
	}
}

func BenchmarkOpenCV(b *testing.B) {
	src := hashed(1280, 960)
	var o OpenCV
	dst := make([]byte, 4*640*480)
	for b.Loop() {
		o.Begin(Axis{In: 1280, Out: 640, To: 640}, Axis{In: 960, Out: 480, To: 480})
		o.Resize(dst, 4*640, src, 4*1280)
	}
}
