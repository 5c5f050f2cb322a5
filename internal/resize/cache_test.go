package resize

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCachedWeightsStayValid keeps the weights of one axis while it requests those of
// another, as the engine of transform does for its two axes.
func TestCachedWeightsStayValid(t *testing.T) {
	var c Cache
	r := rand.New(rand.NewPCG(5, 6))
	axis := func() Axis {
		in := 300 + 10*r.IntN(40)
		return Axis{In: in, Out: 256, From: 16, To: 240}
	}
	for range 2000 {
		x, y := axis(), axis()
		wx := c.Weights(x)
		c.Weights(y)
		var want Weights
		want.Compute(x)
		if wx.Lo != want.Lo || wx.Hi != want.Hi || !slices.Equal(wx.K, want.K) {
			t.Fatalf("the weights of %+v changed when those of %+v were requested", x, y)
		}
	}
}
