package loader_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// words is n samples of one text, placed by whole batches.
type words struct{ dataset.Dataset }

func newWords(n int, text string) words {
	spec := dataset.Spec{{Name: text, Dtype: dataset.Uint8, Ragged: true}}
	return words{dataset.Func(n, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(text)), text)
		return nil
	})}
}

func (w words) Open() (dataset.Reader, error) {
	r, err := w.Dataset.Open()
	return wordsReader{r}, err
}

type wordsReader struct{ dataset.Reader }

func (r wordsReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func TestSlotsThatAreAskedForAgainKeepTheirRaggedFields(t *testing.T) {
	both, err := dataset.Zip(newWords(6, "left"), newWords(6, "right")) // calls At twice for every slot
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(both, loader.Workers(1), loader.BatchSize(3))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epochs(t.Context(), 0, 2) {
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"left", "right"} {
			if got, want := batch.Strings(text), slices.Repeat([]string{text}, 3); !slices.Equal(got, want) {
				t.Errorf("%v: field %s holds %q, want %q", batch, text, got, want)
			}
		}
	}
}

// A reaching dataset asks for one slot too many in every batch, after the first.
type reaching struct{ *gatherer }

func (r reaching) Open() (dataset.Reader, error) {
	return reachingReader{gatherReader{fakeReader{r.fake}, r.gatherer}}, nil
}

type reachingReader struct{ gatherReader }

func (r reachingReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	if r.g.calls.Load() > 0 {
		dst.At(dst.Len())
	}
	return r.gatherReader.PlaceBatch(ctx, indices, dst)
}

// TestASlotBeyondTheLastIsAnError also in a batch that is shorter than the one before.
func TestASlotBeyondTheLastIsAnError(t *testing.T) {
	l := loadertest.New(t, reaching{&gatherer{fake: &fake{n: 12}}}, loader.Workers(0), loader.BatchSize(8),
		loader.Observe(loader.Trace{SampleDone: func(s loader.SampleInfo) {
			if want := "panic: loader: Slots.At(4): want an index from 0 to 3"; s.Rows == 4 && (s.Err == nil || !strings.HasPrefix(s.Err.Error(), want)) {
				t.Errorf("got %v, want %s", s.Err, want)
			}
		}}))
	if got := outcome(t, l); len(got) != 2 || got[1] != "[8 9 10 11] [8 9 10 11]" {
		t.Errorf("got %q, want a second batch that is placed one by one", got)
	}
}

// noisy is n samples of one random number, placed by whole batches or one by one.
func noisy(n int, field string, batches bool) dataset.Dataset {
	spec := dataset.Spec{{Name: field, Dtype: dataset.Uint64}}
	ds := dataset.Func(n, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		dataset.Set(dst, 0, dst.Rand().Uint64())
		return nil
	})
	if batches {
		return words{ds}
	}
	return ds
}

func TestRandomNumbersAreTheSameOneByOneAndInBatches(t *testing.T) {
	load := func(batches bool) (all []uint64) {
		both, err := dataset.Zip(noisy(6, "left", batches), noisy(6, "right", batches))
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range loadertest.New(t, both, loader.Workers(1), loader.BatchSize(3), loader.Help(false)).Epoch(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, loader.Values[uint64](batch, "left")...)
			all = append(all, loader.Values[uint64](batch, "right")...)
		}
		return all
	}
	if got, want := load(true), load(false); !slices.Equal(got, want) {
		t.Errorf("in batches %x\none by one %x", got, want)
	}
}
