package shards_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/sampler"
)

// place reads sample i, whose number is i.
func place(t testing.TB, r dataset.Reader, slot dataset.Slot, i int) {
	t.Helper()
	if err := r.Place(t.Context(), i, slot); err != nil {
		t.Fatalf("sample %d: %v", i, err)
	}
	if got := dataset.Row[int64](slot, 0)[0]; got != int64(i) {
		t.Fatalf("sample %d has the number %d", i, got)
	}
}

func TestSamplesOfABlockCostOneRead(t *testing.T) {
	s, index := numbered(t)
	ds := numberedDataset(t, s, index)
	if got, want := ds.Ends(), []int{5, 10, 15, 20}; !slices.Equal(got, want) {
		t.Fatalf("blocks end at %v, want %v", got, want)
	}
	first, second := datatest.Open(t, ds), datatest.Open(t, ds)
	slot := newSlot(ds)
	for i := range ds.Len() {
		place(t, first, slot, i)
		place(t, second, slot, i)
	}
	want := []string{"s0.tar 0 5120", "s0.tar 5120 5120", "s1.tar 0 5120", "s1.tar 5120 5120"}
	if got := s.take(); !slices.Equal(got, want) {
		t.Errorf("reads %q, want %q", got, want)
	}
}

// TestAGroupedEpochReadsEachBlockOnce uses the order that the package recommends, with the
// memory that it asks for.
func TestAGroupedEpochReadsEachBlockOnce(t *testing.T) {
	s, index := numbered(t)
	ds := numberedDataset(t, s, index, shards.MaxBytes(2*5120))
	r, slot := datatest.Open(t, ds), newSlot(ds)
	order := sampler.Grouped(ds.Ends(), 1, sampler.Together(2))
	for epoch := range 20 {
		o := order.Epoch(epoch)
		for k := range o.Len() {
			place(t, r, slot, o.At(k))
		}
		reads := s.take()
		if len(reads) > 4 || len(reads) < 2 {
			t.Errorf("epoch %d: %d reads, want one for each of 4 blocks, but none for the 2 in memory: %q", epoch, len(reads), reads)
		}
	}
}

// TestMemoryIsLimited counts the reads of two blocks by turns.
func TestMemoryIsLimited(t *testing.T) {
	for _, c := range []struct {
		limit int64
		reads int
	}{{0, 20}, {2*5120 - 1, 20}, {2 * 5120, 2}} {
		s, index := numbered(t)
		ds := numberedDataset(t, s, index, shards.MaxBytes(c.limit))
		r, slot := datatest.Open(t, ds), newSlot(ds)
		for k := range 20 {
			place(t, r, slot, 10*(k%2)+k%5)
		}
		if got := len(s.take()); got != c.reads {
			t.Errorf("limit %d: %d reads, want %d", c.limit, got, c.reads)
		}
	}
}

// TestReadersWaitForOneRead lets ten Readers want a block while it is being read.
func TestReadersWaitForOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, index := numbered(t)
		ds := numberedDataset(t, s, index)
		proceed := make(chan struct{})
		s.before = func(context.Context, string, int64) error {
			<-proceed
			return nil
		}
		errs := make(chan error, 10)
		for i := range cap(errs) {
			go func() {
				r, err := ds.Open()
				if err == nil {
					slot := newSlot(ds)
					err = errors.Join(r.Place(t.Context(), i%5, slot), r.Close())
				}
				errs <- err
			}()
		}
		synctest.Wait()
		close(proceed)
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if got := s.take(); len(got) != 1 {
			t.Errorf("reads %q, want one", got)
		}
	})
}

// TestACancelledReaderDoesNotFailTheOthers cancels the one that reads the block.
func TestACancelledReaderDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, index := numbered(t)
		ds := numberedDataset(t, s, index)
		var reads int
		s.before = func(ctx context.Context, _ string, _ int64) error {
			if reads++; reads > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		read := func(ctx context.Context) {
			r, err := ds.Open()
			if err == nil {
				err = errors.Join(r.Place(ctx, 1, newSlot(ds)), r.Close())
			}
			errs <- err
		}
		go read(ctx)
		synctest.Wait()
		go read(t.Context())
		synctest.Wait()
		cancel()
		got := []error{<-errs, <-errs}
		if !errors.Is(errors.Join(got...), context.Canceled) || got[0] != nil && got[1] != nil {
			t.Errorf("errors %v, want one, of the cancelled Reader", got)
		}
	})
}

func TestNamesHaveKeysWhileTheBlockIsInMemory(t *testing.T) {
	s, index := numbered(t)
	ds := numberedDataset(t, s, index)
	if got, want := ds.Name(17), "s1.tar, sample 7"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	place(t, datatest.Open(t, ds), newSlot(ds), 18)
	if got, want := ds.Name(17), "s1.tar/017"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	datatest.RefusesOtherIndices(t, ds)
}

func TestWrongOptionsAreErrors(t *testing.T) {
	s, index := numbered(t)
	_, err := shards.Open(s, index, []shards.Field{shards.Bytes("a"), shards.Scalar[int64]("a", "cls")}, shards.MaxBytes(-1))
	for _, want := range []string{"MaxBytes(-1)", `field "a": no columns`, `two fields are named "a"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	_, err = shards.Scan(t.Context(), s, shards.WebDataset(), []string{"s0.tar"}, shards.BlockSize(0))
	for _, want := range []string{"BlockSize(0)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := shards.Open(s, index, []shards.Field{shards.Scalar[int64]("a", "cls")}, shards.Option{}); err != nil {
		t.Error(err)
	}
}
