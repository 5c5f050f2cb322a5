package pace

import (
	"math"
	"testing"
	"time"
)

func TestAPaceObservesMoreRequestsThanAnIntCounts(t *testing.T) {
	p := Pace{Share: 1, n: math.MaxInt}
	for range 2 {
		p.observe(time.Millisecond)
	}
	if p.sum != 2 {
		t.Errorf("%v observations, want 2", p.sum)
	}
}
