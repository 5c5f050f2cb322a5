package resize

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
)

func TestTensorFlowsBits(t *testing.T) {
	var cases []struct {
		From, To [2]int
		Bilinear string
	}
	datatest.JSON(t, "testdata/tensorflow.json", &cases)
	if len(cases) < 100 {
		t.Fatalf("%d pairs of sizes, want 100 or more", len(cases))
	}
	var r TensorFlow
	for _, c := range cases {
		values := tensorFlow(&r, hashed(c.From[0], c.From[1]), c.From, Axis{To: c.To[0]}, Axis{To: c.To[1]}, c.To)
		sum := sha256.Sum256(dense.Bytes(values))
		if got := hex.EncodeToString(sum[:])[:16]; got != c.Bilinear {
			t.Errorf("%v to %v: digest %s, want %s", c.From, c.To, got, c.Bilinear)
		}
	}
}

// tensorFlow resizes to the positions of two axes, of which From, To and Reverse are set. The channels are planes.
func tensorFlow(r *TensorFlow, src []byte, from [2]int, x, y Axis, to [2]int) []float32 {
	x.In, x.Out, y.In, y.Out = from[0], to[0], from[1], to[1]
	need := r.Begin(x, y)
	w, h := x.To-x.From, y.To-y.From
	dst := make([]float32, 3*w*h)
	r.From(src[4*(need.Min.Y*from[0]+need.Min.X):], 4*from[0])
	for c := range 3 {
		for row := range h {
			r.Row(dst[(c*h+row)*w:][:w], c, row)
		}
	}
	return dst
}

func TestTensorFlowOfAPart(t *testing.T) {
	from := [2]int{61, 43}
	src := hashed(from[0], from[1])
	var r TensorFlow
	for _, to := range [][2]int{{37, 90}, {130, 20}, {61, 44}} {
		whole := tensorFlow(&r, src, from, Axis{To: to[0]}, Axis{To: to[1]}, to)
		for _, mirror := range []bool{false, true} {
			x, y := Axis{From: 5, To: 30, Reverse: mirror}, Axis{From: 11, To: to[1] - 3, Reverse: mirror}
			part := tensorFlow(&r, src, from, x, y, to)
			var want []float32
			for c := range 3 {
				for i := range y.To - y.From {
					for j := range x.To - x.From {
						want = append(want, whole[(c*to[1]+y.position(i))*to[0]+x.position(j)])
					}
				}
			}
			if !slices.Equal(part, want) {
				t.Errorf("to %v, mirror %v: other values than those of the whole", to, mirror)
			}
		}
	}
}
