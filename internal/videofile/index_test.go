package videofile

import (
	"math"
	"testing"
)

// TestNearestIsTheFirstOfTwo, and at the ends the first and the last frame.
func TestNearestIsTheFirstOfTwo(t *testing.T) {
	v := File{Num: 1, Den: 4, Pts: []int64{-2, 0, 2, 3}} // at -0.5, 0, 0.5 and 0.75 s
	for _, c := range []struct {
		seconds float64
		want    int
	}{{math.Inf(-1), 0}, {-0.5, 0}, {-0.25, 0}, {-0.2, 1}, {0, 1}, {0.25, 1}, {0.3, 2}, {0.625, 2}, {0.7, 3}, {0.75, 3}, {9, 3}, {math.Inf(1), 3}} {
		if got := v.Nearest(c.seconds); got != c.want {
			t.Errorf("%v s: frame %d, want %d", c.seconds, got, c.want)
		}
	}
}
