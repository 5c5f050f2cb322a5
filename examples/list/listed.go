package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/dataset"
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
	rows := csv.NewReader(list)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("read the names of the columns: %w", err)
	}
	path, class := slices.Index(header, "path"), slices.Index(header, "class")
	if path < 0 || class < 0 {
		return nil, fmt.Errorf("the columns are %q: want path and class", header)
	}
	l := &listed{files: files}
	for {
		row, err := rows.Read() // all rows have as many columns as the header
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		label := slices.Index(l.classes, row[class])
		if label < 0 {
			label = len(l.classes)
			l.classes = append(l.classes, row[class])
		}
		l.paths, l.labels = append(l.paths, row[path]), append(l.labels, int64(label))
	}
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

// Open makes a reader for one worker.
func (l *listed) Open() (dataset.Reader, error) { return reader{l}, nil }

// A reader holds nothing open between two samples.
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
