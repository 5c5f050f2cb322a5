package resize

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// share is a/b as the nearest fixed-point number.
func share(a, b int) int32 {
	if a < 0 {
		return -share(-a, b)
	}
	return int32((2*a*One + b) / (2 * b))
}

func TestWeightsAreThoseComputedByHand(t *testing.T) {
	none := int32(0)
	for name, c := range map[string]struct {
		axis         Axis
		lo, hi       int
		first, count []int32
		k            []int32 // without the zeros after count
	}{
		// Output centres are at 1 and 3, and the triangle reaches 2 pixels to each
		// side. Distances of ½ and 1½ have weights of ¾ and ¼.
		"bilinear, halved": {Axis{Filter: Bilinear, In: 4, Out: 2, To: 2}, 0, 4,
			[]int32{0, 1}, []int32{3, 3},
			[]int32{share(3, 7), share(3, 7), share(1, 7), share(1, 7), share(3, 7), share(3, 7)}},
		// Centres at ¼, ¾, 1¼ and 1¾.
		"bilinear, doubled": {Axis{Filter: Bilinear, In: 2, Out: 4, To: 4}, 0, 2,
			[]int32{0, 0, 0, 1}, []int32{1, 2, 2, 1},
			[]int32{One, share(3, 4), share(1, 4), share(1, 4), share(3, 4), One}},
		"box, a third": {Axis{Filter: Box, In: 6, Out: 2, To: 2}, 0, 6,
			[]int32{0, 3}, []int32{3, 3},
			[]int32{share(1, 3), share(1, 3), share(1, 3), share(1, 3), share(1, 3), share(1, 3)}},
		// The centre at 3¾ has pixels at distances 1¼, ¼, ¾ and 1¾.
		"bicubic, doubled, inside": {Axis{Filter: Bicubic, In: 8, Out: 16, From: 7, To: 8}, 2, 6,
			[]int32{0}, []int32{4},
			[]int32{share(-9, 128), share(111, 128), share(29, 128), share(-3, 128)}},
		"nearest, of 5 to 3": {Axis{Filter: Nearest, In: 5, Out: 3, To: 3}, 0, 5,
			[]int32{0, 2, 4}, []int32{1, 1, 1}, []int32{One, One, One}},
		"a part, reversed": {Axis{Filter: Nearest, In: 10, Out: 5, From: 1, To: 4, Reverse: true}, 3, 8,
			[]int32{4, 2, 0}, []int32{1, 1, 1}, []int32{One, One, One}},
		"the same size": {Axis{Filter: Lanczos, In: 5, Out: 5, From: 2, To: 4}, 2, 4,
			[]int32{0, 1}, []int32{1, 1}, []int32{One, One}},
	} {
		var w Weights
		w.Compute(c.axis)
		var k []int32
		for i, n := range w.Count {
			k = append(k, w.K[i*w.Taps:][:n]...)
			for _, rest := range w.K[i*w.Taps+int(n) : (i+1)*w.Taps] {
				none |= rest
			}
		}
		if w.Lo != c.lo || w.Hi != c.hi || !slices.Equal(w.First, c.first) || !slices.Equal(w.Count, c.count) {
			t.Errorf("%s: from %d to %d, first %v, count %v", name, w.Lo, w.Hi, w.First, w.Count)
		}
		if !slices.Equal(k, c.k) {
			t.Errorf("%s: weights %v, want %v", name, k, c.k)
		}
	}
	if none != 0 {
		t.Error("weights beyond their count")
	}
}

func TestWeightsAddUpToOneWithinTheirWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Axis{
			Filter: Filter(rapid.IntRange(0, int(Hamming)).Draw(t, "filter")),
			In:     rapid.IntRange(1, 500).Draw(t, "in"), Out: rapid.IntRange(1, 500).Draw(t, "out"),
			Reverse: rapid.Bool().Draw(t, "reverse"),
		}
		a.From = rapid.IntRange(0, a.Out-1).Draw(t, "from")
		a.To = rapid.IntRange(a.From+1, a.Out).Draw(t, "to")
		var w Weights
		w.Compute(a)
		if len(w.First) != a.To-a.From || w.Lo < 0 || w.Hi > a.In {
			t.Fatalf("%d outputs, from %d to %d of %d", len(w.First), w.Lo, w.Hi, a.In)
		}
		lo, hi := w.Hi-w.Lo, 0
		for i, n := range w.Count {
			lo, hi = min(lo, int(w.First[i])), max(hi, int(w.First[i]+n))
			sum := 0
			for _, k := range w.K[i*w.Taps:][:n] {
				sum += int(k)
			}
			if n < 1 || sum < One-int(n) || sum > One+int(n) {
				t.Fatalf("output %d: %d weights add up to %d, want %d", i, n, sum, One)
			}
		}
		if lo != 0 || hi != w.Hi-w.Lo {
			t.Fatalf("outputs use %d to %d of a window of %d", lo, hi, w.Hi-w.Lo)
		}
	})
}

func TestWeightsOfAPartAreThoseOfTheWhole(t *testing.T) {
	for f := Bilinear; f <= Hamming; f++ {
		var whole, part Weights
		whole.Compute(Axis{Filter: f, In: 97, Out: 31, To: 31})
		part.Compute(Axis{Filter: f, In: 97, Out: 31, From: 9, To: 20})
		for i, n := range part.Count {
			j := i + 9
			if part.Lo+int(part.First[i]) != whole.Lo+int(whole.First[j]) || n != whole.Count[j] ||
				!slices.Equal(part.K[i*part.Taps:][:n], whole.K[j*whole.Taps:][:n]) {
				t.Errorf("%v: output %d differs", f, j)
			}
		}
	}
}
