package prefetch

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
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
		p := s.take(2 << 10)
		if left := max(0, 10-2*(k+1)); s.bytes != int64(left<<10) || len(p) != 2<<10 {
			t.Fatalf("%d new pieces of 2 KiB: %d bytes are spare, want %d KiB", k+1, s.bytes, left)
		}
	}
}

func TestMemoryOfEarlierLoopsIsUsedUntilItIsCollected(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it runs when the test says so
	var s spare
	first := s.take(1 << 10)
	s.put(first, 1<<20)
	s.rest()
	again := s.take(1 << 10)
	if unsafe.SliceData(again) != unsafe.SliceData(first) {
		t.Error("the next loop has new memory")
	}
	s.put(again, 1<<20)
	s.rest()
	runtime.GC()
	if s.rested.Value() != nil {
		t.Error("the garbage collector leaves memory that no loop uses")
	}
	if p := s.take(1 << 10); len(p) != 1<<10 {
		t.Errorf("%d bytes, want 1024", len(p))
	}
}
