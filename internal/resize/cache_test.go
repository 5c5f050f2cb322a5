package resize

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCachedWeightsStayValid holds on to the weights of one axis while another
// is asked for, as an engine does for its two axes.
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
			t.Fatalf("the weights of %+v became others when those of %+v were asked for", x, y)
		}
	}
}
