package otel

import (
	"math"
	"testing"
	"time"
)

func TestBucketsAreExactTo7Percent(t *testing.T) {
	for d := time.Duration(0); d >= 0 && d < math.MaxInt64/3*2; d += d/97 + 1 {
		h := new(histogram)
		h.add(d)
		h.hand(func(seconds float64) {
			if got, want := seconds, d.Seconds(); math.Abs(got-want) > 0.07*want {
				t.Fatalf("%v: got %v, want %v", d, got, want)
			}
		})
	}
	new(histogram).add(math.MaxInt64)
	new(histogram).add(-1)
}

func TestEverythingIsHandedOnOnce(t *testing.T) {
	h := new(histogram)
	n := 0
	hand := func() int {
		n = 0
		h.hand(func(float64) { n++ })
		return n
	}
	for k := range 1000 {
		h.add(time.Duration(k) * time.Microsecond)
	}
	if first, second := hand(), hand(); first != 1000 || second != 0 {
		t.Errorf("got %d and %d, want 1000 and 0", first, second)
	}
}

func TestOfVeryManyThereIsAnEvenShare(t *testing.T) {
	h := new(histogram)
	for range 300_000 {
		h.add(time.Microsecond)
	}
	for range 100_000 {
		h.add(time.Second)
	}
	short, long := 0, 0
	h.hand(func(seconds float64) {
		if seconds < 0.1 {
			short++
		} else {
			long++
		}
	})
	if short != 37_500 || long != 12_500 {
		t.Errorf("got %d and %d, want 37500 and 12500", short, long)
	}
}
