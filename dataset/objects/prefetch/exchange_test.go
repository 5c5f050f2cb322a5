package prefetch_test

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

// contents are the bytes of an object of s.
func contents(t *testing.T, s objects.Store, o objects.Object) []byte {
	t.Helper()
	p := make([]byte, o.Size)
	if err := s.ReadAt(t.Context(), o, p, 0); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExchangeGivesMemoryAwayOnceNobodyElseNeedsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1024 // for which memory is not rounded
		s := newFar(8, size)
		var x objects.Exchanger = newPrefetcher(t, s, prefetch.Memory(2*size))
		p := x.(*prefetch.Prefetcher)
		exchange := func(i int, dst []byte) []byte {
			t.Helper()
			got, _, err := x.Exchange(t.Context(), s.object(i), dst, 0, size)
			if err != nil || !bytes.Equal(got, contents(t, s, s.object(i))) {
				t.Fatalf("object %d: %d bytes, other ones or %v", i, len(got), err)
			}
			return got
		}
		same := func(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }

		own := make([]byte, size)
		if !same(exchange(7, own), own) {
			t.Error("what was not foreseen is in other memory")
		}
		stop := p.Foresee(future{{0}, {1}, {2, 2}, {3}}, filesOf(s))
		time.Sleep(time.Second)
		first := exchange(0, own) // own is used for object 2
		if same(first, own) {
			t.Error("a block that nobody else needs was copied")
		}
		time.Sleep(time.Second)
		exchange(1, nil)
		time.Sleep(time.Second)
		other := make([]byte, size)
		if !same(exchange(2, other), other) {
			t.Error("a block that is read again was given away")
		}
		if !same(exchange(2, other), own) {
			t.Error("the memory of the first exchange was not used for a later block")
		}
		if !bytes.Equal(first, contents(t, s, s.object(0))) {
			t.Error("memory that was given away was used again")
		}
		time.Sleep(time.Second)
		exchange(3, nil)
		stop()
		if got := p.Stats(); got.Held != 0 || got.Fetched != 4 || got.Ready != 5 || got.Unread != 0 {
			t.Error(got)
		}
	})
}

func TestExchangeOfABlockForTwoLoopsCopiesItForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(8, 1024)
		p := newPrefetcher(t, s)
		defer p.Foresee(future{{5}}, filesOf(s))()
		defer p.Foresee(future{{5}}, filesOf(s))()
		time.Sleep(time.Second)
		var kept [][]byte
		for range 2 {
			got, _, err := p.Exchange(t.Context(), s.object(5), nil, 0, 1024)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, got)
		}
		clear(kept[0])
		if all, most := s.total(); all != 1 || most != 1 || !bytes.Equal(kept[1], contents(t, s, s.object(5))) {
			t.Errorf("%d requests; the loops share memory", all)
		}
	})
}

func TestExchangeFailsAndSendsAgainLikeReadAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(8, 1024)
		s.broken = map[string]int{s.object(2).Name: 1}
		p := newPrefetcher(t, s)
		stop := p.Foresee(future{{2, 3}}, filesOf(s))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, _, err := p.Exchange(ctx, s.object(3), nil, 0, 1024); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v", err)
		}
		if got, _, err := p.Exchange(t.Context(), s.object(2), nil, 0, 1024); err != nil || !bytes.Equal(got, contents(t, s, s.object(2))) {
			t.Errorf("after a failed request: %v", err)
		}
		stop()
		if got := p.Stats(); got.Held != 0 {
			t.Error(got)
		}
	})
}

// summing is a store that computes checksums as bytes come, wrong ones to tell them apart.
type summing struct{ *far }

func (s summing) ReadSummed(ctx context.Context, o objects.Object, p []byte, off int64) (uint32, error) {
	return 7, s.ReadAt(ctx, o, p, off)
}

func TestExchangeKnowsTheChecksumOfBlocksWhoseDatasetComparesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(8, 1024)
		for _, c := range []struct {
			name   string
			store  objects.Store
			summed bool
			want   objects.Sum
		}{
			{"not compared", s, false, objects.Sum{}},
			{"compared", s, true, objects.Sum{CRC32C: crc32.Checksum(contents(t, s, s.object(5)), crc32.MakeTable(crc32.Castagnoli)), Known: true}},
			{"computed by the store", summing{s}, true, objects.Sum{CRC32C: 7, Known: true}},
			{"computed by the store, not compared", summing{s}, false, objects.Sum{}},
		} {
			p := newPrefetcher(t, c.store)
			of := filesOf(s)
			of.Summed = c.summed
			stop := p.Foresee(future{{5}}, of)
			if _, got, err := p.Exchange(t.Context(), s.object(5), nil, 0, 1024); err != nil || got != c.want {
				t.Errorf("%s: got %+v and error %v, want %+v", c.name, got, err, c.want)
			}
			if _, got, err := p.Exchange(t.Context(), s.object(6), nil, 0, 1024); err != nil || got.Known {
				t.Errorf("%s: got %+v and error %v for a block that was not foreseen", c.name, got, err)
			}
			stop()
		}
	})
}
