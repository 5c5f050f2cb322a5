package prng

import (
	"slices"
	"testing"
)

// The values are those of numpy 2.4.6, from g = numpy.random.default_rng(entropy): g.random(3), g.integers(0, 30522, size=5),
// g.integers(0, 1, size=2), g.integers(0, 2**31 + 1, size=5), g.random() and g.integers(0, 3, size=3). Five numbers of 32 bits leave half
// a number of 64 bits, and a third of those below 2³¹+1 is drawn again.
func TestNumPyIsDefaultRng(t *testing.T) {
	for _, c := range []struct {
		entropy  []uint64
		floats   []float64
		integers []uint32
	}{
		{[]uint64{0}, []float64{0.6369616873214543, 0.2697867137638703, 0.04097352393619469, 0.5414612202490917},
			[]uint32{2296, 504, 5349, 24822, 19821, 0, 0, 1440696408, 72124473, 1818006483, 377217572, 1853662621, 0, 0, 1}},
		{[]uint64{42}, []float64{0.7739560485559633, 0.4388784397520523, 0.8585979199113825, 0.6438651200806645},
			[]uint32{2623, 21285, 6149, 2874, 16069, 0, 0, 1540770720, 1803345591, 967196436, 796282693, 392022359, 2, 1, 2}},
		{[]uint64{7, 3, 12345}, []float64{0.9066097194247833, 0.7473482485162787, 0.39221601857922006, 0.6286743947960236},
			[]uint32{24098, 13092, 5508, 780, 19706, 0, 0, 845450452, 857325033, 1247661762, 1029032331, 528249111, 0, 0, 1}},
		{[]uint64{1<<40 + 5, 1, 1 << 33}, []float64{0.771759943688177, 0.7935989966474859, 0.7512549822388295, 0.01557149277836889},
			[]uint32{19376, 167, 12346, 27918, 4038, 0, 0, 2015874438, 600850374, 1530147560, 1781304511, 461147038, 2, 0, 0}},
		{[]uint64{1, 2, 3, 4, 5, 6}, []float64{0.6218049217551649, 0.11940126789606353, 0.8390479995608978, 0.32093965844479855},
			[]uint32{1271, 2512, 16522, 3134, 18020, 0, 0, 505942444, 2121806921, 115807462, 2092964925, 1771099361, 0, 0, 1}},
		{[]uint64{1<<64 - 1, 0, 0}, []float64{0.6800266789616931, 0.8453117585624743, 0.007403081599260064, 0.5781943515623498},
			[]uint32{3056, 27304, 18457, 3936, 9259, 0, 0, 220757761, 163157634, 1486763660, 478127753, 2146236414, 2, 2, 2}},
	} {
		var g NumPy
		g.Seed(c.entropy...)
		floats := []float64{g.Float64(), g.Float64(), g.Float64()}
		var integers []uint32
		for i := range c.integers {
			if i == 12 {
				floats = append(floats, g.Float64())
			}
			n := [...]uint32{30522, 30522, 30522, 30522, 30522, 1, 1, 1<<31 + 1, 1<<31 + 1, 1<<31 + 1, 1<<31 + 1, 1<<31 + 1, 3, 3, 3}[i]
			integers = append(integers, g.Uint32N(n))
		}
		if !slices.Equal(floats, c.floats) || !slices.Equal(integers, c.integers) {
			t.Errorf("%v: got %v, %v, want %v, %v", c.entropy, floats, integers, c.floats, c.integers)
		}
	}
}

func TestNumPyTakesZerosAtTheEndForNothing(t *testing.T) {
	var a, b NumPy
	a.Seed(9)
	b.Seed(9, 0, 0, 0)
	if a != b {
		t.Errorf("%v is not %v", a, b)
	}
}
