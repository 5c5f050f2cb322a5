package dataset

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
)

// WriteCIFAR10 writes all samples of ds to w as a file that [CIFAR10] reads.
// The samples have the fields "image", uint8 (3, 32, 32), and "label", an integer from
// 0 to 9. Random transforms draw the numbers of seed 0 and epoch 0.
func WriteCIFAR10(ctx context.Context, w io.Writer, ds Dataset) error {
	return writeCIFAR(ctx, w, ds, []cifarLabel{{field: "label", classes: 10}})
}

// WriteCIFAR100 is [WriteCIFAR10] for a file that [CIFAR100] reads. Labels are
// 0 to 99, and a field "coarse" is an integer from 0 to 19.
func WriteCIFAR100(ctx context.Context, w io.Writer, ds Dataset) error {
	return writeCIFAR(ctx, w, ds, []cifarLabel{{field: "coarse", classes: 20}, {field: "label", classes: 100}})
}

func writeCIFAR(ctx context.Context, w io.Writer, ds Dataset, labels []cifarLabel) error {
	image, err := imageField(ds, "(3, 32, 32)", func(s Shape) bool {
		return slices.Equal(s, Shape{3, cifarSide, cifarSide})
	})
	if err != nil {
		return err
	}
	places := make([]int, len(labels))
	for l := range labels {
		if places[l], err = labelField(ds, labels[l].field); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	err = Each(ctx, ds, func(i int, s Slot) error {
		for l, k := range places {
			v, err := label(s.Cell(k), labels[l].classes)
			if err != nil {
				return fmt.Errorf("dataset: write sample %d: field %q: %w", i, labels[l].field, err)
			}
			out.WriteByte(v) // Flush returns its error
		}
		return written(i, out, s.Cell(image).Bytes())
	})
	if err != nil {
		return err
	}
	return flushed(out)
}

// written writes bytes of sample i to w.
func written(i int, w io.Writer, bytes []byte) error {
	if _, err := w.Write(bytes); err != nil {
		return fmt.Errorf("dataset: write sample %d: %w", i, err)
	}
	return nil
}

func flushed(w *bufio.Writer) error {
	if err := w.Flush(); err != nil {
		return fmt.Errorf("dataset: write: %w", err)
	}
	return nil
}
