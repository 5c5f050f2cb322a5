package bench_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

var photosDir = flag.String("photos", "", "folder of photos, with a folder per class; made-up ones by default")

// photos is the photos of the flag, or a hundred made-up ones of 500×375 pixels
// and about 110 KB, with the given steps.
func photos(b *testing.B, steps ...transform.Step) dataset.Dataset {
	b.Helper()
	dir := *photosDir
	if dir == "" {
		dir = madePhotos(b)
	}
	folder, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		b.Fatal(err)
	}
	ds, err := transform.Images(folder, steps...)
	if err != nil {
		b.Fatal(err)
	}
	return ds
}

// repeated makes ds as long as n samples by going over it again.
func repeated(b *testing.B, ds dataset.Dataset, n int) dataset.Dataset {
	b.Helper()
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i % ds.Len()
	}
	long, err := dataset.Subset(ds, indices)
	if err != nil {
		b.Fatal(err)
	}
	return long
}

// cache is where the made-up data lies while the benchmarks run.
var cache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "penstock-bench-") })

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if dir, err := cache(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// made is a folder of the cache that fill fills once.
func made(b *testing.B, name string, fill func(dir string) error) string {
	b.Helper()
	root, err := cache()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		b.Fatal(err)
	}
	if err := fill(dir); err != nil {
		b.Fatal(err)
	}
	return dir
}

func madePhotos(b *testing.B) string {
	return made(b, "photos", func(dir string) error {
		if err := os.Mkdir(filepath.Join(dir, "noise"), 0o777); err != nil {
			return err
		}
		for i := range 100 {
			if err := writePhoto(filepath.Join(dir, "noise", fmt.Sprintf("%03d.jpg", i)), uint64(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// writePhoto makes a picture with detail at several scales, as photos have it.
func writePhoto(path string, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0))
	img := image.NewRGBA(image.Rect(0, 0, 500, 375))
	var waves [12][4]float64 // frequency in x and y, phase, amplitude
	for i := range waves {
		f := math.Exp(r.Float64()*5 - 6)
		angle := 2 * math.Pi * r.Float64()
		waves[i] = [4]float64{f * math.Cos(angle), f * math.Sin(angle), 2 * math.Pi * r.Float64(), 40 / (1 + 5*f)}
	}
	for y := range 375 {
		for x := range 500 {
			v := 128 + 26*(r.Float64()-0.5)
			for _, w := range waves {
				v += w[3] * math.Sin(w[0]*float64(x)+w[1]*float64(y)+w[2])
			}
			level := func(shift float64) uint8 { return uint8(min(max(v+shift, 0), 255)) }
			img.SetRGBA(x, y, color.RGBA{level(0), level(20 * math.Sin(v/40)), level(-15), 255})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	if err := jpeg.Encode(w, img, &jpeg.Options{Quality: 93}); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// item is a preprocessed picture: 602,112 bytes.
var item = dataset.Spec{{Name: "image", Dtype: tensor.Float32, Shape: tensor.Shape{3, 224, 224}}}

const items = 256 // 154 MB, more than any cache but the page cache

func randomItems() dataset.Dataset {
	return dataset.Func(items, item, func(_ context.Context, i int, dst dataset.Slot) error {
		row := dataset.Row[float32](dst, 0)
		for k := range row {
			row[k] = float32(i*k) / 7
		}
		return nil
	})
}

func itemFiles(b *testing.B) string {
	return made(b, "items", func(dir string) error {
		return dataset.WriteItems(context.Background(), dir, randomItems())
	})
}

func packedFile(b *testing.B) string {
	dir := made(b, "packed", func(dir string) error {
		f, err := os.Create(filepath.Join(dir, "items.bin"))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := dataset.WritePacked(context.Background(), f, randomItems()); err != nil {
			return err
		}
		return f.Close()
	})
	return filepath.Join(dir, "items.bin")
}
