package loader_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// mixing is two steps: one adds the sum of x and a random number to every batch's
// field "sum", the other turns x around and makes it float32.
func mixing() loader.Option {
	return loader.Collate(
		dataset.BatchFunc(func(dst, _ dataset.Columns) error {
			sum := int64(0)
			for _, x := range dataset.Column[int64](dst, 0) {
				sum += x
			}
			random := dst.Rand().Uint64()
			for row := range dst.Len() {
				dataset.Column[int64](dst, 1)[2*row] = sum
				dataset.Column[int64](dst, 1)[2*row+1] = int64(random >> 1)
			}
			return nil
		}, dataset.Field{Name: "sum", Dtype: dataset.Int64, Shape: dataset.Shape{2}}),
		dataset.BatchFunc(func(dst, src dataset.Columns) error {
			to, from := dataset.Column[float32](dst, 0), dataset.Column[int64](src, 0)
			for row := range from {
				to[row] = float32(from[len(from)-1-row])
			}
			return nil
		}, dataset.Field{Name: "x", Dtype: dataset.Float32}),
	)
}

// mixed is all batches as text.
func mixed(t *testing.T, batches iter.Seq2[*loader.Batch, error]) []string {
	t.Helper()
	var all []string
	for b, err := range batches {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(b.Number(), loader.Values[float32](b, "x"), loader.Values[int64](b, "sum")))
	}
	return all
}

func TestCollateStepsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	var want []string
	for _, workers := range []int{0, 1, 2, 9} {
		l := loadertest.New(t, &fake{n: 50}, loader.Workers(workers), loader.BatchSize(8), loader.Shuffle(true), loader.Seed(3),
			loader.Poison(true), mixing())
		got := mixed(t, l.Epoch(t.Context(), 0))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got\n%s\nwant\n%s", workers, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	seen := map[string]bool{}
	for _, batch := range want {
		seen[batch[strings.LastIndex(batch, "["):]] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d different random numbers in 7 batches", len(seen))
	}
}

func TestCollateStepsAreTheSameAfterResume(t *testing.T) {
	options := []loader.Option{loader.BatchSize(8), loader.Shuffle(true), mixing()}
	l := loadertest.New(t, &fake{n: 50}, options...)
	var at loader.Position
	want := mixed(t, l.Epoch(t.Context(), 0))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Number() == 2 {
			at = b.Position()
		}
	}
	if got := mixed(t, loadertest.New(t, &fake{n: 50}, append(options, loader.Workers(3))...).From(t.Context(), at, 1)); !slices.Equal(got, want[3:]) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want[3:], "\n"))
	}
}

// firstNumber is the first random number of the first batch, and of its first sample.
func firstNumber(t *testing.T, options ...loader.Option) (ofBatch, ofSample uint64) {
	t.Helper()
	step := dataset.BatchFunc(func(dst, _ dataset.Columns) error {
		dataset.Column[int64](dst, 0)[0] = int64(dst.Rand().Uint64())
		return nil
	})
	for b, err := range loadertest.New(t, drawn(12), append(options, loader.Collate(step))...).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		return uint64(loader.Values[int64](b, "x")[0]), loader.Values[uint64](b, "random")[0]
	}
	panic("no batch")
}

func TestCollateStepsOfRanksDrawDifferentNumbers(t *testing.T) {
	seen := map[uint64]bool{}
	for rank := range 3 {
		share, err := sampler.Shard(sampler.Sequential(12), rank, 3, sampler.PadToEven)
		if err != nil {
			t.Fatal(err)
		}
		ofBatch, ofSample := firstNumber(t, loader.BatchSize(2), loader.Sampler(share))
		seen[ofBatch], seen[ofSample] = true, true
	}
	if len(seen) != 6 {
		t.Errorf("%d different numbers of 3 batches and 3 samples", len(seen))
	}
}

