package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
)

// item is a preprocessed image: 602,112 bytes.
var item = data.Image(224)

const items = 256 // 154 MB, more than any cache but the page cache

func itemFiles(b *testing.B) string {
	return given(b, func(root string) (string, error) { return data.Items(b.Context(), root, items, 224) })
}

func packedFile(b *testing.B) string {
	return given(b, func(root string) (string, error) { return data.Packed(b.Context(), root, items, 224) })
}

func openPacked(b *testing.B) dataset.Dataset {
	path := packedFile(b)
	ds, err := packed.OpenRaw(os.DirFS(filepath.Dir(path)), filepath.Base(path), item)
	if err != nil {
		b.Fatal(err)
	}
	return ds
}

// BenchmarkPreprocessed loads items from one file, and from one file per item. In turns, the
// same number of goroutines only pread the items into memory of the same size.
func BenchmarkPreprocessed(b *testing.B) {
	files, err := packed.Items(os.DirFS(itemFiles(b)), "*", item)
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		for _, batch := range []int{16, 64} {
			b.Run(fmt.Sprintf("packed/workers=%d/batch=%d", workers, batch), func(b *testing.B) {
				compareWithPread(b, openPacked(b), workers, batch, oneFile(b, packedFile(b), 0))
			})
			b.Run(fmt.Sprintf("files/workers=%d/batch=%d", workers, batch), func(b *testing.B) {
				compareWithPread(b, files, workers, batch, fileEach(b, filepath.Join(itemFiles(b), "*")))
			})
		}
	}
}

// BenchmarkNpy is the same with items in one npy array.
func BenchmarkNpy(b *testing.B) {
	const name, header = "array.npy", 128
	dir := made(b, "npy", func(dir string) error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		defer f.Close()
		return npy.Write(b.Context(), f, openPacked(b), item[0].Name)
	})
	ds, err := npy.Open(os.DirFS(dir), name, item[0].Name)
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			compareWithPread(b, ds, workers, 16, oneFile(b, filepath.Join(dir, name), header))
		})
	}
}

// oneFile reads items that lie in a file one after another, after a header.
func oneFile(b *testing.B, path string, header int64) func(i int, dst []byte) error {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return func(i int, dst []byte) error {
		_, err := f.ReadAt(dst, header+int64(i)*int64(len(dst)))
		return err
	}
}

// fileEach opens, reads and closes a file per item.
func fileEach(b *testing.B, pattern string) func(i int, dst []byte) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		b.Fatal(err)
	}
	return func(i int, dst []byte) error {
		f, err := os.Open(names[i])
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.ReadAt(dst, 0)
		return err
	}
}

// compareWithPread compares a loader with plain reading.
func compareWithPread(b *testing.B, ds dataset.Dataset, workers, batch int, read func(i int, dst []byte) error) {
	l := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(batch))
	size := item[0].Bytes()
	slabs := make([]byte, l.Stats().SlabBytes)
	for i := range slabs {
		slabs[i] = 1
	}
	rows := len(slabs) / size
	n := 0
	compare(b, items,
		side{"loader", func() time.Duration { n++; return epoch(b, l, n) }},
		side{"plain", func() time.Duration {
			begun := time.Now()
			var next atomic.Int64
			var group sync.WaitGroup
			for range workers {
				group.Go(func() {
					for i := int(next.Add(1)) - 1; i < items; i = int(next.Add(1)) - 1 {
						if err := read(i, slabs[i%rows*size:][:size]); err != nil {
							b.Error(err)
						}
					}
				})
			}
			group.Wait()
			return time.Since(begun)
		}})
}

// BenchmarkCached loads items from a cache that an earlier epoch has filled. In turns, the
// same number of goroutines copy rows of the same size from one slice.
func BenchmarkCached(b *testing.B) {
	cached := fullCache(b, openPacked(b))
	from := make([]byte, items*item[0].Bytes())
	for i := range from {
		from[i] = 1
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			compareWithPread(b, cached, workers, 16, func(i int, dst []byte) error {
				copy(dst, from[i*len(dst):])
				return nil
			})
		})
	}
}

// fullCache returns a cache that holds all samples of ds.
func fullCache(b *testing.B, ds dataset.Dataset) *dataset.Cache {
	b.Helper()
	cached, err := dataset.Cached(ds, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	epoch(b, newLoader(b, cached, loader.BatchSize(16)), 0)
	if s := cached.Stats(); s.Samples != int64(ds.Len()) {
		b.Fatalf("%d of %d samples are kept", s.Samples, ds.Len())
	}
	return cached
}

// BenchmarkFirstEpoch loads items with a new loader, for two epochs. The loader touches its
// slabs when it is made, so the first epoch is as fast as the second.
func BenchmarkFirstEpoch(b *testing.B) {
	ds := openPacked(b)
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

// BenchmarkCIFAR loads shuffled epochs of CIFAR-100, once as bytes and once as normalised
// float32.
func BenchmarkCIFAR(b *testing.B) {
	bytes, normalized := tinyImages(b)
	for name, ds := range map[string]dataset.Dataset{"bytes": bytes, "normalized": normalized} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				l := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(64), loader.Shuffle(true))
				n := 0
				compare(b, ds.Len(), side{"samples", func() time.Duration { n++; return epoch(b, l, n) }})
			})
		}
	}
}

// blankImages is a dataset of images that cost nothing to load.
func blankImages(n, size int) dataset.Dataset {
	return dataset.Func(n, data.Image(size), func(context.Context, int, dataset.Slot) error { return nil })
}
