package dataset_test

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

// journal is a dataset of one field that records every call. Its
// samples are 10·id, 10·id+1, …
type journal struct {
	id, n   int
	batches bool  // its Reader is a BatchReader
	refuse  error // of Open
	stuck   error // of Close
	fails   error // of Place
	log     *[]string
}

func (j journal) note(format string, args ...any) {
	*j.log = append(*j.log, fmt.Sprintf("%d: ", j.id)+fmt.Sprintf(format, args...))
}

func (j journal) Len() int          { return j.n }
func (j journal) Name(i int) string { return fmt.Sprintf("%d.%d", j.id, i) }

func (j journal) Spec() dataset.Spec {
	return dataset.Spec{{Name: "x", Dtype: dataset.Int}}
}

func (j journal) Open() (dataset.Reader, error) {
	j.note("open")
	if j.refuse != nil {
		return nil, j.refuse
	}
	if j.batches {
		return journalBatchReader{journalReader{j}}, nil
	}
	return journalReader{j}, nil
}

type journalReader struct{ journal }

func (j journalReader) Place(_ context.Context, i int, dst dataset.Slot) error {
	j.note("place %d", i)
	dataset.Set(dst, 0, 10*j.id+i)
	return j.fails
}

func (j journalReader) Close() error {
	j.note("close")
	return j.stuck
}

type journalBatchReader struct{ journalReader }

func (j journalBatchReader) PlaceBatch(_ context.Context, indices []int, dst dataset.Slots) error {
	j.note("batch %v of %d", indices, dst.Len())
	for k, i := range indices {
		if err := dataset.CheckIndex(i, j.n); err != nil {
			return err
		}
		dataset.Set(dst.At(k), 0, 10*j.id+i)
	}
	return nil
}

func values(s datatest.Slots) [][]int {
	got := make([][]int, len(s))
	for k := range s {
		for f := range s[k].Len() {
			got[k] = append(got[k], dataset.Row[int](s[k], f)[0])
		}
	}
	return got
}

// y is ds with its field named y.
func y(ds dataset.Dataset) dataset.Dataset {
	return must(dataset.Rename(ds, map[string]string{"x": "y"}))
}
