package loader_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// The tests of this file say what PyTorch's users expect of the terms that this
// package shares with it. There is one test per subject.

// TestDelivery: batches come in order by default, even if an early one is slow. At
// most Prefetch·Workers batches are dispatched and not delivered. With Workers(0)
// none is ahead (TestPrefetchNeverHoldsMoreThanStated and TestNoWorkersIsLazy count).
//
// Unordered delivery differs from PyTorch. There the slow sample 0 of ten comes
// last but one (1,3,4,5,6,7,8,9,0,2), because sample 2 comes after it in the queue
// of its worker. Here workers have no queues, so nothing waits for it.
func TestDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 2, 5} {
			for _, item := range []int{0, 3, 9} {
				each := func(i int) time.Duration {
					if i == item {
						return time.Second
					}
					return time.Millisecond
				}
				l := loadertest.New(t, slow(10, each), loader.Workers(workers))
				var got []int64
				for _, b := range collect(t, l, 0, 1) {
					got = append(got, b...)
				}
				if !slices.Equal(got, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
					t.Errorf("%d workers, slow sample %d: order %v", workers, item, got)
				}
			}
		}
	})
}

// TestLength: drop_last gives ⌊n/b⌋ batches, otherwise ⌈n/b⌉ with a short last one.
func TestLength(t *testing.T) {
	for _, test := range []struct {
		n, batch int
		dropLast bool
		want     []int
	}{
		{10, 3, false, []int{3, 3, 3, 1}},
		{10, 3, true, []int{3, 3, 3}},
		{9, 3, false, []int{3, 3, 3}},
		{9, 3, true, []int{3, 3, 3}},
		{2, 3, false, []int{2}},
		{2, 3, true, nil},
		{0, 3, false, nil},
	} {
		for _, workers := range []int{0, 2} {
			l := loadertest.New(t, &fake{n: test.n}, loader.Workers(workers), loader.BatchSize(test.batch), loader.DropLast(test.dropLast))
			var got []int
			for _, b := range collect(t, l, 0, 1) {
				got = append(got, len(b))
			}
			n, err := l.Len(l.Position(0))
			if !slices.Equal(got, test.want) || n != len(test.want) || err != nil {
				t.Errorf("n %d, b %d, drop last %v: batches %v, Len %d, %v, want %v", test.n, test.batch, test.dropLast, got, n, err, test.want)
			}
		}
	}
}

// TestErrors: an error takes the place of its own batch and of no other.
//
// What follows differs from PyTorch. Here the loop ends at the first error, or skips
// all of them with Skip. There, 41 failing samples in batches of two are 21 errors.
func TestErrors(t *testing.T) {
	for _, workers := range []int{0, 2, 4} {
		ds := failing(41, func(int) bool { return true })
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(2), loader.Skip(loader.NoLimit))
		if got := outcome(t, l); len(got) != 0 {
			t.Errorf("%d workers: got %q, want nothing", workers, got)
		}
		if s := l.Stats(); s.Emptied != 21 || s.Dropped != 41 {
			t.Errorf("%d workers: %d batches emptied, %d samples dropped, want 21 and 41", workers, s.Emptied, s.Dropped)
		}
		l = loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(2))
		if got := len(outcome(t, l)); got != 1 {
			t.Errorf("%d workers: %d errors by default, want 1", workers, got)
		}
	}
}

// TestEarlyBreakStopsWorkers: after a break nothing is placed any more.
func TestEarlyBreakStopsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		placed := new(atomic.Int64)
		ds := &fake{n: 1000, place: func(context.Context, int, dataset.Slot) error {
			time.Sleep(time.Millisecond)
			placed.Add(1)
			return nil
		}}
		l := loadertest.New(t, ds, loader.Workers(4), loader.BatchSize(2))
		for range l.Epoch(t.Context(), 0) {
			break
		}
		stopped := placed.Load()
		if stopped > 2*9 {
			t.Errorf("%d samples were placed for one batch, want 9 batches at most", stopped)
		}
		time.Sleep(time.Second) // the bubble's time, enough for all of them
		if placed.Load() != stopped {
			t.Error("samples are placed after the break")
		}
	})
}

