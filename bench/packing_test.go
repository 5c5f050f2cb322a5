package bench_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// BenchmarkPacking plans rows of 20,000 documents. It reports which share of them is padding, and of rows that follow each other in a
// shuffled epoch, how the numbers of their first documents correlate, and how their lengths. peers/packing.py does it with TRL and Grain.
func BenchmarkPacking(b *testing.B) {
	const documents = 20_000
	c := folder(b, bench.Grids["tokens"]()[0])
	f, err := tokens.Open(os.DirFS(c.Folder), "tokens.idx")
	if err != nil {
		b.Fatal(err)
	}
	lengths, err := f.Lengths(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	lengths = lengths[:documents]
	first := make([]int, documents)
	for i := range first {
		first[i] = i
	}
	texts, err := dataset.Subset(f, first)
	if err != nil {
		b.Fatal(err)
	}
	all := 0
	for _, n := range lengths {
		all += int(n)
	}
	for _, p := range []struct {
		name     string
		strategy tokens.Strategy
		options  []tokens.PackOption
	}{
		{"Wrap", tokens.Wrap, nil},
		{"FirstFit-64", tokens.FirstFit, nil},
		{"FirstFit-1000", tokens.FirstFit, []tokens.PackOption{tokens.Window(1000)}},
		{"BestFit-1000", tokens.BestFit, []tokens.PackOption{tokens.Window(1000)}},
		{"BestFit", tokens.BestFit, nil},
	} {
		b.Run(p.name, func(b *testing.B) {
			var rows dataset.Dataset
			for b.Loop() {
				if rows, err = tokens.Pack(texts, lengths, bench.Length, p.strategy, append(p.options, tokens.Order(sampler.Shuffle(documents, 1)))...); err != nil {
					b.Fatal(err)
				}
			}
			l, err := loader.New(rows, loader.Shuffle(true), loader.Seed(1), loader.BatchSize(64))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			var places, sizes []float64
			for batch, err := range l.Epoch(b.Context(), 0) {
				if err != nil {
					b.Fatal(err)
				}
				for r := range batch.Len() {
					var document int
					if _, err := fmt.Sscanf(batch.Name(r), "tokens.bin, document %d", &document); err != nil {
						b.Fatal(err)
					}
					places, sizes = append(places, float64(document)), append(sizes, float64(lengths[document]))
				}
			}
			b.ReportMetric(100*(1-float64(all)/float64(rows.Len()*bench.Length)), "padding-%")
			b.ReportMetric(neighbours(places), "r-of-documents")
			b.ReportMetric(neighbours(sizes), "r-of-lengths")
		})
	}
}

// neighbours is the correlation of values with those that follow them.
func neighbours(values []float64) float64 {
	n, mean := float64(len(values)), 0.0
	for _, v := range values {
		mean += v / n
	}
	with, alone := 0.0, 0.0
	for i, v := range values {
		alone += (v - mean) * (v - mean)
		if i > 0 {
			with += (v - mean) * (values[i-1] - mean)
		}
	}
	return with / math.Max(alone, 1)
}
