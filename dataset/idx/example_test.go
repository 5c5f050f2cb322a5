package idx_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/idx"
)

// An array is written as an IDX file and read again.
func Example() {
	ctx := context.Background()
	signals, err := dataset.Tensors(dataset.Named("signal", [][4]float32{{1, 2, 3, 4}, {5, 6, 7, 8}}))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := idx.Write(ctx, &file, signals, "signal"); err != nil {
		log.Fatal(err)
	}
	ds, err := idx.Open(fstest.MapFS{"signals-idx2-float": {Data: file.Bytes()}}, "signals-idx2-float", "x")
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec(), s["x"].Data())
	// Output: 2 x float32 (4) [5 6 7 8]
}
