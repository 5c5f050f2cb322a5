package gomlx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/train"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

var errBroken = errors.New("broken")

func TestEveryLoopIsTheNextEpoch(t *testing.T) {
	l := loadertest.New(t, numbered(10, -1), loader.BatchSize(4), loader.Shuffle(true))
	var want [3][]int64
	for epoch := range want {
		for b, err := range l.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			want[epoch] = append(want[epoch], loader.Values[int64](b, "label")...)
		}
	}
	ds := newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Labels("label"))
	if got := loop(t, ds, -1); !slices.Equal(got, want[0]) {
		t.Errorf("first loop: %v, want epoch 0, %v", got, want[0])
	}
	if got := loop(t, ds, 1); !slices.Equal(got, want[1][:4]) {
		t.Errorf("second loop: %v, want the beginning of epoch 1, %v", got, want[1])
	}
	if got := loop(t, ds, -1); !slices.Equal(got, want[2]) {
		t.Errorf("third loop, after one that was left: %v, want epoch 2, %v", got, want[2])
	}

	ds = newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Labels("label"), gomlx.Infinite(true))
	if got := loop(t, ds, 2); !slices.Equal(got, want[0][:8]) {
		t.Errorf("first infinite loop: %v, want %v", got, want[0][:8])
	}
	if got := loop(t, ds, 5); !slices.Equal(got, slices.Concat(want[0][8:], want[1], want[2][:4])) {
		t.Errorf("second infinite loop: %v, want the rest of epoch 0 %v, then %v and %v", got, want[0], want[1], want[2])
	}
}

func TestPositionsResume(t *testing.T) {
	for _, infinite := range []bool{false, true} {
		options := []gomlx.Option{gomlx.Inputs("x"), gomlx.Labels("label"), gomlx.Infinite(infinite)}
		for batches := range 4 {
			l := loadertest.New(t, numbered(10, -1), loader.BatchSize(4), loader.Shuffle(true), loader.Seed(5))
			whole := loop(t, newDataset(t, nil, l, append(options, gomlx.Infinite(true))...), 6)
			ds := newDataset(t, nil, l, options...)
			taken := 0
			if batches > 0 {
				taken = len(loop(t, ds, batches))
			}
			at := ds.Position()
			other := loadertest.New(t, numbered(10, -1), loader.BatchSize(4), loader.Shuffle(true), loader.Seed(5), loader.Workers(3))
			resumed := newDataset(t, nil, other, append(options, gomlx.From(at))...)
			if got := resumed.Position(); fmt.Sprint(got) != fmt.Sprint(at) {
				t.Errorf("the position is %v, want that of From, %v", got, at)
			}
			var got []int64
			for len(got) < len(whole)-taken {
				got = append(got, loop(t, resumed, 6-batches)...)
			}
			if want := whole[taken:]; !slices.Equal(got[:len(want)], want) {
				t.Errorf("infinite %v, after %d batches: %v, want %v", infinite, batches, got, want)
			}
		}
	}
}

func TestErrorsNameTheirSample(t *testing.T) {
	ds := newDataset(t, nil, loadertest.New(t, numbered(6, 5), loader.BatchSize(2)), gomlx.Inputs("x"), gomlx.Labels("label"))
	var got []int64
	var failed error
	for b, err := range ds.Iter() {
		if failed = err; err == nil {
			got = append(got, labels(t, b)...)
		}
	}
	var sample *loader.SampleError
	if !errors.As(failed, &sample) || sample.Name != "5.jpg" || !errors.Is(failed, errBroken) || len(got) != 4 {
		t.Errorf("error %v after %v, want that of sample 5 after 4", failed, got)
	}
	if got, want := ds.Position().Draw, 4; got != want {
		t.Errorf("position at %d, want %d", got, want)
	}
}

func TestDoneContextEndsTheLoop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ds := newDataset(t, nil, loadertest.New(t, numbered(6, -1)), gomlx.Inputs("x"), gomlx.Context(ctx))
	n := 0
	for _, err := range ds.Iter() {
		if n++; n == 2 && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		cancel()
	}
	if n != 2 {
		t.Errorf("%d rounds of the loop, want 2", n)
	}
}

func TestLoopsWithoutDataEnd(t *testing.T) {
	l := loadertest.New(t, numbered(3, -1), loader.BatchSize(4), loader.DropLast(true))
	for range newDataset(t, nil, l, gomlx.Inputs("x")).Iter() {
		t.Error("a batch of no samples")
	}
	for _, err := range newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Infinite(true)).Iter() {
		if want := "gomlx: Infinite: the loader has no batches"; fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	l.Close()
	for _, err := range newDataset(t, nil, l, gomlx.Inputs("x")).Iter() {
		if !errors.Is(err, loader.ErrClosed) {
			t.Errorf("error %v, want %v", err, loader.ErrClosed)
		}
	}
}

func TestWrongOptionsAreReportedTogether(t *testing.T) {
	l := loadertest.New(t, numbered(3, -1))
	var none context.Context
	_, err := gomlx.New(nil, l, gomlx.Inputs("image", "text", "none"), gomlx.Labels("uint"), gomlx.PadTo(0), gomlx.Context(none), gomlx.Option{})
	for _, want := range []string{
		`gomlx: Inputs("text"): the field is ragged: want samples of one shape`,
		`gomlx: Inputs("none"): no such field in image uint8 (3, 2, 2), label`,
		`gomlx: Labels("uint"): GoMLX has no dtype uint`,
		"gomlx: PadTo(0): want 1 or more",
		"gomlx: Context: the context is nil",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
	only, err := dataset.Select(numbered(3, -1), "label")
	if err != nil {
		t.Fatal(err)
	}
	for want, make := range map[string]func() (*gomlx.Dataset, error){
		"gomlx: New: the loader is nil":                               func() (*gomlx.Dataset, error) { return gomlx.New(nil, nil) },
		"gomlx: Inputs: want one field or more of label int64 ()":     func() (*gomlx.Dataset, error) { return gomlx.New(nil, loadertest.New(t, only), gomlx.Labels("label")) },
		`gomlx: Inputs("text"): the field is ragged: want samples of`: func() (*gomlx.Dataset, error) { return gomlx.New(nil, l, gomlx.Labels("uint")) },
	} {
		if ds, err := make(); err == nil || !strings.Contains(err.Error(), want) || ds != nil {
			t.Errorf("got %v, %v, want %s", ds, err, want)
		}
	}
}

func TestNameIsTheOptions(t *testing.T) {
	l := loadertest.New(t, numbered(3, -1))
	var ds train.Dataset = newDataset(t, nil, l, gomlx.Inputs("x"))
	if got := ds.Name(); got != "penstock" {
		t.Errorf("name %q, want penstock", got)
	}
	if got := newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Name("train")).Name(); got != "train" {
		t.Errorf("name %q, want train", got)
	}
}
