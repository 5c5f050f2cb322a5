// List shows how to write your own dataset of files: images that a CSV file lists, with their
// classes. It prints the batches of an epoch, and writes nothing. It takes less than a second.
//
//	go run ./examples/list [-csv FILE -dir DIR]
//
// FILE has the columns path and class. Paths begin in DIR. Without flags, the images are the
// project's own.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

//go:embed list.csv
var own string

func main() {
	var list, dir string
	usage.File(&list, "csv", "`file` that lists the images, with the columns path and class; the project's own by default")
	usage.Folder(&dir, "dir", "`folder` in which the paths begin")
	usage.Parse("List loads the images that a CSV file lists, with their classes.")
	if err := run(list, dir); err != nil {
		usage.Fatal(err)
	}
}

func run(list, dir string) error {
	if (list == "") != (dir == "") {
		return usage.Errorf("-csv and -dir: want both or none")
	}
	rows, files := io.Reader(strings.NewReader(own)), fs.FS(photos.Files)
	if list != "" {
		f, err := os.Open(list)
		if err != nil {
			return err
		}
		defer f.Close()
		rows, files = f, os.DirFS(dir)
	}
	listed, err := open(files, rows)
	if err != nil {
		return usage.Errorf("-csv %s: %w", list, err)
	}
	ds, err := transform.Images(listed, transform.Eval(224))
	if err != nil {
		return err
	}
	l, err := loader.New(ds, loader.BatchSize(3), loader.Shuffle(true))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err // it names the file
		}
		fmt.Println(batch)
		for row, label := range loader.Values[int64](batch, "label") {
			fmt.Printf("  %s: %s\n", batch.Name(row), listed.classes[label])
		}
	}
	return nil
}
