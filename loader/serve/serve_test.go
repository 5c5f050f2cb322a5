package serve_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

func TestEveryBatchIsThatOfALocalLoader(t *testing.T) {
	modes := []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact}
	for _, mode := range modes {
		s := newServer(t, samples(43), serve.Loader(plan...), serve.Mode(mode))
		for _, world := range []int{1, 3} {
			for rank := range world {
				l, err := loader.New(samples(43), append(slices.Clone(plan), loader.Ranks(rank, world, mode))...)
				if err != nil {
					t.Fatal(err)
				}
				for b, err := range l.Epochs(t.Context(), 0, 3) {
					if err != nil {
						t.Fatal(err)
					}
					same(t, get(s, fmt.Sprintf("%d/%d-%d/%d", b.Epoch(), rank, world, b.Number())), b)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestBatchesInAnyOrderAreTheSame(t *testing.T) {
	s := newServer(t, samples(400), serve.Loader(plan...), serve.Batches(12))
	l, err := loader.New(samples(400), plan...)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want := map[int]*loader.Batch{}
	for b, err := range l.Epoch(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		want[b.Number()] = b.Copy()
	}
	for _, k := range []int{99, 0, 50, 49, 48, 1, 2, 4, 3, 60, 10, 99, 98} {
		same(t, get(s, fmt.Sprintf("1/0-1/%d", k)), want[k])
	}
}

func TestOtherRanksReadTheRestOfAnEpoch(t *testing.T) {
	ds := samples(203)
	s := newServer(t, ds, serve.Loader(plan...), serve.Mode(sampler.KeepExact))
	seen := map[int64]int{}
	count := func(w *httptest.ResponseRecorder) {
		t.Helper()
		if w.Code != http.StatusOK {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		all, _ := tensors(t, w.Body.Bytes())
		for b := all["label"]; len(b) > 0; b = b[8:] {
			seen[int64(binary.LittleEndian.Uint64(b))]++
		}
	}
	for rank := range 4 {
		for k := range 5 {
			count(get(s, fmt.Sprintf("0/%d-4/%d", rank, k)))
		}
	}
	const draw = 4 * 4 * 5
	for rank := range 3 {
		var rest wire.Rest
		w := get(s, fmt.Sprintf("0/%d-3?draw=%d", rank, draw))
		if err := json.Unmarshal(w.Body.Bytes(), &rest); err != nil || rest.Draw != draw || rest.Step != 12 || rest.End != 203 {
			t.Fatalf("%s: %+v, %v", w.Body, rest, err)
		}
		for k := range rest.Batches {
			count(get(s, fmt.Sprintf("0/%d-3/%d?draw=%d", rank, k, draw)))
		}
		if w := get(s, fmt.Sprintf("0/%d-3/%d?draw=%d", rank, rest.Batches, draw)); w.Code != http.StatusNotFound {
			t.Errorf("after the end: status %d", w.Code)
		}
	}
	for i := range int64(203) {
		if seen[i] != 1 {
			t.Errorf("sample %d came %d times", i, seen[i])
		}
	}
}

func TestABatchThatManyAskForIsBuiltOnce(t *testing.T) {
	ds := &source{n: 4000}
	s := newServer(t, ds, serve.Loader(loader.BatchSize(4), loader.Workers(1)), serve.Requests(1000))
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if w := get(s, "3/0-1/7"); w.Code != http.StatusOK {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
	// The first batch of the plan and this one, each with those that are made ahead.
	if most := int64(2 * 6 * 4); ds.placed.Load() > most {
		t.Errorf("%d samples were placed, want %d at most", ds.placed.Load(), most)
	}
}

func TestTheHashCoversThePlan(t *testing.T) {
	base := newServer(t, samples(43), serve.Loader(plan...)).Plan()
	if again := newServer(t, samples(43), serve.Loader(plan...), serve.Loader(loader.Workers(1)), serve.InFlight(9)).Plan(); again != base {
		t.Error("the hash depends on the number of workers or batches in memory")
	}
	hashes := map[string]string{base: "the plan itself"}
	for what, s := range map[string]*serve.Server{
		"samples":    newServer(t, samples(44), serve.Loader(plan...)),
		"seed":       newServer(t, samples(43), serve.Loader(plan...), serve.Loader(loader.Seed(4))),
		"batch size": newServer(t, samples(43), serve.Loader(plan...), serve.Loader(loader.BatchSize(5))),
		"drop last":  newServer(t, samples(43), serve.Loader(plan...), serve.Loader(loader.DropLast(true))),
		"order":      newServer(t, samples(43), serve.Loader(loader.BatchSize(4), loader.Seed(3))),
		"errors":     newServer(t, samples(43), serve.Loader(plan...), serve.Loader(loader.Skip(loader.NoLimit))),
		"mode":       newServer(t, samples(43), serve.Loader(plan...), serve.Mode(sampler.KeepExact)),
		"identity":   newServer(t, samples(43), serve.Loader(plan...), serve.Identity("v2")),
		"names":      newServer(t, &source{n: 43, named: "image "}, serve.Loader(plan...)),
		"fields":     newServer(t, &source{n: 43, pixels: 1}, serve.Loader(plan...)),
		"shapes":     newServer(t, &source{n: 43, pixels: 2}, serve.Loader(plan...)),
		"transforms": newServer(t, &source{n: 43, steps: "samples, Resize(256)"}, serve.Loader(plan...)),
		"content": newServer(t, dataset.Func(43, dataset.Spec{{Name: "label", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int64(i)+1)
			return nil
		}), serve.Loader(plan...)),
	} {
		if other, ok := hashes[s.Plan()]; ok {
			t.Errorf("%s: the hash is that of %s", what, other)
		}
		hashes[s.Plan()] = what
		for _, path := range []string{"/0/0-1", "/0/0-1/0"} {
			if w := request(s, "GET", "/v1/"+base+path, nil); w.Code != 409 || !strings.Contains(w.Body.String(), s.Plan()) {
				t.Errorf("%s: status %d for a path of the plan itself, want 409 with %s: %s", what, w.Code, s.Plan(), w.Body)
			}
		}
	}
}

func TestTheLastEpochIsServed(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...))
	for path, want := range map[string]int{"2147483646/0-1/10": 200, "2147483646/0-1/11": 404, "2147483647/0-1/0": 400, "2147483582/0-1/0": 200} {
		if w := get(s, path); w.Code != want {
			t.Errorf("%s: status %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}
