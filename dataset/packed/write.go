package packed

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// Write writes all samples of ds to w as a file that [Open] reads, in the order
// of ds. It calls w.Write once per field of a sample, so use a bufio.Writer if
// samples are small. Random transforms draw the numbers of seed 0 and epoch 0.
func Write(ctx context.Context, w io.Writer, ds dataset.Dataset, options ...Option) error {
	if ds == nil {
		return errNoDataset
	}
	c := configOf(options)
	t, err := c.trailer(ds.Spec())
	if err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	err = writeRecords(ctx, w, ds, func(i int, s dataset.Slot) {
		var sum uint32
		for k := range s.Len() {
			bytes := s.Cell(k).Bytes()
			sum = crc32.Update(sum, castagnoli(), bytes)
			if t.spec[k].Ragged {
				t.layout.add(len(bytes))
			}
		}
		t.sums = append(t.sums, sum)
		if t.named {
			t.names = append(t.names, c.name(i))
		}
	})
	if err != nil {
		return err
	}
	end, err := t.encode()
	if err == nil {
		_, err = w.Write(end)
	}
	if err != nil {
		return fmt.Errorf("packed: write: %w", err)
	}
	return nil
}

// errNoDataset is the error of functions that write a dataset.
var errNoDataset = errors.New("packed: write: the dataset is nil")

// WriteRaw writes all samples of ds to w as a file that [OpenRaw] reads,
// without checksums or description. It calls w.Write once per field of a
// sample. Random transforms draw the numbers of seed 0 and epoch 0.
func WriteRaw(ctx context.Context, w io.Writer, ds dataset.Dataset) error {
	if ds == nil {
		return errNoDataset
	}
	if _, err := recordSize(ds.Spec()); err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	return writeRecords(ctx, w, ds, func(int, dataset.Slot) {})
}

// writeRecords writes the samples and calls written for each.
func writeRecords(ctx context.Context, w io.Writer, ds dataset.Dataset, written func(i int, s dataset.Slot)) error {
	return dataset.Each(ctx, ds, func(i int, s dataset.Slot) error {
		if err := writeRecord(w, s); err != nil {
			return fmt.Errorf("packed: write sample %d: %w", i, err)
		}
		written(i, s)
		return nil
	})
}

func writeRecord(w io.Writer, s dataset.Slot) error {
	for k := range s.Len() {
		if _, err := w.Write(s.Cell(k).Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// An Option changes what [Create] and [Write] do.
type Option struct{ set func(*config) }

type config struct {
	classes []string
	source  string
	names   func(i int) string
}

func configOf(options []Option) config {
	var c config
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	return c
}

// Classes sets the names of the classes, which [File.Classes] returns.
func Classes(names ...string) Option {
	return Option{func(c *config) { c.classes = slices.Clone(names) }}
}

// Names sets the names of the samples, which [File.Name] returns: name is called
// with their indices in the source. Names of more than 4 KiB are cut off. A Writer
// that continues calls name again for the samples that are there.
func Names(name func(i int) string) Option {
	return Option{func(c *config) { c.names = name }}
}

// Origin describes where the samples come from and how they are made: the
// files, the transforms. [File.Origin] returns it. A Writer continues the work of
// another one only if both have the same source, fields and classes.
func Origin(description string) Option {
	return Option{func(c *config) { c.source = description }}
}

// name is the name of a sample of the source.
func (c *config) name(i int) string {
	name := c.names(i)
	return name[:min(len(name), maxName)]
}

// trailer is that of a file without samples.
func (c *config) trailer(spec dataset.Spec) (*trailer, error) {
	l, err := layoutOf(spec)
	return &trailer{spec: spec, layout: l, classes: c.classes, source: c.source, named: c.names != nil}, err
}
