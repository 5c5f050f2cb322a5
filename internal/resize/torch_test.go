package resize

import (
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
)

func TestTorchsBits(t *testing.T) {
	var cases []struct {
		From, To                   [2]int
		Bilinear, Bicubic, Lanczos string
	}
	datatest.JSON(t, "testdata/torch.json", &cases)
	if len(cases) < 200 {
		t.Fatalf("%d pairs of sizes, want 200 or more", len(cases))
	}
	for _, c := range cases {
		src := hashed(c.From[0], c.From[1])
		for f, want := range map[Filter]string{TorchBilinear: c.Bilinear, TorchBicubic: c.Bicubic, TorchLanczos: c.Lanczos} {
			if got := digest(passes(src, c.From, c.To, f)); got != want {
				t.Errorf("%v, %v to %v: digest %s, want %s", f, c.From, c.To, got, want)
			}
		}
	}
}

// passes resizes by the two passes.
func passes(src []byte, from, to [2]int, f Filter) []byte {
	var x, y Weights
	x.Compute(Axis{Filter: f, In: from[0], Out: to[0], To: to[0]}.plain())
	y.Compute(Axis{Filter: f, In: from[1], Out: to[1], To: to[1]}.plain())
	wide := make([]byte, 4*to[0]*from[1])
	Horizontal(wide, 4*to[0], src[4*x.Lo:], 4*from[0], from[1], &x)
	dst := make([]byte, 4*to[0]*to[1])
	for i := range to[1] {
		Vertical(dst[4*to[0]*i:][:4*to[0]], wide[4*to[0]*y.Lo:], 4*to[0], &y, i)
	}
	return dst
}

// TestTorchsWeightsHave16Bits compares weights with those of Pillow, and a part's with those of the whole, whose greatest weight
// says how many bits are left out.
func TestTorchsWeightsHave16Bits(t *testing.T) {
	for _, f := range []Filter{TorchBilinear, TorchBicubic, TorchLanczos} {
		for _, size := range [][2]int{{97, 31}, {31, 97}, {5000, 3}, {100, 99}, {400, 224}} {
			var whole, part, pillow Weights
			a := Axis{Filter: f, In: size[0], Out: size[1], To: size[1]}
			whole.Compute(a)
			pillow.Compute(Axis{Filter: f.curve(), In: a.In, Out: a.Out, To: a.To})
			most, digits := int32(0), int32(0)
			for i, k := range whole.K {
				most, digits = max(most, k), digits|k
				if d := k - pillow.K[i]; max(d, -d) > 1<<7+1 {
					t.Fatalf("%v of %v: weight %d is %d off Pillow's", f, size, i, d)
				}
			}
			unit := digits & -digits
			if most/unit >= 1<<15 || most/unit < 1<<13 && unit > 1 {
				t.Errorf("%v of %v: the greatest weight is %d times %d: want 15 bits and a sign", f, size, most/unit, unit)
			}
			a.From, a.To = a.Out/3, a.Out-a.Out/4
			part.Compute(a)
			for i, n := range part.Count {
				j := i + a.From
				if !slices.Equal(part.K[i*part.Taps:][:n], whole.K[j*whole.Taps:][:n]) {
					t.Errorf("%v of %v: output %d differs in a part", f, size, j)
				}
			}
		}
	}
}
