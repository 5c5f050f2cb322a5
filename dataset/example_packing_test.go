package dataset_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// Five samples are packed by a program that is killed after the second one and
// started again.
func ExamplePacking() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{2}}}

	for _, until := range []int{2, 5} {
		p, err := dataset.NewPacking(context.Background(), filepath.Join(dir, "train.packed"), spec,
			dataset.ClassNames([]string{"cat", "dog"}), dataset.Job("five made-up samples"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("goes on with sample", p.Next())
		for i := p.Next(); i < until; i++ {
			if i == 3 {
				err = p.Skip(i, "unreadable")
			} else {
				err = p.Append([]int{i}, tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float32{float32(i), .5})))
			}
			if err != nil {
				log.Fatal(err)
			}
		}
		if until == 5 {
			if err := p.Finish(); err != nil {
				log.Fatal(err)
			}
			fmt.Println(p.Len(), "packed, left out:", p.Skipped())
		}
		if err := p.Close(); err != nil {
			log.Fatal(err)
		}
	}

	ds, err := dataset.PackedTensors(os.DirFS(dir), "train.packed", nil) // or dataset.Unchecked()
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), ds, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec(), ds.Classes(), "checked:", ds.Checks())
	fmt.Println(dataset.Name(ds, 3), s["x"].Data())
	// Output:
	// goes on with sample 0
	// goes on with sample 2
	// 4 packed, left out: [{3 unreadable}]
	// x float32 (2) [cat dog] checked: true
	// train.packed, record 3 [4 0.5]
}
