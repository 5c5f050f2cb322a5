package shards

import (
	"context"
	"math/rand/v2"
	"testing"
)

// TestDroppedBlocksLeaveTheirMemoryToLaterOnes reads blocks of 90 to 110 bytes, so that two
// of them make room for one at times, and a later one needs none.
func TestDroppedBlocksLeaveTheirMemoryToLaterOnes(t *testing.T) {
	const limit = 1000
	m := memory{limit: limit}
	random := rand.New(rand.NewPCG(1, 2))
	fresh := 0
	for b := range 400 {
		size := 90 + random.Int64N(21)
		h, err := m.get(t.Context(), b, size, func(_ context.Context, h *held) error {
			if cap(h.data) == 0 {
				h.data = make([]byte, 0, 110)
				fresh++
			}
			h.data = h.data[:size]
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.release(h)
	}
	if most := limit/90 + mostSpares; fresh > most {
		t.Errorf("%d blocks had new memory, want %d at most", fresh, most)
	}
}
