package packed

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/penstock-go/penstock/dataset"
)

// Write writes all samples of ds to w as a file that [Open] reads, in the order
// of ds. classes are the names of the classes, if there are any. Write calls
// w.Write once per field of a sample, so use a bufio.Writer if samples are
// small. Random transforms draw the numbers of seed 0 and epoch 0.
func Write(ctx context.Context, w io.Writer, ds dataset.Dataset, classes ...string) error {
	t := &trailer{spec: ds.Spec(), classes: classes}
	var err error
	if t.record, err = recordSize(t.spec); err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	err = writeRecords(ctx, w, ds, func(s dataset.Slot) {
		var sum uint32
		for k := range s.Len() {
			sum = crc32.Update(sum, castagnoli(), s.Cell(k).Bytes())
		}
		t.sums = append(t.sums, sum)
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

// WriteRaw writes all samples of ds to w as a file that [OpenRaw] reads,
// without checksums or description. It calls w.Write once per field of a
// sample. Random transforms draw the numbers of seed 0 and epoch 0.
func WriteRaw(ctx context.Context, w io.Writer, ds dataset.Dataset) error {
	if _, err := recordSize(ds.Spec()); err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	return writeRecords(ctx, w, ds, func(dataset.Slot) {})
}

// writeRecords writes the samples and calls written for each.
func writeRecords(ctx context.Context, w io.Writer, ds dataset.Dataset, written func(dataset.Slot)) error {
	return dataset.Each(ctx, ds, func(i int, s dataset.Slot) error {
		if err := writeRecord(w, s); err != nil {
			return fmt.Errorf("packed: write sample %d: %w", i, err)
		}
		written(s)
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
