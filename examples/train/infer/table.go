package main

import (
	"encoding/csv"
	"io"
	"math"
	"path"
	"strconv"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/loader"
)

// A table is the result as CSV: one row per image, in order, also for images that
// cannot be read.
type table struct {
	photos  *dataset.Folder
	classes []string
	all     bool // a column per class
	csv     *csv.Writer
	row     []string
	next    int // the first image that has no row

	mu     sync.Mutex // for workers
	failed map[int]error

	failures      int // rows with an error
	named, agreed int // images in folders named like a class, and those of them given that class
}

func newTable(w io.Writer, photos *dataset.Folder, classes []string, all bool) (*table, error) {
	t := &table{photos: photos, classes: classes, all: all, failed: map[int]error{}, csv: csv.NewWriter(w)}
	header := []string{"file", "class", "probability", "error"}
	if all {
		header = append(header, classes...)
	}
	return t, t.csv.Write(header)
}

// fail keeps an image's error until its row is written. Workers call it.
func (t *table) fail(err *loader.SampleError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed[err.Index] = err.Err
}

// classified writes an image's row, after the missing rows before it.
func (t *table) classified(image int, logs []float32) error {
	if err := t.catchUp(image); err != nil {
		return err
	}
	t.next++
	best := net.Best(logs)
	name := t.photos.Name(image)
	t.row = append(t.row[:0], name, t.classes[best], probability(logs[best]), "")
	if t.all {
		for _, l := range logs {
			t.row = append(t.row, probability(l))
		}
	}
	folder := path.Base(path.Dir(name))
	for i, class := range t.classes {
		if class == folder {
			t.named++
			if i == best {
				t.agreed++
			}
		}
	}
	return t.csv.Write(t.row)
}

// catchUp writes the missing rows up to an image. These images could not be read.
func (t *table) catchUp(before int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; t.next < before; t.next++ {
		why := "lost" // this cannot happen, but a table must not hide it
		if err := t.failed[t.next]; err != nil {
			why = err.Error()
			delete(t.failed, t.next)
		}
		t.failures++
		t.row = append(t.row[:0], t.photos.Name(t.next), "", "", why)
		if t.all {
			t.row = append(t.row, make([]string, len(t.classes))...)
		}
		if err := t.csv.Write(t.row); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the missing rows of the first images, and the buffer.
func (t *table) flush(images int) error {
	if err := t.catchUp(images); err != nil {
		return err
	}
	t.csv.Flush()
	return t.csv.Error()
}

// probability is the exponential of a log-probability, with four decimals.
func probability(log float32) string {
	return strconv.FormatFloat(math.Exp(float64(log)), 'f', 4, 64)
}
