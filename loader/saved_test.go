package loader_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

var save = flag.Bool("save", false, "write testdata/positions.json, which only a format that nobody has used yet may change")

// A saved position is one that a loader has written, and what came after it.
type saved struct {
	Case     string
	Position json.RawMessage
	Batches  int
	Rest     string // hash of all batches up to epoch 3
}

// savedCases are loaders that have written positions. Where they are unordered, the first sample waits for late.
func savedCases(late <-chan struct{}) map[string]func(t testing.TB) *loader.Loader {
	const n = 43
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = float64(k%5 + 1)
	}
	lengths := make([]int, n)
	for k := range lengths {
		lengths[k] = (k * 7) % 31
	}
	loads := func(options ...loader.Option) func(t testing.TB) *loader.Loader {
		return func(t testing.TB) *loader.Loader {
			return loadertest.New(t, augmented(n), append([]loader.Option{loader.Workers(2)}, options...)...)
		}
	}
	sampled := func(s sampler.Sampler, options ...loader.Option) func(t testing.TB) *loader.Loader {
		return loads(append(options, loader.Sampler(s), loader.BatchSize(4))...)
	}
	unordered := func(options ...loader.Option) func(t testing.TB) *loader.Loader {
		return func(t testing.TB) *loader.Loader {
			ds := augmented(n)
			place, first := ds.place, new(atomic.Bool)
			ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
				if first.CompareAndSwap(false, true) {
					select {
					case <-late:
					case <-ctx.Done():
					}
				}
				return place(ctx, i, dst)
			}
			return loadertest.New(t, ds, append(options, loader.Workers(3), loader.InFlight(6), loader.Unordered(true), loader.Help(false), loader.BatchSize(4))...)
		}
	}
	mode := []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact}
	return map[string]func(t testing.TB) *loader.Loader{
		"in order":                 loads(loader.BatchSize(4)),
		"only full batches":        loads(loader.BatchSize(4), loader.DropLast(true), loader.Shuffle(true), loader.Seed(7)),
		"shuffled":                 loads(loader.BatchSize(5), loader.Shuffle(true), loader.Seed(7)),
		"rank 1 of 3, padded":      loads(loader.BatchSize(4), loader.Shuffle(true), loader.Ranks(1, 3, mode[0])),
		"rank 2 of 3, cut":         loads(loader.BatchSize(4), loader.Shuffle(true), loader.Ranks(2, 3, mode[1])),
		"rank 0 of 4, exact":       loads(loader.BatchSize(3), loader.Shuffle(true), loader.Ranks(0, 4, mode[2])),
		"weighted":                 sampled(must(sampler.Weighted(weights, 3))),
		"weighted, none twice":     sampled(must(sampler.WeightedWithoutReplacement(weights, 3))),
		"random":                   sampled(sampler.Random(n, 4)),
		"as PyTorch":               sampled(sampler.TorchManualSeed(n, 11)),
		"in groups":                sampled(sampler.Grouped([]int{10, 20, 43}, 5)),
		"without identity":         sampled(secret{sampler.Shuffle(n, 9)}),
		"by length":                loads(loader.BatchSampler(sampler.ByLength(lengths, 6, sampler.BatchSize(4)))),
		"by length, rank 1 of 2":   loads(loader.BatchSampler(sampler.ByLength(lengths, 6, sampler.BatchSize(4))), loader.Ranks(1, 2, sampler.PadToEven)),
		"batches without identity": loads(loader.BatchSampler(secretBatches{sampler.Fixed(sampler.Shuffle(n, 8), sampler.BatchSize(3))})),
		"unordered":                unordered(),
		"unordered, rank 0 of 2":   unordered(loader.Ranks(0, 2, sampler.PadToEven)),
		"a stream": func(t testing.TB) *loader.Loader {
			return loadertest.New(t, newArriving(n, 5), loader.Workers(2), loader.BatchSize(4))
		},
		"a stream, rank 1 of 2": func(t testing.TB) *loader.Loader {
			return loadertest.New(t, newArriving(n, 5), loader.Workers(2), loader.BatchSize(4), loader.Ranks(1, 2, sampler.KeepExact))
		},
	}
}

// restOf is the number of batches from a position on, up to epoch 3, and their hash. Unordered batches may come in
// any order.
func restOf(t *testing.T, l *loader.Loader, p loader.Position) (batches int, hash string) {
	t.Helper()
	var sums [sha256.Size]byte
	for b, err := range l.From(t.Context(), p, 3) {
		if err != nil {
			t.Fatal(err)
		}
		batches++
		for k, v := range sha256.Sum256(fmt.Append(nil, b.Epoch(), b.Number(), b.Indices(), loader.Values[float32](b, "noise"), loader.Values[uint16](b, "words"), b.Offsets("words"))) {
			sums[k] += v
		}
	}
	return batches, fmt.Sprintf("%x", sums[:12])
}

// TestPositionsThatWereSavedBeforeResume reads what an earlier version has written.
func TestPositionsThatWereSavedBeforeResume(t *testing.T) {
	const file = "testdata/positions.json"
	late := make(chan struct{})
	close(late)
	cases := savedCases(late)
	var all []saved
	if *save {
		for name := range cases {
			late := make(chan struct{})
			l := savedCases(late)[name](t)
			delivered := 0
			for b, err := range l.Epochs(t.Context(), 0, 3) {
				if err != nil {
					t.Fatal(err)
				}
				if delivered++; delivered == 3 || delivered == 13 {
					p := b.Position()
					s := saved{Case: name, Position: json.RawMessage(text(t, p))}
					if delivered == 3 {
						close(late)
					}
					s.Batches, s.Rest = restOf(t, cases[name](t), p)
					all = append(all, s)
				}
			}
		}
		written, err := json.MarshalIndent(all, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(written, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(read, &all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range all {
		var p loader.Position
		if err := json.Unmarshal(s.Position, &p); err != nil {
			t.Fatal(err)
		}
		newLoader := cases[s.Case]
		if newLoader == nil {
			t.Fatalf("there is no case %q", s.Case)
		}
		seen[s.Case] = true
		if batches, hash := restOf(t, newLoader(t), p); batches != s.Batches || hash != s.Rest {
			t.Errorf("%s: after %s there are %d batches %s, want %d %s", s.Case, s.Position, batches, hash, s.Batches, s.Rest)
		}
	}
	if len(seen) != len(cases) {
		t.Errorf("%d cases have saved positions, want %d", len(seen), len(cases))
	}
}
