package resize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
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
		Area     string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	var o OpenCV
	for _, c := range cases {
		src := hashed(c.From[0], c.From[1])
		for f, want := range map[Filter]string{OpenCVLinear: c.Linear, OpenCVArea: c.Area} {
			got := digest(openCV(&o, src, c.From, Axis{Filter: f, To: c.To[0]}, Axis{Filter: f, To: c.To[1]}, c.To))
			if got != want {
				t.Errorf("%v, %v to %v: digest %s, want %s", f, c.From, c.To, got, want)
			}
		}
	}
}

// openCV resizes to the positions of two axes, of which From, To and Reverse are set.
func openCV(o *OpenCV, src []byte, from [2]int, x, y Axis, to [2]int) []byte {
	x.In, x.Out, y.In, y.Out = from[0], to[0], from[1], to[1]
	need := o.Begin(x, y)
	w := x.To - x.From
	dst := make([]byte, 4*w*(y.To-y.From))
	o.From(src[4*(need.Min.Y*from[0]+need.Min.X):], 4*from[0])
	for row := range y.To - y.From {
		o.Row(dst[4*w*row:][:4*w], row)
	}
	return dst
}

func TestOpenCVOfAPart(t *testing.T) {
	from := [2]int{61, 43}
	src := hashed(from[0], from[1])
	var o OpenCV
	for _, c := range []struct {
		filter Filter
		to     [2]int
	}{{OpenCVLinear, [2]int{37, 90}}, {OpenCVArea, [2]int{37, 90}}, {OpenCVArea, [2]int{47, 31}}, {OpenCVArea, [2]int{61, 43}}} {
		f, to := c.filter, c.to
		whole := openCV(&o, src, from, Axis{Filter: f, To: to[0]}, Axis{Filter: f, To: to[1]}, to)
		for _, mirror := range []bool{false, true} {
			x, y := Axis{Filter: f, From: 5, To: 30, Reverse: mirror}, Axis{Filter: f, From: 11, To: to[1] - 3, Reverse: mirror}
			part := openCV(&o, src, from, x, y, to)
			for i := range y.To - y.From {
				for j := range x.To - x.From {
					sx, sy := x.position(j), y.position(i)
					if got, want := [4]byte(part[4*(i*(x.To-x.From)+j):]), [4]byte(whole[4*(sy*to[0]+sx):]); got != want {
						t.Fatalf("%v to %v, mirror %v, pixel (%d, %d): %v, want %v", f, to, mirror, j, i, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkOpenCV(b *testing.B) {
	src := hashed(1280, 960)
	var o OpenCV
	dst := make([]byte, 4*640*480)
	for _, f := range []Filter{OpenCVLinear, OpenCVArea} {
		for _, w := range []int{640, 500} {
			b.Run(f.String()+"/"+strconv.Itoa(w), func(b *testing.B) {
				for b.Loop() {
					o.Begin(Axis{Filter: f, In: 1280, Out: w, To: w}, Axis{Filter: f, In: 960, Out: 480, To: 480})
					o.From(src, 4*1280)
					for y := range 480 {
						o.Row(dst[4*w*y:][:4*w], y)
					}
				}
			})
		}
	}
}
