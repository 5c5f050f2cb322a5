package trace_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// samples has n samples with names, placed by place.
func samples(n int, place func(i int, dst dataset.Slot) error) dataset.Dataset {
	return datatest.Named(datatest.Numbers(n, place), func(i int) string { return fmt.Sprintf("%d.jpg", i) })
}

// photos is a dataset whose samples take 3 ms to read and 5 ms to decode.
func photos(n int) dataset.Dataset {
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

func photosWithoutTime(n int) dataset.Dataset {
	return samples(n, func(i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		dst.Stage(dataset.StageDecode)
		return nil
	})
}
