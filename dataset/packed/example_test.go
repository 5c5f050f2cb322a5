package packed_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
)

// A program packs five samples. It stops after the second one and is started
// again.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	samples, err := dataset.Tensors(dataset.Named("x", [][2]float32{{0, .5}, {1, .5}, {2, .5}, {3, .5}, {4, .5}}))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(samples, loader.BatchSize(1))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	for _, until := range []int{2, 5} {
		p, err := packed.Create(ctx, filepath.Join(dir, "train.packed"), samples.Spec(),
			packed.Classes("cat", "dog"), packed.Origin("five made-up samples"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("begins at sample", p.Next())
		from := l.Position(0)
		from.Draw = p.Next()
		for batch, err := range l.From(ctx, from, 1) {
			if err != nil {
				log.Fatal(err)
			}
			if p.Next() == until {
				break
			}
			if err := p.AppendBatch(batch.Indices(), batch); err != nil {
				log.Fatal(err)
			}
		}
		if until == 5 {
			if err := p.Finish(); err != nil {
				log.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			log.Fatal(err)
		}
	}

	ds, err := packed.Open(os.DirFS(dir), "train.packed")
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Classes(), ds.Origin())
	fmt.Println(ds.Name(3), s["x"].Data())
	// Output:
	// begins at sample 0
	// begins at sample 2
	// 5 [cat dog] five made-up samples
	// train.packed, record 3 [3 0.5]
}

// Preprocessed samples are stored once, in one file.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	expensive, err := dataset.Tensors(dataset.Named("x", [][2]float32{{1, 2}, {3, 4}, {5, 6}}))
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "train.packed"))
	if err != nil {
		log.Fatal(err)
	}
	if err := packed.Write(ctx, f, expensive); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	cheap, err := packed.Open(os.DirFS(dir), "train.packed")
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, cheap, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dataset.Name(cheap, 2), s["x"].Data())
	// Output: train.packed, record 2 [5 6]
}

// Preprocessed samples are stored once, a file per sample.
func ExampleItems() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	expensive, err := dataset.Tensors(dataset.Named("x", [][2]float32{{1, 2}, {3, 4}, {5, 6}}))
	if err != nil {
		log.Fatal(err)
	}
	if err := packed.WriteItems(ctx, dir, expensive); err != nil {
		log.Fatal(err)
	}
	cheap, err := packed.Items(os.DirFS(dir), "*.raw", expensive.Spec())
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, cheap, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dataset.Name(cheap, 2), s["x"].Data())
	// Output: 00000002.raw [5 6]
}

// Raw records are exchanged with other programs: NumPy's tofile writes such a file, and
// numpy.fromfile reads it.
func ExampleOpenRaw() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	points, err := dataset.Tensors(dataset.Named("x", [][]float32{{1, 2}, {3, 4}, {5, 6}}))
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "points.raw"))
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(packed.WriteRaw(ctx, f, points), f.Close()); err != nil {
		log.Fatal(err)
	}

	// The file does not say what it holds, so the spec does.
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{2}}}
	ds, err := packed.OpenRaw(os.DirFS(dir), "points.raw", spec)
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), s["x"].Data())
	// Output: 3 [5 6]
}
