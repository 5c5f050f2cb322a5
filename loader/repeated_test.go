package loader_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestPanicsAtOnePlacePrintOneStack in the list of failures. Every one of them is still a
// PanicError with its value.
func TestPanicsAtOnePlacePrintOneStack(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		ds := failing(40, func(i int) bool {
			switch {
			case i%4 == 1:
				panic(fmt.Sprintf("unlucky %d", i))
			case i == 7:
				panic("elsewhere")
			}
			return false
		})
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(5), loader.OnError(loader.Skip, loader.NoLimit))
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		stacks := 0
		for _, f := range l.Stats().Failures {
			text, want := f.Error(), fmt.Sprintf("panic: unlucky %d", f.Index)
			if f.Index == 7 {
				want = "panic: elsewhere"
			}
			var p *loader.PanicError
			if !strings.Contains(text, want) || !errors.As(f, &p) || "panic: "+fmt.Sprint(p.Value) != want || len(p.Stack) == 0 {
				t.Errorf("sample %d: %s", f.Index, text)
			}
			if n := strings.Count(text, "\ngoroutine "); n > 0 {
				stacks += n
			} else if strings.Contains(text, "\n") {
				t.Errorf("sample %d has the rest of a stack: %s", f.Index, text)
			}
		}
		if stacks != 2 {
			t.Errorf("%d workers: %d stacks, want one of each place", workers, stacks)
		}
	}
}

// TestStacksOfAnotherFormArePrinted: those of a dataset that recovers panics itself.
func TestStacksOfAnotherFormArePrinted(t *testing.T) {
	ds := &fake{n: 4, place: func(_ context.Context, i int, _ dataset.Slot) error {
		return &loader.PanicError{Value: i, Stack: fmt.Appendf(nil, "decoder.c:%d", i)}
	}}
	l := loadertest.New(t, ds, loader.OnError(loader.Skip, loader.NoLimit))
	for _, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	failures := l.Stats().Failures
	if len(failures) != 4 {
		t.Errorf("got %d failures, want 4", len(failures))
	}
	for _, f := range failures {
		if want := fmt.Sprintf("\n\ndecoder.c:%d", f.Index); !strings.HasSuffix(f.Error(), want) {
			t.Errorf("sample %d: got %s, want %q at its end", f.Index, f, want)
		}
	}
}

// A named step of Collate fails.
type named struct{ apply dataset.BatchApply }

func (named) String() string { return "Named(3)" }
func (n named) Bind(before dataset.Spec) (dataset.Spec, dataset.BatchApply, error) {
	return before, n.apply, nil
}

func TestErrorsOfCollateNameTheStep(t *testing.T) {
	nothing := dataset.BatchFunc(func(dst, src dataset.Columns) error { return nil })
	panics := func(dst, src dataset.Columns) error { panic("broken") }
	fails := func(dst, src dataset.Columns) error { return errors.New("broken") }
	for want, step := range map[string]dataset.BatchStep{
		"error: loader: epoch 0, batch 0: Collate: step 1 (Named(3)): panic: broken": named{panics},
		"error: loader: epoch 0, batch 0: Collate: step 1: panic: broken":            dataset.BatchFunc(panics),
		"error: loader: epoch 0, batch 0: Collate: step 1 (Named(3)): broken":        named{fails},
		"error: loader: epoch 0, batch 0: Collate: step 1: broken":                   dataset.BatchFunc(fails),
	} {
		ds := &fake{n: 4, place: func(context.Context, int, dataset.Slot) error { return nil }}
		got := outcome(t, loadertest.New(t, ds, loader.BatchSize(2), loader.Collate(nothing, step)))
		if len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
