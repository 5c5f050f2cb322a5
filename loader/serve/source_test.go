package serve_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// samples is a dataset with fields of fixed and of varying size, and random numbers.
func samples(n int) dataset.Dataset { return &source{n: n} }

type source struct {
	n      int
	pixels int    // bytes of one more field
	steps  string // what made the samples
	named  string // how the names of samples begin
	placed atomic.Int64
	fails  func(i int) error
}

func (s *source) Len() int          { return s.n }
func (s *source) Name(i int) string { return fmt.Sprint(cmp.Or(s.named, "sample "), i) }
func (s *source) String() string    { return cmp.Or(s.steps, "samples") }
func (s *source) Spec() dataset.Spec {
	spec := dataset.Spec{
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{2, 3}},
		{Name: "label", Dtype: dataset.Int64},
	}
	if s.pixels > 0 {
		spec = append(spec, dataset.Field{Name: "pixels", Dtype: dataset.Uint8, Shape: dataset.Shape{s.pixels}})
	}
	return spec
}
func (s *source) Open() (dataset.Reader, error) { return reader{s}, nil }

type reader struct{ *source }

func (reader) Close() error { return nil }
func (r reader) Place(_ context.Context, i int, dst dataset.Slot) error {
	r.placed.Add(1)
	if r.fails != nil {
		if err := r.fails(i); err != nil {
			return err
		}
	}
	copy(dataset.Grow[uint8](dst, 0, i%7), strings.Repeat("x", 7))
	for k, x := 0, dataset.Row[float32](dst, 1); k < len(x); k++ {
		x[k] = dst.Rand().Float32()
	}
	dataset.Set(dst, 2, int64(i))
	if r.pixels > 0 {
		for k, p := 0, dataset.Row[uint8](dst, 3); k < len(p); k++ {
			p[k] = uint8(i + k)
		}
	}
	return nil
}

func newServer(t testing.TB, ds dataset.Dataset, options ...serve.Option) *serve.Server {
	t.Helper()
	s, err := serve.New(t.Context(), ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

var plan = []loader.Option{loader.BatchSize(4), loader.Shuffle(true), loader.Seed(3)}

// get requests a path after /v1/{plan}/.
func get(s *serve.Server, path string) *httptest.ResponseRecorder {
	return request(s, http.MethodGet, "/v1/"+s.Plan()+"/"+path, nil)
}

func request(s http.Handler, method, path string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://host"+path, nil)
	for k, v := range header {
		r.Header[k] = v
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// tensors reads a batch.
func tensors(t testing.TB, b []byte) (map[string][]byte, map[string]string) {
	t.Helper()
	r := bytes.NewReader(b)
	h, err := wire.ReadHeader(r)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, x := range h.Tensors {
		data := make([]byte, x.Bytes)
		if _, err := io.ReadFull(r, data); err != nil {
			t.Fatal(err)
		}
		all[x.Name] = data
	}
	if r.Len() > 0 {
		t.Errorf("%d bytes follow the tensors", r.Len())
	}
	return all, h.Texts
}

func int64s(values []int) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// same checks that a response is the batch of a loader.
func same(t testing.TB, w *httptest.ResponseRecorder, b *loader.Batch) {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("%v: status %d: %s", b, w.Code, w.Body)
	}
	got, texts := tensors(t, w.Body.Bytes())
	for name, want := range map[string][]byte{
		"x": b.Bytes("x"), "label": b.Bytes("label"), "text": b.Bytes("text"),
		"text.offsets": int64s(b.Offsets("text")), "indices": int64s(b.Indices()),
	} {
		if !bytes.Equal(got[name], want) {
			t.Errorf("%v: %s is %v, want %v", b, name, got[name], want)
		}
	}
	if texts["samples"] != fmt.Sprint(b.Len()) || texts["epoch"] != fmt.Sprint(b.Epoch()) {
		t.Errorf("%v: metadata %v", b, texts)
	}
}
