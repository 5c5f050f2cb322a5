package arrays

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/encoding"
)

// Field is the index of the field of ds with that name, which must have a fixed size. It is an
// error if ds is nil.
func Field(ds dataset.Dataset, name string) (int, error) {
	if ds == nil {
		return 0, errors.New("the dataset is nil")
	}
	spec := ds.Spec()
	if err := spec.Validate(); err != nil {
		return 0, err
	}
	k := spec.Index(name)
	switch {
	case k < 0:
		return 0, fmt.Errorf("no field %q: the dataset has %v", name, spec)
	case spec[k].Ragged:
		return 0, fmt.Errorf("field %v is ragged: want a fixed size", spec[k])
	}
	return k, nil
}

// Write writes a header and then field k of all samples, one by one as they are read.
func Write(ctx context.Context, w io.Writer, header []byte, ds dataset.Dataset, k int, e encoding.Encoding) error {
	out := bufio.NewWriterSize(w, 64<<10)
	out.Write(header) // its error is kept for Flush
	err := dataset.Each(ctx, ds, func(i int, s dataset.Slot) error {
		row := s.Cell(k).Bytes() // every sample is written anew, so it may be changed
		e.Encode(row)
		if _, err := out.Write(row); err != nil {
			return fmt.Errorf("write sample %d: %w", i, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
