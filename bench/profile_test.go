package bench_test

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// tinyImages is the training part of CIFAR-100, as bytes and as normalised float32.
func tinyImages(b *testing.B) (bytes, normalized dataset.Dataset) {
	b.Helper()
	n := sized(5_000, 50_000, 50_000)
	dir := given(b, func(root string) (string, error) { return data.CIFAR100(b.Context(), root, n) })
	images, err := classic.CIFAR100(os.DirFS(dir), classic.Train)
	if err != nil {
		b.Fatal(err)
	}
	ds, err := transform.Images(images, transform.ToTensor(), transform.Normalize([]float32{.5}, []float32{.5}))
	if err != nil {
		b.Fatal(err)
	}
	return images, ds
}

// BenchmarkProfile is the third study: where loading spends its time until the first batch,
// and over an epoch. It loads CIFAR-100, shuffled, in batches of 64 that are copied as to a
// device, and prints a table for every configuration.
//
// The times of workers are wall-clock times, added up. With more workers than processors
// they include the time that workers waited for a processor.
func BenchmarkProfile(b *testing.B) {
	_, ds := tinyImages(b)
	var cells []cell
	for _, span := range []string{result.FirstBatch, result.Epoch} {
		for _, workers := range sized([]int{2}, []int{1, 2, 4, 8, 16}, []int{1, 2, 4, 8, 16}) {
			var once sync.Once
			config := result.Config{Batch: 64, Workers: workers, Data: "cifar", Device: "cpu", Help: result.HelpOn, Span: span}
			cells = append(cells, cell{Run: bench.Run{Study: result.Profile, Config: config, Dataset: ds, Options: []loader.Option{loader.Shuffle(true)}},
				report: func(b *testing.B, rounds []result.Measured) {
					once.Do(func() { b.Logf("%s, %d workers\n%s", span, workers, profileSheet(rounds).Markdown()) })
				}})
		}
	}
	measure(b, cells)
}

// profileSheet is the profile of the round with the median time, as a table of at most 15
// rows. The rows with the most self time come first.
func profileSheet(rounds []result.Measured) analysis.Sheet {
	sorted := slices.SortedFunc(slices.Values(rounds), func(a, b result.Measured) int { return cmp.Compare(a.Seconds, b.Seconds) })
	list := slices.Clone(sorted[(len(sorted)-1)/2].Stages)
	slices.SortStableFunc(list, func(a, b result.Stage) int { return cmp.Compare(b.Self, a.Self) })
	all := 0.0
	for _, st := range list {
		all += st.Self
	}
	sheet := analysis.Sheet{Head: []string{"name", "self %", "self, ms", "total %", "total, ms", "average, µs", "calls"}}
	for _, st := range list[:min(15, len(list))] {
		sheet.Rows = append(sheet.Rows, []string{
			st.Name, fmt.Sprintf("%.1f", 100*st.Self/all), fmt.Sprintf("%.3f", 1000*st.Self),
			fmt.Sprintf("%.1f", 100*st.Total/all), fmt.Sprintf("%.3f", 1000*st.Total),
			fmt.Sprintf("%.2f", 1e6*st.Total/float64(max(st.Calls, 1))), fmt.Sprint(st.Calls),
		})
	}
	return sheet
}

// BenchmarkAdvice shows what the loader says of more workers than processors. It loads
// epochs of images that need computing until the loader has seen enough to say it.
func BenchmarkAdvice(b *testing.B) {
	_, ds := tinyImages(b)
	said, epochs := "", 0
	for b.Loop() {
		l := newLoader(b, ds, loader.Workers(8*runtime.GOMAXPROCS(0)), loader.BatchSize(64), loader.Shuffle(true))
		for epochs = 0; !strings.Contains(said, "loads as much"); epochs++ {
			if epochs == 10_000 {
				b.Fatal("no advice")
			}
			epoch(b, l, epochs)
			said = l.Stats().Verdict()
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(epochs), "epochs")
	b.Log(said)
}
