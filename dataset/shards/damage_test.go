package shards_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
)

// TestDamageOnTheWayIsReadAgain damages the first read of a block.
func TestDamageOnTheWayIsReadAgain(t *testing.T) {
	s, index := numbered(t)
	ds := numberedDataset(t, s, index)
	damaged := false
	s.damage = func(_ string, _ int64, p []byte) {
		if !damaged {
			p[700] ^= 1
		}
		damaged = true
	}
	place(t, datatest.Open(t, ds), newSlot(ds), 7)
	want := []string{"s0.tar 5120 5120", "s0.tar 5120 1", "s0.tar 5121 5119"}
	if got := s.take(); !slices.Equal(got, want) {
		t.Errorf("reads %q, want %q: not the same range, which a cache may have", got, want)
	}
}

// A forgetter is a store that notes what it is to forget.
type forgetter struct {
	*memoryStore
	forgot []string
}

func (*forgetter) Has(objects.Object, int64, int64) bool { return false }

func (f *forgetter) Forget(o objects.Object, off, n int64) {
	f.forgot = append(f.forgot, fmt.Sprint(o.Name, " ", off, " ", n))
}

func TestCacheForgetsDamagedBlocks(t *testing.T) {
	s, index := numbered(t)
	f := &forgetter{memoryStore: s}
	ds := numberedDataset(t, f, index)
	s.damage = func(_ string, off int64, p []byte) {
		if len(p) == 5120 && off == 0 {
			p[700] ^= 1
		}
	}
	place(t, datatest.Open(t, ds), newSlot(ds), 2)
	place(t, datatest.Open(t, ds), newSlot(ds), 7)
	if want := []string{"s0.tar 0 5120"}; !slices.Equal(f.forgot, want) {
		t.Errorf("forgot %q, want %q", f.forgot, want)
	}
}

// TestADamagedBlockIsAnErrorOfItsSamples damages a block for good: it is read again, but
// not for every sample.
func TestADamagedBlockIsAnErrorOfItsSamples(t *testing.T) {
	s, index := numbered(t)
	ds := numberedDataset(t, s, index)
	s.objects["s0.tar"][5120+600] ^= 1
	r, slot := datatest.Open(t, ds), newSlot(ds)
	for i := range ds.Len() {
		if i < 5 || i >= 10 {
			place(t, r, slot, i)
			continue
		}
		err := r.Place(t.Context(), i, slot)
		if want := "shards: s0.tar, block at byte 5120: 5120 bytes with the CRC-32C"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("sample %d: %v, want %q", i, err, want)
		}
	}
	if got := s.take(); len(got) != 6 {
		t.Errorf("reads %q, want six", got)
	}
}

func TestFailuresOfTheStoreAreTriedAgainLater(t *testing.T) {
	s, index := numbered(t)
	ds := numberedDataset(t, s, index)
	down := errors.New("down")
	s.before = func(context.Context, string, int64) error { return down }
	r, slot := datatest.Open(t, ds), newSlot(ds)
	if err := r.Place(t.Context(), 3, slot); !errors.Is(err, down) {
		t.Errorf("error %v, want %v", err, down)
	}
	s.before = nil
	place(t, r, slot, 3)
}

// TestSkippingLeavesOutDamageOnly has a damaged block, and then a store that is down, or whose
// objects were replaced, or whose credentials have expired.
func TestSkippingLeavesOutDamageOnly(t *testing.T) {
	s, index := numbered(t)
	s.objects["s0.tar"][5120+600] ^= 1
	ds := numberedDataset(t, s, index)
	l, err := loader.New(ds, loader.BatchSize(4), loader.Skip(loader.NoLimit))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got []int
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, batch.Indices()...)
	}
	if want := []int{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}; !slices.Equal(got, want) {
		t.Errorf("samples %v, want %v", got, want)
	}

	for _, failure := range []error{context.DeadlineExceeded, objects.ErrReplaced, fmt.Errorf("forbidden: %w", objects.ErrExpired)} {
		s, index = numbered(t)
		s.before = func(_ context.Context, name string, _ int64) error {
			if name == "s1.tar" {
				return failure
			}
			return nil
		}
		l, err = loader.New(numberedDataset(t, s, index), loader.BatchSize(4), loader.Skip(loader.NoLimit))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, err = range l.Epoch(t.Context(), 0) {
		}
		if e, ok := errors.AsType[*loader.SampleError](err); !ok || e.Index != 10 || !errors.Is(err, failure) {
			t.Errorf("error %v, want %v of sample 10", err, failure)
		}
	}
}

func TestReplacedShardsAreErrors(t *testing.T) {
	s, index := numbered(t)
	old := s.objects["s1.tar"]
	s.objects["s1.tar"] = archive(t, tarFile{"1.cls", "1"})
	ds := numberedDataset(t, s, index)
	if err := datatest.Open(t, ds).Place(t.Context(), 15, newSlot(ds)); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("error %v, want %v", err, objects.ErrReplaced)
	}
	s.objects["s1.tar"] = old
	copied := &renamedVersions{s}
	for _, c := range []struct {
		options []shards.Option
		want    error
	}{{nil, objects.ErrReplaced}, {[]shards.Option{shards.AnyVersion()}, nil}} {
		ds := numberedDataset(t, copied, index, c.options...)
		if err := datatest.Open(t, ds).Place(t.Context(), 15, newSlot(ds)); !errors.Is(err, c.want) {
			t.Errorf("another version of the same bytes: %v, want %v", err, c.want)
		}
	}
}

// renamedVersions is a store with the same bytes under another version.
type renamedVersions struct{ *memoryStore }

func (r *renamedVersions) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	if o.Version != "" && o.Version != "2" {
		return objects.ErrReplaced
	}
	o.Version = "1"
	return r.memoryStore.ReadAt(ctx, o, p, off)
}
