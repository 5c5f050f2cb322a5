package prefetch

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestBlocksOfSimilarSizesShareTheirMemory fetches blocks of 3.9 to 4.4 MiB, 16 at a time.
func TestBlocksOfSimilarSizesShareTheirMemory(t *testing.T) {
	const unit = 1 << 10 // for MiB
	r := rand.New(rand.NewPCG(1, 2))
	var s spare
	var used [][]byte
	seen := map[*byte]bool{}
	for range 1000 {
		p := s.take(39*unit/10 + r.Int64N(unit/2))
		seen[unsafe.SliceData(p)] = true
		if used = append(used, p); len(used) == 16 {
			s.put(used[0], 0)
			used = used[1:]
		}
	}
	if len(seen) > 2*16 {
		t.Errorf("%d pieces for 16 blocks at a time, want few more", len(seen))
	}
}

func TestNewMemoryTakesThePlaceOfSpareMemory(t *testing.T) {
	var s spare
	for range 10 {
		s.put(make([]byte, 1<<10), 1<<20)
	}
	for k := range 10 {
		p := s.take(4 << 10)
		if left := max(0, 10-4*(k+1)); s.bytes != int64(left<<10) || len(s.pieces) != left || len(p) != 4<<10 {
			t.Fatalf("%d new pieces of 4 KiB: %d bytes are spare, want %d KiB", k+1, s.bytes, left)
		}
	}
}
