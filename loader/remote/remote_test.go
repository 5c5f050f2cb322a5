package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// samples is a dataset with fields of fixed and of varying size, and random numbers.
func samples(n int) dataset.Dataset {
	return dataset.Func(n, dataset.Spec{
		{Name: "text", Dtype: tensor.Uint8, Ragged: true},
		{Name: "pairs", Dtype: tensor.Float32, Shape: tensor.Shape{2}, Ragged: true},
		{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{2, 3}},
		{Name: "yes", Dtype: tensor.Bool},
		{Name: "label", Dtype: tensor.Int64},
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

func TestBatchesAreThoseOfALocalLoader(t *testing.T) {
	for _, mode := range []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact} {
		url := newReplica(t, samples(43), nil, serve.Loader(plan...), serve.Loader(loader.Workers(loader.Auto)), serve.Mode(mode))
		for _, world := range []int{1, 3} {
			for rank := range world {
				for _, workers := range []int{0, 1, 5, loader.Auto} {
					far := open(t, []string{url}, remote.Rank(rank, world), remote.Loader(loader.Workers(workers)))
					near := local(t, samples(43), append(slices.Clone(plan), loader.Ranks(rank, world, mode))...)
					got, want := sums(t, far, far.Position(0), 3), sums(t, near, near.Position(0), 3)
					if !slices.Equal(got, want) {
						t.Errorf("rank %d of %d, %v, %d workers: got\n%s\nwant\n%s", rank, world, mode, workers, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					if n, err := far.Len(1); err != nil || n*3 != len(want) {
						t.Errorf("Len is %d, %v, want %d", n, err, len(want)/3)
					}
				}
			}
		}
	}
}

func TestBatchSamplersAndStepsAreServed(t *testing.T) {
	lengths := make([]int, 57)
	for i := range lengths {
		lengths[i] = i * i % 41
	}
	for name, options := range map[string][]loader.Option{
		"by length": {loader.BatchSampler(sampler.ByLength(lengths, 5, sampler.BatchSize(4))), loader.Seed(9)},
		"drop last": {loader.BatchSize(5), loader.DropLast(true), loader.Sampler(sampler.Torch(57, 3))},
		"collate": {loader.BatchSize(5), loader.Collate(dataset.BatchFunc(func(dst, _ dataset.Columns) error {
			dataset.Column[float32](dst, 2)[0] = dst.Rand().Float32()
			return nil
		}))},
	} {
		url := newReplica(t, samples(57), nil, serve.Loader(options...))
		far, near := open(t, []string{url}, remote.Rank(1, 2)), local(t, samples(57), append(options, loader.Ranks(1, 2, sampler.PadToEven))...)
		if got, want := sums(t, far, far.Position(0), 2), sums(t, near, near.Position(0), 2); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Four ranks stop in the middle of an epoch, and three go on, half of them with a local loader.
func TestARunGoesOnWithAnotherNumberOfRanks(t *testing.T) {
	const n = 203
	url := newReplica(t, samples(n), nil, serve.Loader(plan...), serve.Mode(sampler.KeepExact), serve.Batches(96))
	seen := map[int]int{}
	var at loader.Position
	for rank := range 4 {
		l := open(t, []string{url}, remote.Rank(rank, 4))
		for b, err := range l.Epoch(t.Context(), 2) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range b.Indices() {
				seen[i]++
			}
			if at = b.Position(); b.Number() == 4 {
				break
			}
		}
	}
	if at.Draw != 80 {
		t.Fatalf("the position is %+v", at)
	}
	for rank := range 3 {
		far := open(t, []string{url}, remote.Rank(rank, 3))
		near := local(t, samples(n), append(slices.Clone(plan), loader.Ranks(rank, 3, sampler.KeepExact))...)
		if got, want := sums(t, far, at, 4), sums(t, near, at, 4); !slices.Equal(got, want) {
			t.Errorf("rank %d: got\n%s\nwant\n%s", rank, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for b, err := range far.From(t.Context(), at, 3) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range b.Indices() {
				seen[i]++
			}
		}
	}
	for i := range n {
		if seen[i] != 1 {
			t.Errorf("sample %d came %d times", i, seen[i])
		}
	}
}

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

func TestRanksPreferDifferentReplicas(t *testing.T) {
	var hits [4]atomic.Int64
	var replicas []string
	for k := range hits {
		replicas = append(replicas, newReplica(t, samples(100), func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.Count(r.URL.Path, "/") == 5 {
				hits[k].Add(1)
			}
			return false
		}, serve.Loader(plan...), serve.Batches(200)))
	}
	used := 0
	for rank := range 8 {
		before := [4]int64{}
		for k := range hits {
			before[k] = hits[k].Load()
		}
		l := open(t, replicas, remote.Rank(rank, 8), remote.Hedge(0))
		sums(t, l, l.Position(0), 2)
		one := 0
		for k := range hits {
			if hits[k].Load() > before[k] {
				one++
			}
		}
		if one != 1 {
			t.Errorf("rank %d was read from %d replicas", rank, one)
		}
	}
	for k := range hits {
		if hits[k].Load() > 0 {
			used++
		}
	}
	if used < 2 {
		t.Errorf("eight ranks use %d replicas", used)
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
	bad := dataset.Func(40, dataset.Spec{{Name: "x", Dtype: tensor.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
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
	bad := dataset.Func(40, dataset.Spec{{Name: "x", Dtype: tensor.Int64}, {Name: "r", Dtype: tensor.Int64, Ragged: true}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i/4 == 5 || i == 3 || i/4 == 9 {
			return fmt.Errorf("no good")
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	options := []loader.Option{loader.BatchSize(4), loader.OnError(loader.Skip, loader.NoLimit)}
	far, near := open(t, []string{newReplica(t, bad, nil, serve.Loader(options...))}), local(t, bad, options...)
	if got, want := sums(t, far, far.Position(0), 2), sums(t, near, near.Position(0), 2); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMemoryIsThatOfTheAllocator(t *testing.T) {
	url := newReplica(t, samples(43), nil, serve.Loader(plan...))
	l := open(t, []string{url}, remote.Loader(loader.Memory(loader.Poison(loader.Heap{})), loader.Unordered(true)))
	seen := map[int]bool{}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for row, i := range b.Indices() {
			seen[i] = true
			if got := loader.Values[int64](b, "label")[row]; got != int64(i) {
				t.Errorf("sample %d has label %d", i, got)
			}
		}
	}
	if len(seen) != 43 {
		t.Errorf("%d samples, want 43", len(seen))
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	url := newReplica(t, samples(43), nil, serve.Loader(plan...), serve.Token("secret"))
	for want, open := range map[string]func() (*loader.Loader, error){
		"no replicas": func() (*loader.Loader, error) { return remote.Open(t.Context(), nil) },
		`"host:80" is not the URL of a replica: want http://host:port`: func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{"host:80"})
		},
		`"127.0.0.1:80" is not the URL of a replica: want http://host:port`: func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{"127.0.0.1:80"})
		},
		"Rank(3, 3)": func() (*loader.Loader, error) { return remote.Open(t.Context(), []string{url}, remote.Rank(3, 3)) },
		"needs https": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{"http://far"}, remote.Token("x"))
		},
		"token is missing":    func() (*loader.Loader, error) { return remote.Open(t.Context(), []string{url}) },
		"token is missing or": func() (*loader.Loader, error) { return remote.Open(t.Context(), []string{url}, remote.Token("x")) },
		"Token: the token is empty": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{url}, remote.Token(""))
		},
		"Token: the token begins or ends with": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{url}, remote.Token("secret\n"))
		},
		"OpenWithin(-1ns): want 0 or more": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{url}, remote.OpenWithin(-1))
		},
	} {
		if l, err := open(); err == nil {
			t.Errorf("%s: no error", want)
			l.Close()
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestACancelledLoopEndsWhileTheServiceWorks(t *testing.T) {
	stuck := make(chan struct{})
	ds := dataset.Func(100, dataset.Spec{{Name: "x", Dtype: tensor.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
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

func TestOptionsThatBelongToTheServiceAreErrors(t *testing.T) {
	url := newReplica(t, samples(43), nil, serve.Loader(plan...))
	for name, o := range map[string]loader.Option{
		"BatchSize(8)":   loader.BatchSize(8),
		"BatchSampler":   loader.BatchSampler(sampler.ByLength(make([]int, 43), 5, sampler.BatchSize(4))),
		"Sampler":        loader.Sampler(sampler.Sequential(43)),
		"Shuffle(true)":  loader.Shuffle(true),
		"Seed(3)":        loader.Seed(3),
		"DropLast(true)": loader.DropLast(true),
		"OnError":        loader.OnError(loader.Skip, loader.NoLimit),
		"Collate":        loader.Collate(dataset.BatchFunc(func(_, _ dataset.Columns) error { return nil })),
		"Ranks":          loader.Ranks(0, 2, sampler.PadToEven),
	} {
		l, err := remote.Open(t.Context(), []string{url}, remote.Loader(o))
		if err == nil {
			l.Close()
		}
		if want := "loader: " + name + ": belongs to the service"; err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q alone", err, want)
		}
	}
}
