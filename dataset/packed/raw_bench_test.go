package packed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

// The preprocessed photo of the studies: float32 (3, 224, 224), 602,112 bytes.
var photoSpec = dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, 224, 224}}}

const photoBytes = 3 * 224 * 224 * 4

// BenchmarkRawTensors reads 512 files in random order by Place and by a loop of
// open, pread and close into the same memory, in turn.
func BenchmarkRawTensors(b *testing.B) {
	dir := photoItems(b)
	ds, err := packed.Items(os.DirFS(dir), "*.raw", photoSpec)
	if err != nil {
		b.Fatal(err)
	}
	compareWithPread(b, ds, func() func(i int, row []byte) error {
		return func(i int, row []byte) error {
			f, err := os.Open(filepath.Join(dir, fmt.Sprintf("%08d.raw", i)))
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.ReadAt(row, 0)
			return err
		}
	})
}

// BenchmarkPackedTensors does the same with one file, which both keep open.
func BenchmarkPackedTensors(b *testing.B) {
	name := filepath.Join(b.TempDir(), "packed")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	if err := packed.WriteRaw(b.Context(), f, photoItemsDataset()); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	ds, err := packed.OpenRaw(os.DirFS(filepath.Dir(name)), "packed", photoSpec)
	if err != nil {
		b.Fatal(err)
	}
	compareWithPread(b, ds, func() func(i int, row []byte) error {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		return func(i int, row []byte) error {
			_, err := f.ReadAt(row, int64(i)*photoBytes)
			return err
		}
	})
}

func photoItemsDataset() dataset.Dataset {
	return dataset.Func(512, photoSpec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Row[float32](dst, 0) {
			dataset.Row[float32](dst, 0)[k] = float32(i + k)
		}
		return nil
	})
}

func photoItems(b *testing.B) string {
	dir := b.TempDir()
	if err := packed.WriteItems(b.Context(), dir, photoItemsDataset()); err != nil {
		b.Fatal(err)
	}
	return dir
}

// compareWithPread lets goroutines read rounds of 64 samples, by Place and by
// the plain loop in turn, so that both see the same machine. It reports samples
// per second of both and the share that Place reaches.
func compareWithPread(b *testing.B, ds dataset.Dataset, plain func() func(i int, row []byte) error) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			place := make([]func(i, row int), workers)
			pread := make([]func(i, row int), workers)
			for w := range workers {
				batch := datatest.NewSlots(32, ds.Spec())
				r, err := ds.Open()
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { r.Close() })
				read := plain()
				ctx := b.Context()
				place[w] = func(i, row int) {
					if err := r.Place(ctx, i, batch[row]); err != nil {
						b.Error(err)
					}
				}
				pread[w] = func(i, row int) {
					if err := read(i, batch[row].Cell(0).Bytes()); err != nil {
						b.Error(err)
					}
				}
			}
			round := func(n int, work []func(i, row int)) time.Duration {
				start := time.Now()
				var group sync.WaitGroup
				for w := range work {
					group.Go(func() {
						for k := range 64 {
							work[w]((n*64+w*256+k)*211%ds.Len(), k%32)
						}
					})
				}
				group.Wait()
				return time.Since(start)
			}
			var placed, read time.Duration
			n := 0
			round(n, place)
			round(n, pread)
			b.ReportAllocs()
			for b.Loop() {
				n++
				placed += round(n, place)
				read += round(n, pread)
			}
			samples := float64(64 * workers * b.N)
			b.ReportMetric(samples/placed.Seconds(), "samples/s")
			b.ReportMetric(samples/read.Seconds(), "pread-samples/s")
			b.ReportMetric(100*read.Seconds()/placed.Seconds(), "%-of-pread")
		})
	}
}
