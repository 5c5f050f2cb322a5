// Dataset shows how to write your own dataset: images that a CSV file lists, with their classes. It is the custom
// dataset of PyTorch's tutorial. It prints the batches of an epoch.
//
//	go run ./examples/dataset [-csv FILE -dir DIR]
//
// FILE has the columns path and class. Paths begin in DIR.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// listed is a dataset of the images in a list.
type listed struct {
	files   fs.FS
	paths   []string
	labels  []int64 // of every path, an index into classes
	classes []string
}

// open reads the list. Classes are numbered in the order in which they come.
func open(files fs.FS, list io.Reader) (*listed, error) {
	rows, err := csv.NewReader(list).ReadAll() // all rows have as many columns as the first one
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Contains(rows[0], "path") || !slices.Contains(rows[0], "class") {
		return nil, fmt.Errorf("want the columns path and class")
	}
	path, class := slices.Index(rows[0], "path"), slices.Index(rows[0], "class")
	l := &listed{files: files}
	for _, row := range rows[1:] {
		label := slices.Index(l.classes, row[class])
		if label < 0 {
			label = len(l.classes)
			l.classes = append(l.classes, row[class])
		}
		l.paths, l.labels = append(l.paths, row[path]), append(l.labels, int64(label))
	}
	return l, nil
}

func (l *listed) Len() int { return len(l.paths) }

// Spec says that a sample is an encoded image, which transform.Images decodes, and a label.
func (l *listed) Spec() dataset.Spec {
	return dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true}, // files have different sizes
		{Name: "label", Dtype: dataset.Int64},
	}
}

// Name is what error messages call a sample.
func (l *listed) Name(i int) string { return l.paths[i] }

// Open makes a reader for one worker. Its fields may hold open files, decoders and memory; this one needs none.
func (l *listed) Open() (dataset.Reader, error) { return reader{l}, nil }

type reader struct{ *listed }

// Place reads the file of sample i into the batch. It is __getitem__ of a PyTorch dataset.
func (r reader) Place(_ context.Context, i int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead) // so that statistics tell reading from decoding
	file, err := r.files.Open(r.paths[i])
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	dataset.Set(dst, 1, r.labels[i])
	_, err = io.ReadFull(file, dataset.Grow[uint8](dst, 0, int(info.Size()))) // into the batch, without a copy
	return err
}

func (r reader) Close() error { return nil }

func main() {
	log.SetFlags(0)
	list := flag.String("csv", "examples/dataset/list.csv", "`file` that lists the images, with the columns path and class")
	dir := flag.String("dir", "examples/images/photos", "`folder` in which the paths begin")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(*list, *dir); err != nil {
		log.Fatal(err)
	}
}

func run(list, dir string) error {
	f, err := os.Open(list)
	if err != nil {
		return fmt.Errorf("-csv: %w", err)
	}
	defer f.Close()
	images, err := open(os.DirFS(dir), f)
	if err != nil {
		return fmt.Errorf("-csv %s: %w", list, err)
	}
	ds, err := transform.Images(images, transform.Eval(224))
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
			fmt.Printf("  %s: %s\n", batch.Name(row), images.classes[label])
		}
	}
	return nil
}
