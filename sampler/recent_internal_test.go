package sampler

import "testing"

func TestAnEpochDoesNotWaitForAnother(t *testing.T) {
	var r recent[int]
	calls, begun, proceed := 0, make(chan struct{}), make(chan struct{})
	late := func(epoch int) int {
		calls++
		close(begun)
		<-proceed
		return epoch
	}
	got := make(chan int)
	go func() { got <- r.of(2_000_000_000, late) }()
	<-begun
	if v := r.of(1, func(epoch int) int { return -epoch }); v != -1 { // would never return
		t.Errorf("epoch 1 has %d", v)
	}
	go func() { got <- r.of(2_000_000_000, late) }()
	close(proceed)
	if a, b := <-got, <-got; a != 2_000_000_000 || b != a || calls != 1 {
		t.Errorf("the late epoch has %d and %d, computed %d times", a, b, calls)
	}
}
