package feed_test

import (
	"errors"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

func TestShortBatchIsAnErrorWithoutPadOrDrop(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x))
	gorgonia.Let(m.mask, tensor.Ones(tensor.Float64, rows))
	batches, failures := 0, 0
	for _, err := range f.Run(newLoader(t, 3*rows-1).Epoch(t.Context(), 0)) {
		switch {
		case err == nil:
			batches++
		case errors.Is(err, feed.ErrShort) && strings.Contains(err.Error(), "feed: batch 2 of epoch 0: 3 samples for 4 rows"):
			failures++
		default:
			t.Error(err)
		}
	}
	if batches != 2 || failures != 1 {
		t.Errorf("%d batches, %d errors, want 2 and 1", batches, failures)
	}
}

func TestDropLeavesShortBatchesOut(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Drop())
	gorgonia.Let(m.mask, tensor.Ones(tensor.Float64, rows))
	batches := 0
	for b, err := range f.Run(newLoader(t, 3*rows-1).Epochs(t.Context(), 0, 2)) {
		if err != nil {
			t.Fatal(err)
		}
		if got := m.sum.Value().Data().(float64); b.Len() != rows || got != want(b.Indices()) {
			t.Errorf("batch of %d: got %v, want %v", b.Len(), got, want(b.Indices()))
		}
		batches++
	}
	if batches != 4 {
		t.Errorf("%d batches, want 4", batches)
	}
}

// TestShortBatchesThatDoNotFitAreErrors: padding copies, where Let would look.
func TestShortBatchesThatDoNotFitAreErrors(t *testing.T) {
	for field, says := range map[string]string{
		"label": `field "label": int64 of shape (3), want float64 of shape (3, 3)`,
		"y":     `field "y": float64 of shape (3), want float64 of shape (3, 3)`,
	} {
		m := newModel(t)
		f := newFeed(t, m.vm, feed.Bind(field, m.x), feed.Pad(m.mask))
		n := 0
		for _, err := range f.Run(newLoader(t, rows-1).Epoch(t.Context(), 0)) {
			if n++; err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want %s", err, says)
			}
		}
		if n != 1 {
			t.Errorf("the body ran %d times", n)
		}
	}
}

func TestPaddingIsZeroAfterALongerShortBatch(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	long, short := newLoader(t, rows-1), newLoader(t, 1)
	both := func(yield func(*loader.Batch, error) bool) {
		for _, l := range []*loader.Loader{long, short} {
			for b, err := range l.Epoch(t.Context(), 0) {
				if !yield(b, err) {
					return
				}
			}
		}
	}
	for b, err := range f.Run(both) {
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range m.x.Value().Data().([]float64)[b.Len()*width:] {
			if v != 0 {
				t.Errorf("batch of %d: padding value %d is %v", b.Len(), k, v)
			}
		}
	}
}
