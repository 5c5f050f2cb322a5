package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/idx"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// cifar is 50,000 pictures of noise in CIFAR-10's format, fewer in a quick run.
func cifar(b *testing.B) dataset.Dataset {
	b.Helper()
	n := sized(5_000, 50_000, 50_000)
	data := make([]byte, n*3073)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	for i := range n {
		data[i*3073] = byte(i % 10)
	}
	ds, err := dataset.CIFAR10(fstest.MapFS{"x": {Data: data}}, dataset.Train, dataset.CIFARFiles("x"))
	if err != nil {
		b.Fatal(err)
	}
	return ds
}

// BenchmarkCIFAR loads shuffled epochs of CIFAR-10: the bytes as they are, and
// as a network takes them, after ToTensor and Normalize.
func BenchmarkCIFAR(b *testing.B) {
	plain := cifar(b)
	for _, steps := range []string{"bytes", "normalized"} {
		for _, workers := range []int{1, 2} {
			for _, batch := range []int{64, 256} {
				b.Run(fmt.Sprintf("%s/workers=%d/batch=%d", steps, workers, batch), func(b *testing.B) {
					ds := plain
					if steps == "normalized" {
						var err error
						ds, err = transform.Images(ds, transform.ToTensor(), transform.Normalize([]float32{.5}, []float32{.5}))
						if err != nil {
							b.Fatal(err)
						}
					}
					l := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(batch), loader.Shuffle(true))
					n := 0
					for b.Loop() {
						n++
						epoch(b, l, n)
					}
					b.ReportMetric(float64(ds.Len())*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
				})
			}
		}
	}
}

// BenchmarkNpy loads items of 602,112 bytes from one array, plain and of the
// other byte order, and from a file per item, and, in turn, has as many
// goroutines do nothing but pread them into memory of the same size.
func BenchmarkNpy(b *testing.B) {
	for _, workers := range []int{1, 2} {
		dir := npyFiles(b)
		b.Run(fmt.Sprintf("array/workers=%d", workers), func(b *testing.B) {
			compareArray(b, dir, "array.npy", workers)
		})
		b.Run(fmt.Sprintf("big-endian/workers=%d", workers), func(b *testing.B) {
			compareArray(b, dir, "swapped.npy", workers)
		})
		b.Run(fmt.Sprintf("files/workers=%d", workers), func(b *testing.B) {
			ds, err := npy.Items(os.DirFS(dir), "items/*.npy", "image")
			if err != nil {
				b.Fatal(err)
			}
			names, err := filepath.Glob(filepath.Join(dir, "items", "*.npy"))
			if err != nil {
				b.Fatal(err)
			}
			compareWithPread(b, ds, workers, 16, func(i int, dst []byte) error {
				f, err := os.Open(names[i])
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = f.ReadAt(dst, 128)
				return err
			})
		})
	}
}

func compareArray(b *testing.B, dir, name string, workers int) {
	ds, err := npy.Open(os.DirFS(dir), name, "image")
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	compareWithPread(b, ds, workers, 16, func(i int, dst []byte) error {
		_, err := f.ReadAt(dst, 128+int64(i)*int64(len(dst)))
		return err
	})
}

// npyFiles has the items as one array, the same in the other byte order, and a
// file per item.
func npyFiles(b *testing.B) string {
	return made(b, "npy", func(dir string) error {
		ctx := context.Background()
		if err := create(filepath.Join(dir, "array.npy"), func(w io.Writer) error {
			return npy.Write(ctx, w, randomItems(), item[0].Name)
		}); err != nil {
			return err
		}
		plain, err := os.ReadFile(filepath.Join(dir, "array.npy"))
		if err != nil {
			return err
		}
		swapped := bytes.Replace(plain, []byte("'<f4'"), []byte("'>f4'"), 1)
		if err := os.WriteFile(filepath.Join(dir, "swapped.npy"), swapped, 0o666); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(dir, "items"), 0o777); err != nil {
			return err
		}
		size := item[0].Bytes()
		for i := range items {
			one, err := dataset.Tensors(dataset.Named("image", dense.Tensor(item[0].Dtype, item[0].Shape, plain[128+i*size:][:size])))
			if err != nil {
				return err
			}
			if err := create(filepath.Join(dir, "items", fmt.Sprintf("%05d.npy", i)), func(w io.Writer) error {
				return npy.Write(ctx, w, one, "image")
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func create(name string, fill func(w io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// BenchmarkGzippedIDX opens a file of MNIST's size, 60,000 pictures of 784 bytes
// compressed by gzip, and, in turn, decompresses it and does nothing else.
func BenchmarkGzippedIDX(b *testing.B) {
	pixels := make([]uint8, 60_000*28*28)
	for i := range pixels {
		if y := i / 28 % 28; y > 4 && y < 24 && i*i>>5%3 == 0 {
			pixels[i] = byte(i * i >> 9)
		}
	}
	images := tensor.New(tensor.WithShape(60_000, 28, 28), tensor.WithBacking(pixels))
	source, err := dataset.Tensors(dataset.Named("image", images))
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	if err := idx.Write(b.Context(), z, source, "image"); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	fsys := fstest.MapFS{"x.gz": {Data: file.Bytes()}}
	to := make([]byte, len(pixels)+16)
	compare(b, 60_000,
		side{"idx", func() time.Duration {
			begun := time.Now()
			if _, err := idx.Open(fsys, "x.gz", "image"); err != nil {
				b.Fatal(err)
			}
			return time.Since(begun)
		}},
		side{"gzip", func() time.Duration {
			begun := time.Now()
			r, err := gzip.NewReader(bytes.NewReader(file.Bytes()))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(r, to); err != nil {
				b.Fatal(err)
			}
			return time.Since(begun)
		}})
}
