package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

func cached(t testing.TB, ds dataset.Dataset, limit int64) dataset.Dataset {
	t.Helper()
	c, err := dataset.Cached(ds, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// notes has n samples of two ragged fields around a fixed one, some of them
// empty, and counts how often each is read.
func notes(n int, reads []atomic.Int32) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		labelField,
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		reads[i].Add(1)
		for k := range dataset.Grow[uint8](dst, 0, i*i%700) {
			dataset.Row[uint8](dst, 0)[k] = uint8(i + k)
		}
		dataset.Set(dst, 1, int64(-i))
		for k := range dataset.Grow[float32](dst, 2, i%3) {
			dataset.Row[float32](dst, 2)[k] = float32(i * k)
		}
		return nil
	})
}

func TestCachedPlacesWhatTheDatasetPlaces(t *testing.T) {
	const n = 300
	for _, limit := range []int64{0, 1, 100, 20_000, 100_000, 1 << 30} {
		want := notes(n, make([]atomic.Int32, n))
		reads := make([]atomic.Int32, n)
		c := cached(t, notes(n, reads), limit)
		var group sync.WaitGroup
		for w := range 4 {
			group.Go(func() {
				r := datatest.Open(t, c)
				slot, wanted := dataset.NewSlot(c.Spec()...), dataset.NewSlot(c.Spec()...)
				plain := datatest.Open(t, want)
				for k := range 2 * n {
					i := (k*(2*w+1) + 37*w) % n
					if err := errors.Join(r.Place(t.Context(), i, slot), plain.Place(t.Context(), i, wanted)); err != nil {
						t.Error(err)
						return
					}
					for f := range slot.Len() {
						if !slices.Equal(slot.Cell(f).Bytes(), wanted.Cell(f).Bytes()) {
							t.Errorf("limit %d, sample %d, field %d differs", limit, i, f)
							return
						}
					}
				}
			})
		}
		group.Wait()
		s := dataset.StatsOf(c)
		if s.Bytes > limit || s.Limit != limit {
			t.Errorf("%d bytes of memory, limit %d; want at most %d", s.Bytes, s.Limit, limit)
		}
		if got, want := s.Hits+s.Misses, int64(4*2*n); got != want {
			t.Errorf("limit %d: %d hits and %d misses, want %d together", limit, s.Hits, s.Misses, want)
		}
		var all int64
		for i := range reads {
			all += int64(reads[i].Load())
		}
		if all != s.Misses {
			t.Errorf("limit %d: %d misses, but %d samples were read", limit, s.Misses, all)
		}
		if whole := limit == 1<<30; whole != (s.Samples == n) || whole != (s.Misses == n) {
			t.Errorf("limit %d: %d samples kept after %d misses, of %d", limit, s.Samples, s.Misses, n)
		}
		if limit == 100_000 && s.Bytes < 9*limit/10 {
			t.Errorf("%d bytes of %d taken, want at least nine tenths", s.Bytes, limit)
		}
	}
}

func TestCachedKeepsTheFirstSamplesRead(t *testing.T) {
	reads := make([]int, 10)
	rows := dataset.Func(10, dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{25}}},
		func(_ context.Context, i int, dst dataset.Slot) error {
			reads[i]++
			return nil
		})
	c := cached(t, rows, 450)
	r, slot := datatest.Open(t, c), dataset.NewSlot(rows.Spec()...)
	for range 3 {
		for i := range 10 {
			if err := r.Place(t.Context(), 9-i, slot); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := fmt.Sprint(reads), "[3 3 3 3 3 3 1 1 1 1]"; got != want {
		t.Errorf("reads of samples 0 to 9: %s, want %s", got, want)
	}
	want := dataset.CacheStats{Hits: 8, Misses: 22, Samples: 4, Bytes: 400, Limit: 450}
	if got, line := want.String(), "4 samples in 400 B, limit 450 B, 8 hits, 22 misses"; got != line {
		t.Errorf("stats print as %s, want %s", got, line)
	}
	if got := dataset.StatsOf(c); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := dataset.StatsOf(c); got != want {
		t.Errorf("after Close: %+v, want %+v", got, want)
	}
}

func TestCachedDoesNotKeepFailures(t *testing.T) {
	broken := errors.New("broken")
	attempt := 0
	ds := dataset.Func(1, dataset.Spec{labelField}, func(ctx context.Context, i int, dst dataset.Slot) error {
		attempt++
		switch attempt {
		case 1:
			return broken
		case 2:
			return ctx.Err()
		case 3:
			panic(broken)
		}
		dataset.Set(dst, 0, int64(attempt))
		return nil
	})
	c := cached(t, ds, 1<<20)
	r, slot := datatest.Open(t, c), dataset.NewSlot(labelField)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	place := func(ctx context.Context) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %w", v.(error))
			}
		}()
		return r.Place(ctx, 0, slot)
	}
	for k, want := range []error{broken, context.Canceled, broken, nil, nil} {
		ctx := t.Context()
		if k == 1 {
			ctx = cancelled
		}
		if err := place(ctx); !errors.Is(err, want) {
			t.Errorf("attempt %d: error %v, want %v", k, err, want)
		}
	}
	if got := dataset.Row[int64](slot, 0)[0]; got != 4 {
		t.Errorf("placed what attempt %d made, want 4", got)
	}
}

func TestCachedRefusesToFreezeRandomNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		use  func(r *rand.Rand)
		want string
	}{
		"drawn":     {func(r *rand.Rand) { r.Float64() }, "dataset: Cached: sample 1 is made with random numbers, which would be the same in every epoch: want the random transforms after the cache"},
		"not drawn": {func(*rand.Rand) {}, "<nil>"},
	} {
		ds := dataset.Func(3, dataset.Spec{labelField}, func(_ context.Context, i int, dst dataset.Slot) error {
			if r := dst.Rand(); i == 1 {
				c.use(r)
			}
			return nil
		})
		slot := dataset.NewSlot(labelField)
		slot.Rand().Uint64() // what is drawn outside the cache does not count
		if err := datatest.Open(t, cached(t, ds, 1<<20)).Place(t.Context(), 1, slot); fmt.Sprint(err) != c.want {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

func TestCachedLeavesTheDrawsRandomNumbersAlone(t *testing.T) {
	c := cached(t, datatest.Pairs(t), 1<<20)
	r := datatest.Open(t, c)
	var got [2]uint64
	for k := range got {
		slot := dataset.NewSlot(c.Spec()...)
		if err := r.Place(t.Context(), 1, slot); err != nil {
			t.Fatal(err)
		}
		got[k] = slot.Rand().Uint64()
	}
	if want := dataset.NewSlot(labelField).Rand().Uint64(); got[0] != want || got[1] != want {
		t.Errorf("random numbers %d after a miss and %d after a hit, want %d", got[0], got[1], want)
	}
}

func TestCachedPassesOnWhatTheDatasetOffers(t *testing.T) {
	var log []string
	refuse, stuck := errors.New("refuse"), errors.New("stuck")
	c := cached(t, journal{id: 1, n: 5, batches: true, stuck: stuck, log: &log}, 1<<20)
	if got, want := dataset.Name(c, 3), "1.3"; got != want {
		t.Errorf("sample 3 is named %q, want %q", got, want)
	}
	r, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.(dataset.BatchReader); ok {
		t.Error("a cache reads samples one by one")
	}
	if err := r.Close(); !errors.Is(err, stuck) {
		t.Errorf("Close: %v, want %v", err, stuck)
	}
	if _, err := cached(t, journal{refuse: refuse, log: &log}, 0).Open(); !errors.Is(err, refuse) {
		t.Errorf("Open: %v, want %v", err, refuse)
	}
}

func TestSamplesWithoutRoomAreForeseen(t *testing.T) {
	var log []string
	c := cached(t, seer{journal{n: 3, log: &log}}, strconv.IntSize/8) // bytes of one sample
	r := datatest.Open(t, c)
	for i := range 3 {
		if err := r.Place(t.Context(), i, dataset.NewSlot(c.Spec()...)); err != nil {
			t.Fatal(err)
		}
	}
	log = nil
	dataset.Foresee(c, batches{{2, 0, 1}})()
	if got, want := log[0], "0: batch 0 [-7 2 1]"; got != want {
		t.Errorf("journal begins with %q, want %q", got, want)
	}
}

func TestCachedServesWithoutAllocation(t *testing.T) {
	const n = 50
	c := cached(t, notes(n, make([]atomic.Int32, n)), 1<<20)
	r, slot := datatest.Open(t, c), dataset.NewSlot(c.Spec()...)
	for i := range n {
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
	}
	datatest.PlacesWithoutAllocation(t, c)
}

func TestCachedSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		ds    dataset.Dataset
		limit int64
		want  string
	}{
		{datatest.Pairs(t), -1, "dataset: Cached: limit of -1 bytes: want 0 or more"},
		{dataset.Func(1, nil, never), 1, "dataset: spec: no fields"},
	} {
		if _, err := dataset.Cached(c.ds, c.limit); err == nil || err.Error() != c.want {
			t.Errorf("got error %v, want %s", err, c.want)
		}
	}
	r := datatest.Open(t, cached(t, datatest.Pairs(t), 100))
	for _, i := range []int{-1, 5} {
		if err := r.Place(t.Context(), i, dataset.NewSlot(datatest.Pairs(t).Spec()...)); err == nil {
			t.Errorf("sample %d of 5 gives no error", i)
		}
	}
}
