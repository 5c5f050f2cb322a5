package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// samples is a dataset with fields of fixed and of varying size, and random numbers.
func samples(n int) dataset.Dataset {
	return dataset.Func(n, dataset.Spec{
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "pairs", Dtype: dataset.Float32, Shape: dataset.Shape{2}, Ragged: true},
		{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{2, 3}},
		{Name: "yes", Dtype: dataset.Bool},
		{Name: "label", Dtype: dataset.Int64},
	}, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, i%7), strings.Repeat("x", 7))
		for k, x := 0, dataset.Grow[float32](dst, 1, i%3); k < len(x); k++ {
			x[k] = float32(i)
		}
		for k, x := 0, dataset.Row[float32](dst, 2); k < len(x); k++ {
			x[k] = dst.Rand().Float32()
		}
		dataset.Set(dst, 3, i%2 == 0)
		dataset.Set(dst, 4, int64(i))
		return nil
	})
}

var plan = []loader.Option{loader.BatchSize(4), loader.Shuffle(true), loader.Seed(3)}

// newReplica starts a replica of a service. before may answer requests itself.
func newReplica(t testing.TB, ds dataset.Dataset, before func(w http.ResponseWriter, r *http.Request) (answered bool), options ...serve.Option) string {
	t.Helper()
	s, err := serve.New(t.Context(), ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			s.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return web.URL
}

func open(t testing.TB, replicas []string, options ...remote.Option) *loader.Loader {
	t.Helper()
	l, err := remote.Open(t.Context(), replicas, options...)
	return closed(t, l, err)
}

func local(t testing.TB, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(ds, options...)
	return closed(t, l, err)
}

func closed(t testing.TB, l *loader.Loader, err error) *loader.Loader {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// sum is a text with everything that a batch has.
func sum(b *loader.Batch) string {
	h := sha256.New()
	for _, f := range b.Spec() {
		h.Write(b.Bytes(f.Name))
		if f.Ragged {
			binary.Write(h, binary.LittleEndian, int64s(b.Offsets(f.Name)))
		}
	}
	return fmt.Sprintf("%v %v %+v %x", b, b.Indices(), b.Position(), h.Sum(nil))
}

func int64s(values []int) (to []int64) {
	for _, v := range values {
		to = append(to, int64(v))
	}
	return to
}

func sums(t testing.TB, l *loader.Loader, from loader.Position, until int) (all []string) {
	t.Helper()
	for b, err := range l.From(t.Context(), from, until) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sum(b))
	}
	return all
}
