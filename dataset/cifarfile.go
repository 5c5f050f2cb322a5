package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/pickle"
)

// A cifarFile is what one file holds.
type cifarFile struct {
	data   []byte
	record int // bytes from one image to the next
	skip   int // bytes before the first image
	labels [][]int64
}

// pickled is the first byte of a pickle. No label has this value.
const pickled = 0x80

// oldPickled are the first bytes of a dictionary that protocols 0 and 1 write. No label has the
// value of the first one.
var oldPickled = []string{"(d", "}q", "}("}

// parse reads a file of size bytes of either version.
func (r *cifarReader) parse(in *files.Input, size int64) (*cifarFile, error) {
	if size > r.limit {
		return nil, fmt.Errorf("%d bytes of images, more than the %d that are left of the limit of %d", size, r.limit, maxImageBytes)
	}
	if err := in.Holds(size); err != nil {
		return nil, err
	}
	r.limit -= size
	begin, err := in.Peek(2)
	switch {
	case err != nil: // too short for anything
	case begin[0] == pickled:
		return r.parsePickle(in, size)
	case slices.Contains(oldPickled, string(begin)):
		return nil, errors.New("a pickle of protocol 0 or 1, want 2 to 5: pickle.dump(value, file, 2) writes such a file")
	}
	return r.parseBinary(in, size)
}

// parseBinary reads records that begin with a byte per label, in reverse order.
func (r *cifarReader) parseBinary(in *files.Input, size int64) (*cifarFile, error) {
	skip := len(r.set.labels)
	record := skip + cifarBytes
	if size == 0 {
		return nil, fmt.Errorf("file of 0 bytes, want at least one image of %d", record)
	}
	if size%int64(record) != 0 {
		return nil, fmt.Errorf("file of %d bytes, want a multiple of %d: %d images and %d bytes", size, record, size/int64(record), size%int64(record))
	}
	data, err := in.Rest(size)
	if err != nil {
		return nil, err
	}
	f := &cifarFile{data, record, skip, make([][]int64, skip)}
	for at := 0; at < len(data); at += record {
		for l := range f.labels {
			f.labels[l] = append(f.labels[l], int64(data[at+skip-1-l]))
		}
	}
	return f, f.check(r.set.labels)
}

// parsePickle reads a dictionary of an array of images and lists of labels.
func (r *cifarReader) parsePickle(in *files.Input, size int64) (*cifarFile, error) {
	var b budget.Budget
	dict, err := readDict(in, size, &b)
	if err != nil {
		return nil, err
	}
	images, ok := dict.Get("data").(*pickle.Array)
	if !ok {
		return nil, errors.New(`key "data" is missing or not an array`)
	}
	if images.Type != "u1" || images.Fortran || len(images.Shape) != 2 || images.Shape[1] != cifarBytes {
		return nil, fmt.Errorf("array of %s %v, want images: u1 [n %d]", images.Type, images.Shape, cifarBytes)
	}
	f := &cifarFile{data: images.Data, record: cifarBytes, labels: make([][]int64, len(r.set.labels))}
	for l, label := range r.set.labels {
		if f.labels[l], err = pickle.Integers(dict.Get(label.lists), &b); err != nil {
			return nil, fmt.Errorf("key %q: %w", label.lists, err)
		}
		if got, want := len(f.labels[l]), images.Shape[0]; got != want {
			return nil, fmt.Errorf("key %q: %d labels for %d images", label.lists, got, want)
		}
	}
	return f, f.check(r.set.labels)
}

func readDict(r io.Reader, size int64, b *budget.Budget) (*pickle.Dict, error) {
	v, err := pickle.Read(r, size, b)
	if err != nil {
		return nil, err
	}
	dict, ok := v.(*pickle.Dict)
	if !ok {
		return nil, errors.New("pickle: not a dictionary")
	}
	return dict, nil
}

// check compares the labels with the number of classes.
func (f *cifarFile) check(labels []cifarLabel) error {
	for l, label := range labels {
		for k, v := range f.labels[l] {
			if v < 0 || v >= int64(label.classes) {
				return fmt.Errorf("image %d: %s %d, want 0 to %d", k, label.field, v, label.classes-1)
			}
		}
	}
	return nil
}

// maxNames is the maximum size of a file of class names, in bytes.
const maxNames = 64 << 10

// parseNames reads class names: those of label l, one per line, or those of all
// labels from a pickle.
func (r *cifarReader) parseNames(from io.Reader, v *cifarVersion, l int) error {
	text, err := io.ReadAll(io.LimitReader(from, maxNames+1))
	if err == nil && len(text) > maxNames {
		err = fmt.Errorf("more than %d bytes of names", maxNames)
	}
	if err != nil {
		return err
	}
	if v.python {
		var b budget.Budget
		dict, err := readDict(bytes.NewReader(text), int64(len(text)), &b)
		if err != nil {
			return err
		}
		for l, label := range r.set.labels {
			names, err := pickle.Texts(dict.Get(label.names), &b)
			if err != nil {
				return fmt.Errorf("key %q: %w", label.names, err)
			}
			if err := r.setNames(l, names); err != nil {
				return fmt.Errorf("key %q: %w", label.names, err)
			}
		}
		return nil
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	for k := range lines {
		lines[k] = strings.TrimSpace(lines[k])
	}
	return r.setNames(l, slices.DeleteFunc(lines, func(s string) bool { return s == "" }))
}

func (r *cifarReader) setNames(l int, names []string) error {
	if want := r.set.labels[l].classes; len(names) != want {
		return fmt.Errorf("%d class names, want %d", len(names), want)
	}
	r.names[l] = names
	return nil
}
