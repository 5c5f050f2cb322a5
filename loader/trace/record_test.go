package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// named is a dataset of int64 samples with names.
type named struct {
	dataset.Dataset
	name func(i int) string
}

func (n named) Name(i int) string { return n.name(i) }

// samples is a dataset of n samples, placed by place.
func samples(n int, place func(i int, dst dataset.Slot) error) named {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Int64}}
	ds := dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		return place(i, dst)
	})
	return named{ds, func(i int) string { return fmt.Sprintf("%d.jpg", i) }}
}

// photos is a dataset whose samples take 3 ms to read and 5 ms to decode.
func photos(n int) named {
	return samples(n, func(i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		time.Sleep(3 * time.Millisecond)
		dst.Stage(dataset.StageDecode)
		time.Sleep(5 * time.Millisecond)
		return nil
	})
}

// record loads epochs and returns the file. body is the loop body.
func record(t *testing.T, ds dataset.Dataset, epochs int, body func(b *loader.Batch) bool, options ...loader.Option) []byte {
	t.Helper()
	var file bytes.Buffer
	l, err := loader.New(ds, append(options, loader.Observe(trace.File(&file)))...)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range l.Epochs(t.Context(), 0, epochs) {
		if err != nil {
			t.Fatal(err)
		}
		if !body(b) {
			break
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func photosWithoutTime(n int) named {
	return samples(n, func(i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		dst.Stage(dataset.StageDecode)
		return nil
	})
}
