package dataset

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/penstock-go/penstock/internal/idx"
)

// WriteMNIST writes all samples of ds as the two files that [MNIST] reads. The
// field "image", uint8 (1, h, w) or (h, w), goes to images. The field "label",
// an integer from 0 to 255, goes to labels. Random transforms draw the numbers
// of seed 0 and epoch 0.
func WriteMNIST(ctx context.Context, images, labels io.Writer, ds Dataset) error {
	image, err := imageField(ds, "(1, h, w) or (h, w)", func(s Shape) bool {
		return len(s) == 2 || len(s) == 3 && s[0] == 1
	})
	if err != nil {
		return err
	}
	class, err := labelField(ds, "label")
	if err != nil {
		return err
	}
	shape := ds.Spec()[image].Shape
	x, y := bufio.NewWriterSize(images, 64<<10), bufio.NewWriter(labels)
	imageHeader, err := idx.Header(reflect.Uint8, []int{ds.Len(), shape[len(shape)-2], shape[len(shape)-1]})
	if err != nil {
		return fmt.Errorf("dataset: write MNIST: %w", err)
	}
	labelHeader, err := idx.Header(reflect.Uint8, []int{ds.Len()})
	if err != nil {
		return fmt.Errorf("dataset: write MNIST: %w", err)
	}
	x.Write(imageHeader) // Flush returns its error
	y.Write(labelHeader)
	err = Each(ctx, ds, func(i int, s Slot) error {
		v, err := label(s.Cell(class), 256)
		if err != nil {
			return fmt.Errorf("dataset: write sample %d: %w", i, err)
		}
		y.WriteByte(v) // Flush returns its error
		return written(i, x, s.Cell(image).Bytes())
	})
	if err != nil {
		return err
	}
	if err := flushed(x); err != nil {
		return err
	}
	return flushed(y)
}
