package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
)

// BenchmarkPreprocessed loads items of 602,112 bytes from the page cache, and,
// in turn, has as many goroutines do nothing but pread them into memory of the
// same size.
func BenchmarkPreprocessed(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, batch := range []int{16, 64} {
			b.Run(fmt.Sprintf("packed/workers=%d/batch=%d", workers, batch), func(b *testing.B) {
				path := packedFile(b)
				ds, err := packed.OpenRaw(os.DirFS(filepath.Dir(path)), filepath.Base(path), item)
				if err != nil {
					b.Fatal(err)
				}
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				compareWithPread(b, ds, workers, batch, func(i int, dst []byte) error {
					_, err := f.ReadAt(dst, int64(i)*int64(len(dst)))
					return err
				})
			})
			b.Run(fmt.Sprintf("files/workers=%d/batch=%d", workers, batch), func(b *testing.B) {
				dir := itemFiles(b)
				ds, err := packed.Items(os.DirFS(dir), "*", item)
				if err != nil {
					b.Fatal(err)
				}
				names, err := filepath.Glob(filepath.Join(dir, "*"))
				if err != nil {
					b.Fatal(err)
				}
				compareWithPread(b, ds, workers, batch, func(i int, dst []byte) error {
					f, err := os.Open(names[i])
					if err != nil {
						return err
					}
					defer f.Close()
					_, err = f.ReadAt(dst, 0)
					return err
				})
			})
		}
	}
}

func compareWithPread(b *testing.B, ds dataset.Dataset, workers, batch int, pread func(i int, dst []byte) error) {
	l := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(batch))
	slabs := make([]byte, l.Stats().SlabBytes)
	for i := range slabs {
		slabs[i] = 1
	}
	rows := len(slabs) / item[0].Bytes()
	n := 0
	compare(b, items,
		side{"loader", func() time.Duration { n++; return epoch(b, l, n) }},
		side{"pread", func() time.Duration {
			begun := time.Now()
			var next atomic.Int64
			var group sync.WaitGroup
			for range workers {
				group.Go(func() {
					for i := int(next.Add(1)) - 1; i < items; i = int(next.Add(1)) - 1 {
						at := i % rows * item[0].Bytes()
						if err := pread(i, slabs[at:at+item[0].Bytes()]); err != nil {
							b.Error(err)
						}
					}
				})
			}
			group.Wait()
			return time.Since(begun)
		}})
}

// BenchmarkFirstEpoch loads preprocessed items with a loader that was just made,
// and again: slabs are touched when made, so the first epoch is as fast.
func BenchmarkFirstEpoch(b *testing.B) {
	path := packedFile(b)
	ds, err := packed.OpenRaw(os.DirFS(filepath.Dir(path)), filepath.Base(path), item)
	if err != nil {
		b.Fatal(err)
	}
	var l *loader.Loader
	compare(b, items,
		side{"first", func() time.Duration {
			l = newLoader(b, ds, loader.Workers(2), loader.BatchSize(32))
			return epoch(b, l, 0)
		}},
		side{"second", func() time.Duration {
			defer l.Close()
			return epoch(b, l, 1)
		}})
}
