package loader_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestArgumentErrors has the argument errors of PyTorch's DataLoader and more.
func TestArgumentErrors(t *testing.T) {
	order := fixedOrder{0, 1, 2}
	for _, test := range []struct {
		name    string
		options []loader.Option
		want    []string
	}{
		{"workers", []loader.Option{loader.Workers(-1)}, []string{"loader: Workers(-1): want 0 or more"}},
		{"budget", []loader.Option{loader.Budget(0), loader.Workers(loader.Auto)}, []string{"loader: Budget(0): want 1 or more"}},
		{"a budget below a slab", []loader.Option{loader.Budget(63), loader.BatchSize(3)}, []string{"loader: Budget(63): too little for 1 slab of 64 B"}},
		{"a budget below what is given", []loader.Option{loader.Budget(640), loader.InFlight(11), loader.Workers(loader.Auto)}, []string{"loader: Budget(640): too little for 11 slabs of 64 B"}},
		{"timeout", []loader.Option{loader.Timeout(-time.Second)}, []string{"loader: Timeout(-1s): want 0 or more"}},
		{"batch size", []loader.Option{loader.BatchSize(0)}, []string{"loader: BatchSize(0): want 1 or more"}},
		{"sampler and shuffle", []loader.Option{loader.Sampler(order), loader.Shuffle(true)}, []string{"loader: Shuffle(true): cannot be given together with Sampler, which sets the order"}},
		{"batch sampler and all the rest", []loader.Option{
			loader.BatchSampler(pairs(4)), loader.BatchSize(2), loader.Shuffle(true), loader.Sampler(order), loader.DropLast(true),
		}, []string{
			"loader: Shuffle(true): cannot be given together with Sampler, which sets the order",
			"loader: BatchSize(2): cannot be given together with BatchSampler, which sets the batches",
			"loader: Sampler: cannot be given together with BatchSampler, which sets the batches",
			"loader: Shuffle(true): cannot be given together with BatchSampler, which sets the batches",
			"loader: DropLast(true): cannot be given together with BatchSampler, which sets the batches",
		}},
		{"in flight", []loader.Option{loader.InFlight(0)}, []string{"loader: InFlight(0): want 1 or more"}},
		{"nil sampler", []loader.Option{loader.Sampler(nil)}, []string{"loader: Sampler(nil)"}},
		{"nil batch sampler", []loader.Option{loader.BatchSampler(nil)}, []string{"loader: BatchSampler(nil)"}},
		{"nil memory", []loader.Option{loader.Memory(nil)}, []string{"loader: Memory(nil)"}},
		{"limit", []loader.Option{loader.Skip(-2)}, []string{"loader: Skip(-2): want 0 or more, or NoLimit"}},
		{"all at once", []loader.Option{loader.Workers(-2), loader.BatchSize(-3)}, []string{"loader: Workers(-2)", "loader: BatchSize(-3)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loader.New(&fake{n: 3}, test.options...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in:\n%v", want, err)
				}
			}
			if lines := strings.Count(err.Error(), "\n") + 1; lines != len(test.want) {
				t.Errorf("%d errors, want %d:\n%v", lines, len(test.want), err)
			}
		})
	}
}

func TestZeroOptionSetsNothing(t *testing.T) {
	l := loadertest.New(t, &fake{n: 3}, loader.Option{}, loader.BatchSize(2), loader.Option{})
	if got := len(collect(t, l, 0, 1)); got != 2 {
		t.Errorf("%d batches, want 2", got)
	}
}

func TestBatchLargerThanTheDatasetTakesNoMoreMemory(t *testing.T) {
	l := loadertest.New(t, &fake{n: 16}, loader.Workers(1), loader.BatchSize(math.MaxInt32), loader.InFlight(1))
	if got := collect(t, l, 0, 1); len(got) != 1 || len(got[0]) != 16 {
		t.Errorf("got batches %v", got)
	}
	if got := l.Stats().SlabBytes; got != 16*8 {
		t.Errorf("a slab of %d bytes, want 128", got)
	}
}

func TestNumbersOfNoMeaningAreErrors(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int has 32 bits")
	}
	for want, option := range map[string]loader.Option{
		fmt.Sprintf("loader: BatchSize(%d): want 2147483647 at most", math.MaxInt/4+2): loader.BatchSize(math.MaxInt/4 + 2),
		fmt.Sprintf("loader: InFlight(%d): want 2147483647 at most", math.MaxInt):      loader.InFlight(math.MaxInt),
	} {
		if _, err := loader.New(&fake{n: 3}, option); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestBatchLargerThanAnyMemoryIsAnError(t *testing.T) {
	large := min(1<<40, math.MaxInt)
	x := dataset.Field{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{large}}
	y := dataset.Field{Name: "y", Dtype: dataset.Uint8, Shape: dataset.Shape{large}}
	most := "128 TiB"
	if math.MaxInt == math.MaxInt32 {
		most = "1 GiB"
	}
	for want, spec := range map[string]dataset.Spec{
		fmt.Sprintf("a batch of 16777216 samples of %d bytes is larger than %s", large, most):          {x},
		fmt.Sprintf("a batch of 16777216 samples of %d bytes is larger than %s", 2*int64(large), most): {x, y},
	} {
		_, err := loader.New(&fake{n: math.MaxInt, spec: spec}, loader.BatchSize(1<<24))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestWrongSpecIsAnError(t *testing.T) {
	ds := &fake{n: 3, spec: dataset.Spec{{Name: "x", Dtype: dataset.Int64}, {Name: "x"}, {Name: "y", Dtype: dataset.Int8, Shape: dataset.Shape{0}}}}
	_, err := loader.New(ds)
	for _, want := range []string{`two fields are named "x"`, `field "x" has no dtype`, `field "y": shape (0) has a dimension below 1`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	if _, err := loader.New(nil); err == nil {
		t.Error("a nil dataset is no error")
	}
}

func TestSlabsAreAsManyAsAskedFor(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []loader.Option
		want    int
	}{
		{"default", []loader.Option{loader.Workers(4)}, 9},
		{"no workers", []loader.Option{loader.Workers(0)}, 1},
		{"in flight", []loader.Option{loader.Workers(64), loader.InFlight(3)}, 3},
	} {
		l := loadertest.New(t, &fake{n: 1}, test.options...)
		if got := l.Stats().Slabs; got != test.want {
			t.Errorf("%s: %d slabs, want %d", test.name, got, test.want)
		}
	}
}