func TestBatchHasTheFieldsThatStepsLeave(t *testing.T) {
	l := loadertest.New(t, &fake{n: 4}, loader.BatchSize(4), mixing())
	if got, want := l.Spec().String(), "x float32 (), sum int64 (2)"; got != want {
		t.Fatalf("Spec: got %s, want %s", got, want)
	}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), "batch 0 of epoch 0: 4 samples of x float32 (), sum int64 (2)"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := b.Tensor("x").Data(), []float32{3, 2, 1, 0}; !reflect.DeepEqual(got, want) {
			t.Errorf("x: got %v, want %v", got, want)
		}
		c := b.Copy()
		if got, want := c.Tensor("sum").Shape(), (dataset.Shape{4, 2}); !slices.Equal(got, want) {
			t.Errorf("sum of the copy: got %v, want %v", got, want)
		}
	}
	for b, err := range l.Epoch(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if got, want := loader.Values[int64](b, "sum")[6], int64(6); got != want {
			t.Errorf("sum: got %d, want %d", got, want)
		}
	}
}

func TestStepsReadRaggedFieldsAndKeepThem(t *testing.T) {
	spec := dataset.Spec{{Name: "text", Dtype: dataset.Uint8, Ragged: true}}
	ds := dataset.Func(6, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, i), "abcdef")
		return nil
	})
	lengths := dataset.BatchFunc(func(dst, src dataset.Columns) error {
		ends := src.Offsets(0)
		for row := range dst.Len() {
			dataset.Column[int32](dst, 1)[row] = int32(ends[row+1] - ends[row])
		}
		for k, c := range dst.Bytes(0) {
			dst.Bytes(0)[k] = c - 'a' + 'A'
		}
		return nil
	}, dataset.Field{Name: "length", Dtype: dataset.Int32})
	for b, err := range loadertest.New(t, ds, loader.BatchSize(3), loader.Collate(lengths)).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		first := int32(3 * b.Number())
		if got, want := loader.Values[int32](b, "length"), []int32{first, first + 1, first + 2}; !slices.Equal(got, want) {
			t.Errorf("lengths: got %v, want %v", got, want)
		}
		if got, want := b.Strings("text")[2], "ABCDEF"[:first+2]; got != want {
			t.Errorf("text: got %s, want %s", got, want)
		}
	}
}

func TestFieldsThatStepsMakeBeginAsZeros(t *testing.T) {
	step := dataset.BatchFunc(func(_, _ dataset.Columns) error { return nil }, dataset.Field{Name: "made", Dtype: dataset.Float64})
	l := loadertest.New(t, &fake{n: 9}, loader.BatchSize(2), loader.Collate(step), loader.Poison(true))
	for b, err := range l.Epochs(t.Context(), 0, 3) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range loader.Values[float64](b, "made") {
			if v != 0 {
				t.Fatalf("got %v, want 0", v)
			}
		}
	}
}

func TestErrorOfStepNamesItsBatchUnderAnyPolicy(t *testing.T) {
	for name, fails := range map[string]func() error{
		"Collate: step 0: wrong labels": func() error { return errors.New("wrong labels") },
		"Collate: step 0: panic: oops":  func() error { panic("oops") },
		"finishing a batch: runtime.Goexit was called": func() error {
			runtime.Goexit()
			return nil
		},
	} {
		for _, policy := range []loader.Option{{}, loader.Skip(loader.NoLimit)} {
			step := dataset.BatchFunc(func(dst, _ dataset.Columns) error {
				if dataset.Column[int64](dst, 0)[0] == 6 {
					return fails()
				}
				return nil
			})
			l := loadertest.New(t, &fake{n: 20}, loader.Workers(2), loader.BatchSize(3), loader.Collate(step), policy)
			delivered, failed := 0, error(nil)
			for _, err := range l.Epoch(t.Context(), 5) {
				if failed = err; err == nil {
					delivered++
				}
			}
			if want := "loader: epoch 5, batch 2: " + name; failed == nil || !strings.HasPrefix(failed.Error(), want) {
				t.Errorf("got error %v, want %s", failed, want)
			}
			if delivered != 2 {
				t.Errorf("%s: %d batches before the error, want 2", name, delivered)
			}
		}
	}
}

