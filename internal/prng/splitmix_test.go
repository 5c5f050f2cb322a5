package prng_test

import (
	"testing"

	"github.com/penstock-go/penstock/internal/prng"
)

// The first numbers of Vigna's splitmix64.c from the state 1234567.
func TestMixIsSplitmix64(t *testing.T) {
	state := uint64(1234567)
	for k, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := prng.Mix(state); got != want {
			t.Errorf("number %d: got %d, want %d", k, got, want)
		}
		state += prng.Gamma
	}
}
