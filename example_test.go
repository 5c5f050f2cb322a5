package penstock_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

func Example() {
	photos, err := dataset.ImageFolder(os.DirFS("photos")) // photos/cat/1.jpg, photos/dog/2.jpg, …
	check(err)
	ds, err := transform.Images(photos, transform.Train(224)) // random crops and flips; Eval(224) for evaluation
	check(err)
	l, err := loader.New(ds, loader.BatchSize(128), loader.Shuffle(true))
	check(err)
	defer l.Close()
	for batch, err := range l.Epochs(context.Background(), 0, 3) {
		check(err)
		x, y := batch.Tensor("image"), batch.Tensor("label") // tensors over the batch's memory, no copy
		fmt.Println(x.Shape(), y.Shape())                    // (128, 3, 224, 224) (128), or fewer at the end: train here
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
