package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

func TestSamplesThatTheServiceDropsAreCountedAsByALocalLoader(t *testing.T) {
	bad := dataset.Func(200, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i%4 == 3 || i/4 == 7 {
			return fmt.Errorf("no good")
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	options := []loader.Option{loader.BatchSize(4), loader.Skip(loader.NoLimit)}
	far := open(t, []string{newReplica(t, bad, nil, serve.Loader(options...))}, remote.Rank(0, 1))
	near := local(t, bad, append(options, loader.Ranks(0, 1, sampler.PadToEven))...)
	for epoch := range 2 { // the memory of batches is used again
		sums(t, far, far.Position(epoch), epoch+1)
		sums(t, near, near.Position(epoch), epoch+1)
		got, want := far.Stats(), near.Stats()
		if got.Dropped != want.Dropped || got.Emptied != want.Emptied || got.Samples != want.Samples || want.Dropped < 50 {
			t.Errorf("epoch %d: %d dropped, %d batches emptied, %d samples; want %d, %d, %d",
				epoch, got.Dropped, got.Emptied, got.Samples, want.Dropped, want.Emptied, want.Samples)
		}
	}
}

func TestABatchThatIsAnErrorHasDroppedNothing(t *testing.T) {
	bad := dataset.Func(80, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i%4 < 2 {
			return fmt.Errorf("no good")
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	fails := func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/0-1/10") {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	}
	url := newReplica(t, bad, fails, serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	l := open(t, []string{url}, remote.Loader(loader.InFlight(2))) // so the memory was that of another batch
	var last error
	for _, last = range l.Epoch(t.Context(), 0) {
	}
	if got := l.Stats().Dropped; last == nil || got != 20 {
		t.Errorf("%d dropped, then %v; want 20 before an error", got, last)
	}
}

func TestABatchWithWrongOffsetsHasDroppedNothing(t *testing.T) {
	bad := dataset.Func(8, dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 0 {
			return fmt.Errorf("no good")
		}
		dataset.Grow[uint8](dst, 0, 1)
		return nil
	})
	s, err := serve.New(t.Context(), bad, serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	url := newReplica(t, bad, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/0-1/0") {
			return false
		}
		whole := httptest.NewRecorder()
		s.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		h, err := wire.ReadHeader(bytes.NewReader(body))
		if err != nil || h.Texts["dropped"] != "1" {
			t.Errorf("%v, %v, want 1 dropped", h, err)
			return false
		}
		at := len(body) - h.Bytes()
		for _, tensor := range h.Tensors {
			if tensor.Name == "x"+wire.Offsets {
				body[at] = 1 // the first sample begins at element 1
			}
			at += tensor.Bytes
		}
		w.Write(body)
		return true
	}, serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	l := open(t, []string{url}, remote.Retries(0))
	var last error
	for _, last = range l.Epoch(t.Context(), 0) {
	}
	if got := l.Stats().Dropped; got != 0 || last == nil || !strings.Contains(last.Error(), "do not divide") {
		t.Errorf("%d dropped, then %v; want 0 before an error of the offsets", got, last)
	}
}
