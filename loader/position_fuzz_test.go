package loader_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// FuzzPosition shows that no saved position makes a loader panic, take much memory or time, or load
// samples that the epoch does not have after it.
func FuzzPosition(f *testing.F) {
	const n = 43
	ds, err := dataset.Tensors(dataset.Named("x", make([]int64, n)))
	if err != nil {
		f.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(4), loader.Sampler(sampler.Shuffle(n, 3)), loader.Seed(3), loader.Workers(1), loader.Unordered(true))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	for _, change := range []func(p *loader.Position){
		func(*loader.Position) {},
		func(p *loader.Position) { p.Draw = 8 },
		func(p *loader.Position) { p.Draw, p.Ahead, p.Step = 4, []int{1, 3}, 4 },
		func(p *loader.Position) { p.Epoch = 1<<31 - 1 },
	} {
		p := l.Position(1)
		change(&p)
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"version":1,"ahead":[` + strings.Repeat("0,", 1000) + `0]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hostile.Bounded(t, len(text), 0, func() {
			var p loader.Position
			if json.Unmarshal(text, &p) != nil {
				return
			}
			left, err := l.Len(p)
			seen := make(map[int]bool)
			batches := 0
			for b, failed := range l.From(ctx, p, p.Epoch+1) {
				if failed != nil {
					if err == nil || strings.Contains(failed.Error(), "panic") {
						t.Errorf("%s: %v, and Left says %v", text, failed, err)
					}
					return
				}
				batches++
				for _, i := range b.Indices() {
					if seen[i] {
						t.Errorf("%s: sample %d comes twice", text, i)
					}
					seen[i] = true
				}
			}
			if err != nil || batches != left || len(seen) > n-p.Draw {
				t.Errorf("%s: %d batches with %d samples, Left says %d, %v", text, batches, len(seen), left, err)
			}
		})
	})
}
