package otel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A fake is a dataset of n samples that take these times in the stages read and decode.
// The samples for which bad is true cannot be placed.
type fake struct {
	n            int
	read, decode time.Duration
	bad          func(i int) bool
}

func (f fake) Len() int { return f.n }

func (f fake) Spec() dataset.Spec { return dataset.Spec{{Name: "x", Dtype: dataset.Int64}} }

func (f fake) Name(i int) string { return fmt.Sprintf("sample-%d", i) }

func (f fake) Open() (dataset.Reader, error) { return reader{f}, nil }

type reader struct{ fake }

func (r reader) Place(_ context.Context, i int, dst dataset.Slot) error {
	if r.read > 0 {
		dst.Stage(dataset.StageRead)
		time.Sleep(r.read)
	}
	if r.decode > 0 {
		dst.Stage(dataset.StageDecode)
		time.Sleep(r.decode)
	}
	if r.bad != nil && r.bad(i) {
		return errors.New("bad sample")
	}
	dataset.Set(dst, 0, int64(i))
	return nil
}

func (r reader) Close() error { return nil }

// epoch runs a loop whose body takes that long.
func epoch(t testing.TB, ctx context.Context, l *loader.Loader, body time.Duration) {
	t.Helper()
	for _, err := range l.Epoch(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if body > 0 {
			time.Sleep(body)
		}
	}
}