// TestGrowingDataset: this differs from PyTorch, whose sequential sampler calls len
// in every epoch. Here a dataset is a fixed collection, as shuffles and positions
// need it. A loader takes the samples that the dataset had when it was made.
func TestGrowingDataset(t *testing.T) {
	ds := &fake{n: 4}
	l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(2))
	ds.n = 8
	if got := len(collect(t, l, 0, 1)); got != 2 {
		t.Errorf("%d batches, want those of the first 4 samples", got)
	}
}

// TestShrinkingDataset: a sample that no longer exists is an error that says so.
func TestShrinkingDataset(t *testing.T) {
	ds := &fake{n: 6}
	l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(2), loader.Skip(loader.NoLimit))
	ds.n = 3
	got := outcome(t, l)
	if want := []string{"[0 1] [0 1]", "[2] [2]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := l.Stats().Failures[1].Error(), "loader: sample 4, epoch 0, batch 2: the sampler drew sample 4 of a dataset of 3 samples"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDefaultCollate: values keep their dtype and stack on a new first dimension,
// and text stays as it is. There are fields by name where PyTorch nests values, and
// ragged fields where it reports unequal shapes.
func TestDefaultCollate(t *testing.T) {
	ds := &fake{
		n: 3,
		spec: dataset.Spec{
			{Name: "bool", Dtype: dataset.Bool},
			{Name: "int64", Dtype: dataset.Int64, Shape: dataset.Shape{2}},
			{Name: "float64", Dtype: dataset.Float64},
			{Name: "complex64", Dtype: dataset.Complex64},
			{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		},
		place: func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Set(dst, 0, i == 1)
			copy(dataset.Row[int64](dst, 1), []int64{math.MinInt64, int64(i)})
			dataset.Set(dst, 2, math.Pi*float64(i))
			dataset.Set(dst, 3, complex(float32(i), -1))
			text := strings.Repeat("ä", i)
			copy(dataset.Grow[uint8](dst, 4, len(text)), text)
			return nil
		},
	}
	l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(3))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for field, want := range map[string]any{
			"bool":      []bool{false, true, false},
			"int64":     []int64{math.MinInt64, 0, math.MinInt64, 1, math.MinInt64, 2},
			"float64":   []float64{0, math.Pi, 2 * math.Pi},
			"complex64": []complex64{-1i, 1 - 1i, 2 - 1i},
		} {
			x := b.Tensor(field)
			if fmt.Sprint(x.Data()) != fmt.Sprint(want) || x.Dtype().String() != field {
				t.Errorf("%s: got %v of dtype %v, want %v", field, x.Data(), x.Dtype(), want)
			}
		}
		if got := b.Strings("text"); !slices.Equal(got, []string{"", "ä", "ää"}) {
			t.Errorf("text: got %q", got)
		}
	}
}

func TestUnknownFieldPanicsWithTheKnownOnes(t *testing.T) {
	l := loadertest.New(t, &fake{n: 1}, loader.Workers(0))
	for b := range l.Epoch(t.Context(), 0) {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != `loader: batch has no field "y", only x int64 ()` {
					t.Errorf("panic %q", got)
				}
			}()
			b.Tensor("y")
		}()
	}
}

func TestWrongKindPanicsWithTheFieldsName(t *testing.T) {
	ds := &fake{n: 1, spec: dataset.Spec{{Name: "y", Dtype: dataset.Int64}, {Name: "words", Dtype: dataset.Uint16, Ragged: true}},
		place: func(context.Context, int, dataset.Slot) error { return nil }}
	l := loadertest.New(t, ds, loader.Workers(0))
	for b := range l.Epoch(t.Context(), 0) {
		for _, c := range []struct {
			want string
			use  func()
		}{
			{`loader: field "y" holds int64, not float32`, func() { loader.Values[float32](b, "y") }},
			{`loader: field "words" holds uint16, not uint8`, func() { b.Strings("words") }},
			{`loader: field "words" holds uint16, not int64`, func() { loader.Padded(b, "words", int64(0)) }},
		} {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); got != c.want {
						t.Errorf("panic %q, want %q", got, c.want)
					}
				}()
				c.use()
			}()
		}
	}
}
