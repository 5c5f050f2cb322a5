package transform_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"log"
	"sync"

	"github.com/penstock-go/penstock/transform"
)

// The requests of a server fill the rows of a batch, each in its own goroutine. The client of row 2 has gone. All images
// take at most 1 GiB together.
func ExampleSource_Context() {
	model, err := transform.Compile(transform.Resize(256), transform.CenterCrop(224), transform.ToTensor(), transform.MaxMemory(1<<30))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 640, 480))); err != nil {
		log.Fatal(err)
	}

	const rows = 4
	values := model.Spec()[0].Elements()
	batch := make([]float32, rows*values) // of the shape (4, 3, 224, 224)
	var errs [rows]error
	var requests sync.WaitGroup
	for row := range rows {
		requests.Go(func() {
			ctx, gone := context.WithCancel(context.Background())
			defer gone()
			if row == 2 {
				gone()
			}
			errs[row] = model.Into(batch[row*values:][:values], transform.File(file.Bytes()).Context(ctx))
		})
	}
	requests.Wait()
	fmt.Println(errs)
	// Output:
	// [<nil> <nil> transform: context canceled <nil>]
}
