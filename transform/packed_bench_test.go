package transform

import (
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

// BenchmarkPackedEval and BenchmarkPackedTrain place the shared photos: a JPEG file, its
// packed photo of level Fast, that of level Small, and so on with the next one. They
// report the mean of the photos' least times over the rounds, which other work on the
// machine hardly changes.
func BenchmarkPackedEval(b *testing.B) { benchmarkPacked(b, Eval(224)) }

func BenchmarkPackedTrain(b *testing.B) { benchmarkPacked(b, Train(224)) }

func benchmarkPacked(b *testing.B, steps ...Item) {
	files := photos(b)
	var sources [3]dataset.Reader
	var slot dataset.Slot
	for k := range sources {
		ds := dataset.Dataset(filesOf{files, encoded(nil).Spec()})
		if k > 0 {
			ds = filesOf{packedFiles(b, ds, []packed.Level{packed.Fast, packed.Small}[k-1]), ds.Spec()}
		}
		x, err := Images(ds, steps...)
		if err != nil {
			b.Fatal(err)
		}
		sources[k] = datatest.Open(b, x)
		slot = dataset.NewSlot(x.Spec()...)
	}
	var least [3][]time.Duration
	for k := range least {
		least[k] = slices.Repeat([]time.Duration{time.Hour}, len(files))
	}
	for b.Loop() {
		for i := range files {
			for k, r := range sources {
				datatest.Reset(slot, 0, 0, i)
				begun := time.Now()
				if err := r.Place(b.Context(), i, slot); err != nil {
					b.Fatal(err)
				}
				least[k][i] = min(least[k][i], time.Since(begun))
			}
		}
	}
	for k, name := range []string{"JPEG", "fast", "small"} {
		sum := time.Duration(0)
		for _, d := range least[k] {
			sum += d
		}
		b.ReportMetric(float64(sum.Microseconds())/float64(len(files)), name+"-µs/photo")
	}
}

// packedFiles are the images of ds as packed photos.
func packedFiles(tb testing.TB, ds dataset.Dataset, level packed.Level) [][]byte {
	tb.Helper()
	p, err := packed.Photos(ds, level)
	if err != nil {
		tb.Fatal(err)
	}
	var records [][]byte
	err = dataset.Each(tb.Context(), p, func(_ int, s dataset.Slot) error {
		records = append(records, slices.Clone(s.Cell(0).Bytes()))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return records
}
