package remote_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

func TestFailuresOfReplicasAreNotSeen(t *testing.T) {
	var count, failures atomic.Int64
	flaky := func(w http.ResponseWriter, r *http.Request) bool {
		k := count.Add(1)
		if k%3 != 0 {
			return false
		}
		failures.Add(1)
		switch k % 5 {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		case 1:
			w.WriteHeader(http.StatusBadGateway)
			return true
		case 2:
			w.Header().Set("Content-Length", "500")
			w.Write(make([]byte, 100))
		}
		panic(http.ErrAbortHandler) // ends the connection
	}
	var replicas []string
	for range 3 {
		replicas = append(replicas, newReplica(t, samples(400), flaky, serve.Loader(plan...)))
	}
	far, near := open(t, replicas), local(t, samples(400), plan...)
	if got, want := sums(t, far, far.Position(0), 3), sums(t, near, near.Position(0), 3); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if failures.Load() < 50 {
		t.Errorf("only %d requests failed", failures.Load())
	}
}

func TestReplicasOfAnotherPlanAreLeftOut(t *testing.T) {
	right := newReplica(t, samples(43), nil, serve.Loader(plan...))
	wrong := newReplica(t, samples(43), nil, serve.Loader(loader.BatchSize(4)))
	near := local(t, samples(43), plan...)
	hash, err := serve.New(t.Context(), samples(43), serve.Loader(plan...))
	if err != nil {
		t.Fatal(err)
	}
	defer hash.Close()
	if _, err := remote.Open(t.Context(), []string{wrong}, remote.Plan(hash.Plan())); err == nil || !strings.Contains(err.Error(), "want "+hash.Plan()) {
		t.Errorf("got %v", err)
	}
	var swap atomic.Bool
	changing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := right
		if swap.Load() {
			to = wrong
		}
		http.Redirect(w, r, to+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	}))
	defer changing.Close()
	l := open(t, []string{changing.URL, right}, remote.HTTPClient(http.DefaultClient))
	defer http.DefaultClient.CloseIdleConnections()
	swap.Store(true)
	if got, want := sums(t, l, l.Position(0), 2), sums(t, near, near.Position(0), 2); !slices.Equal(got, want) {
		t.Error("the batches differ")
	}
}

func TestErrorsOfTheServiceComeInTheirPlace(t *testing.T) {
	bad := dataset.Func(40, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 21 {
			return fmt.Errorf("no good")
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	l := open(t, []string{newReplica(t, bad, nil, serve.Loader(loader.BatchSize(4)))})
	batches := 0
	for _, err := range l.Epoch(t.Context(), 0) {
		if err == nil {
			batches++
			continue
		}
		if batches != 5 || !strings.Contains(err.Error(), "epoch 0, batch 5") || !strings.Contains(err.Error(), "no good") {
			t.Errorf("after %d batches: %v", batches, err)
		}
	}
}

func TestABatchWithoutSamplesIsNotDelivered(t *testing.T) {
	bad := dataset.Func(40, dataset.Spec{{Name: "x", Dtype: dataset.Int64}, {Name: "r", Dtype: dataset.Int64, Ragged: true}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i/4 == 5 || i == 3 || i/4 == 9 {
			return fmt.Errorf("no good")
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	options := []loader.Option{loader.BatchSize(4), loader.Skip(loader.NoLimit)}
	far, near := open(t, []string{newReplica(t, bad, nil, serve.Loader(options...))}), local(t, bad, options...)
	if got, want := sums(t, far, far.Position(0), 2), sums(t, near, near.Position(0), 2); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestACancelledLoopEndsWhileTheServiceWorks(t *testing.T) {
	stuck := make(chan struct{})
	ds := dataset.Func(100, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i >= 50 {
			<-stuck
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	l := open(t, []string{newReplica(t, ds, nil, serve.Loader(loader.BatchSize(10)))})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range l.Epoch(ctx, 0) {
		if err != nil {
			break
		}
		time.AfterFunc(10*time.Millisecond, cancel)
	}
	close(stuck)
}

// forbidding is a bucket that forbids access to all objects from 20.jpg on.
type forbidding struct{}

func (forbidding) Identity() string { return "forbidding" }

func (forbidding) List(context.Context, string, string) iter.Seq2[objects.Object, error] {
	return func(func(objects.Object, error) bool) {}
}

func (forbidding) Get(_ context.Context, o objects.Object, _, _ int64) (io.ReadCloser, objects.Object, error) {
	if o.Name >= "20.jpg" {
		return nil, o, fmt.Errorf("forbidden: HTTP 403: %w", fs.ErrPermission)
	}
	return io.NopCloser(strings.NewReader("x")), objects.Object{Name: o.Name, Size: 1, Version: "1"}, nil
}

func TestALoopEndsWithTheReasonWhyTheServiceCannotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := objects.NewClient(forbidding{})
		if err != nil {
			t.Fatal(err)
		}
		ds := datatest.Numbers(40, func(i int, _ dataset.Slot) error {
			return store.ReadAt(context.Background(), objects.Object{Name: fmt.Sprintf("%02d.jpg", i), Size: 1}, make([]byte, 1), 0)
		})
		s, err := serve.New(t.Context(), ds, serve.Loader(loader.BatchSize(4)))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var log strings.Builder
		l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(&http.Client{Transport: hosts{"service": s}}),
			remote.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		if err != nil {
			t.Fatal(err)
		}
		begun, batches, last := time.Now(), 0, error(nil)
		for _, err := range l.Epoch(t.Context(), 0) {
			if last = err; err == nil {
				batches++
			}
		}
		took := time.Since(begun)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if batches != 5 || last == nil || took < 10*time.Second || took > 5*time.Minute {
			t.Errorf("%d batches and %v after %v, want 5 and an error after about 70 s", batches, last, took)
		}
		for what, text := range map[string]string{"the error": fmt.Sprint(last), "the log": log.String()} {
			if !strings.Contains(text, "status 503") || !strings.Contains(text, ".jpg: forbidden: HTTP 403") {
				t.Errorf("%s does not say why: %s", what, text)
			}
		}
	})
}