func TestStepsSeeBatchesWithoutSkippedSamples(t *testing.T) {
	step := dataset.BatchFunc(func(dst, _ dataset.Columns) error {
		xs := dataset.Column[int64](dst, 0)
		for row := range xs {
			xs[row] += 100 * int64(len(xs))
		}
		return nil
	})
	ds := failing(9, func(i int) bool { return i == 0 || i == 4 || i >= 6 })
	l := loadertest.New(t, ds, loader.BatchSize(3), loader.Collate(step), loader.Skip(loader.NoLimit))
	want := [][]int64{{201, 202}, {203, 205}}
	if got := collect(t, l, 0, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWrongStepsAreErrorsOfNew(t *testing.T) {
	none := func(_, _ dataset.Columns) error { return nil }
	for want, step := range map[string]dataset.BatchStep{
		"loader: Collate: step 0 is nil":                                                              nil,
		"loader: Collate: step 0: dataset: BatchFunc: no function":                                    dataset.BatchFunc(nil),
		`loader: Collate: step 0: dataset: spec: field 1 has no name`:                                 dataset.BatchFunc(none, dataset.Field{Dtype: dataset.Int}),
		`loader: Collate: step 0: makes the ragged field y int64 (n), whose size is not known before`: dataset.BatchFunc(none, dataset.Field{Name: "y", Dtype: dataset.Int64, Ragged: true}),
		`loader: Collate: step 0: dataset: BatchFunc: two fields are named "y"`:                       dataset.BatchFunc(none, dataset.Field{Name: "y", Dtype: dataset.Int}, dataset.Field{Name: "y", Dtype: dataset.Int}),
	} {
		l, err := loader.New(&fake{n: 1}, loader.Collate(step))
		if err == nil {
			l.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestStepsAllocateNothingInSteadyState(t *testing.T) {
	const n, batch = 1 << 12, 16
	l := loadertest.New(t, &fake{n: n}, loader.Workers(2), loader.BatchSize(batch))
	with := loadertest.New(t, &fake{n: n}, loader.Workers(2), loader.BatchSize(batch), mixing())
	epoch := func(l *loader.Loader) func() {
		return func() {
			for _, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	epoch(with)()
	plain := allocs.PerRun(0, 5, epoch(l))
	if more := allocs.PerRun(plain+n/batch/8, 5, epoch(with)) - plain; more > n/batch/8 {
		t.Errorf("steps allocate %.0f times in %d batches", more, n/batch)
	}
}

// TestBatchMayBeChangedInItsLoopBody writes into everything that batches show while
// workers assemble others, and keeps some of them.
func TestBatchMayBeChangedInItsLoopBody(t *testing.T) {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64}, {Name: "text", Dtype: dataset.Uint8, Ragged: true}}
	made := dataset.Func(100, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		text := dataset.Grow[uint8](dst, 1, 1+i%7)
		for k := range text {
			text[k] = uint8(i)
		}
		return nil
	})
	ds, err := dataset.Cached(made, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	l := loadertest.New(t, ds, loader.Workers(3), loader.BatchSize(4), loader.InFlight(9), loader.Shuffle(true))
	r, kept := rand.New(rand.NewPCG(1, 2)), 0
	for b, err := range l.Epochs(t.Context(), 0, 6) {
		if err != nil {
			t.Fatal(err)
		}
		xs, text, ends := loader.Values[int64](b, "x"), loader.Values[uint8](b, "text"), b.Offsets("text")
		for row, i := range b.Indices() {
			if xs[row] != int64(i) || ends[row+1]-ends[row] != 1+i%7 || text[ends[row]] != uint8(i) {
				t.Fatalf("sample %d: got %d and %v", i, xs[row], text[ends[row]:ends[row+1]])
			}
		}
		if kept < 5 && r.IntN(4) == 0 {
			kept++
			defer b.Keep()()
		}
		for k := range xs {
			xs[k] = -1
		}
		for k := range text {
			text[k] = 0xff
		}
		padded := dataset.ValuesOf[uint8](loader.Padded(b, "text", uint8(1)))
		for k := range padded {
			padded[k] = 7
		}
		if b.Number() > 0 && b.Number()%5 == 0 && b.Epoch() > 4 {
			break
		}
	}
}
