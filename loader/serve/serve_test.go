package serve_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
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
		{Name: "text", Dtype: tensor.Uint8, Ragged: true},
		{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{2, 3}},
		{Name: "label", Dtype: tensor.Int64},
	}
	if s.pixels > 0 {
		spec = append(spec, dataset.Field{Name: "pixels", Dtype: tensor.Uint8, Shape: tensor.Shape{s.pixels}})
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

func TestWrongRequestsAreRefused(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...))
	p := "/v1/" + s.Plan()
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", p + "/0/0-1/10", 200},
		{"HEAD", p + "/0/0-1/10", 200},
		{"GET", p + "/0/0-1/11", 404},
		{"GET", p + "/0/0-1/0?draw=44", 404},
		{"GET", p + "/0/0-1?draw=43", 200},
		{"GET", p + "/0/0-1/0?draw=43", 404},
		{"GET", p + "/0/1-1/0", 400},
		{"GET", p + "/0/0-0/0", 400},
		{"GET", p + "/0/-1-1/0", 400},
		{"GET", p + "/0/01-2/0", 400},
		{"GET", p + "/0/0-1/+1", 400},
		{"GET", p + "/0/0-1/1e3", 400},
		{"GET", p + "/99999999999999999999/0-1/0", 400},
		{"GET", p + "/0/0-1/0?draw=4&draw=8", 400},
		{"GET", p + "/0/0-1/0?x=4", 400},
		{"GET", "/v1/" + strings.Repeat("0", 32) + "/0/0-1/0", 409},
		{"GET", "/v1/" + strings.Repeat("0", 32) + "/0/0-1", 409},
		{"GET", "/v1/plan", 200},
		{"POST", "/v1/plan", 405},
		{"GET", "/", 404},
		{"GET", "/v2/plan", 404},
	} {
		w := request(s, c.method, c.path, nil)
		if w.Code != c.want {
			t.Errorf("%s %s: status %d, want %d: %s", c.method, c.path, w.Code, c.want, w.Body)
		}
		var text struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &text); w.Code != 200 && (err != nil || text.Error == "") {
			t.Errorf("%s %s: %q is not an error in JSON", c.method, c.path, w.Body)
		}
	}
}

func TestABatchIsNotSentToThoseWhoHaveIt(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...))
	first := get(s, "0/0-1/1")
	tag := first.Header().Get("ETag")
	if tag == "" || !strings.Contains(first.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("header %v", first.Header())
	}
	if w := request(s, "GET", "/v1/"+s.Plan()+"/0/0-1/1", http.Header{"If-None-Match": {tag}}); w.Code != 304 || w.Body.Len() > 0 {
		t.Errorf("status %d with %d bytes", w.Code, w.Body.Len())
	}
	if w := request(s, "GET", "/v1/"+s.Plan()+"/0/0-1/2", http.Header{"If-None-Match": {tag}}); w.Code != 200 {
		t.Errorf("another batch: status %d", w.Code)
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
		"errors":     newServer(t, samples(43), serve.Loader(plan...), serve.Loader(loader.OnError(loader.Replace, loader.NoLimit))),
		"mode":       newServer(t, samples(43), serve.Loader(plan...), serve.Mode(sampler.KeepExact)),
		"identity":   newServer(t, samples(43), serve.Loader(plan...), serve.Identity("v2")),
		"names":      newServer(t, &source{n: 43, named: "image "}, serve.Loader(plan...)),
		"fields":     newServer(t, &source{n: 43, pixels: 1}, serve.Loader(plan...)),
		"shapes":     newServer(t, &source{n: 43, pixels: 2}, serve.Loader(plan...)),
		"transforms": newServer(t, &source{n: 43, steps: "samples, Resize(256)"}, serve.Loader(plan...)),
		"content": newServer(t, dataset.Func(43, dataset.Spec{{Name: "label", Dtype: tensor.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
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

func TestABatchThatCannotBeMadeIsAnErrorWithItsSample(t *testing.T) {
	s := newServer(t, &source{n: 40, fails: func(i int) error {
		if i == 21 {
			return fmt.Errorf("no good")
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4)))
	for range 2 {
		w := get(s, "0/0-1/5")
		var e wire.Error
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != 500 || e.Name != "sample 21" || e.Index == nil || *e.Index != 21 {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		if w.Header().Get("ETag") != "" || strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Error("the error may be cached")
		}
	}
	if w := get(s, "0/0-1/6"); w.Code != 200 {
		t.Errorf("the next batch: status %d: %s", w.Code, w.Body)
	}
}

func TestABatchThatLosesAllItsSamplesIsSentWithoutAny(t *testing.T) {
	s := newServer(t, &source{n: 40, fails: func(i int) error {
		if i/4 == 5 || i/4 == 9 {
			return fmt.Errorf("no good")
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.OnError(loader.Skip, loader.NoLimit)))
	for _, k := range []int{5, 4, 6, 5, 9} {
		w := get(s, fmt.Sprintf("0/0-1/%d", k))
		if w.Code != 200 {
			t.Fatalf("batch %d: status %d: %s", k, w.Code, w.Body)
		}
		want := "4"
		if k == 5 || k == 9 {
			want = "0"
		}
		if _, texts := tensors(t, w.Body.Bytes()); texts["samples"] != want {
			t.Errorf("batch %d has %s samples, want %s", k, texts["samples"], want)
		}
	}
}

// The loader delivers no batch at all for a rank whose samples are all lost.
func TestARankThatLosesAllItsSamplesGetsBatchesWithoutAny(t *testing.T) {
	s := newServer(t, &source{n: 40, fails: func(i int) error {
		if i%4 == 1 {
			return fmt.Errorf("no good")
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.OnError(loader.Skip, loader.NoLimit)))
	for _, path := range []string{"0/1-4/0", "0/1-4/1", "0/1-4/2", "1/1-4/0", "70/1-4/2", "2147483646/1-4/2"} {
		w := get(s, path)
		if w.Code != 200 {
			t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
		}
		want := "4"
		if strings.HasSuffix(path, "/2") {
			want = "2"
		}
		if _, texts := tensors(t, w.Body.Bytes()); texts["samples"] != "0" || texts["dropped"] != want {
			t.Errorf("%s: metadata %v, want no samples, %s dropped", path, texts, want)
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

// Batch 3 has lost all its samples, and batch 4 cannot be read now.
func TestAnErrorTakesThePlaceOfItsOwnBatch(t *testing.T) {
	var broken atomic.Bool
	s := newServer(t, &source{n: 80, fails: func(i int) error {
		switch {
		case i/4 == 3:
			return fmt.Errorf("no good")
		case i/4 == 4 && broken.Load():
			return passes{}
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.OnError(loader.Skip, loader.NoLimit)))
	broken.Store(true)
	for number, want := range []int{200, 200, 200, 200, 503} {
		if w := get(s, fmt.Sprintf("1/0-1/%d", number)); w.Code != want {
			t.Errorf("batch %d: status %d, want %d: %s", number, w.Code, want, w.Body)
		}
	}
	broken.Store(false)
	if w := get(s, "1/0-1/4"); w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

type passes struct{}

func (passes) Error() string   { return "the storage does not answer" }
func (passes) Temporary() bool { return true }

func TestAnErrorThatMayPassIsTriedAgain(t *testing.T) {
	var broken atomic.Bool
	s := newServer(t, &source{n: 80, fails: func(i int) error {
		if i >= 60 && broken.Load() {
			return passes{}
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4)))
	broken.Store(true)
	for range 10 {
		if w := get(s, "0/0-1/15"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
	broken.Store(false)
	if w := get(s, "0/0-1/15"); w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	// The loop of the plan's first batch, and another one that begins again after an error.
	if text := request(s, "GET", "/metrics", nil).Body.String(); !strings.Contains(text, "penstock_loops_total 2\n") {
		t.Errorf("more than two loops have memory of their own:\n%s", text)
	}
}

// TestAnObjectThatWasReplacedIsNotReadAgain: the service knows its version from a listing that
// no request repeats.
func TestAnObjectThatWasReplacedIsNotReadAgain(t *testing.T) {
	var reads atomic.Int32
	s := newServer(t, &source{n: 80, fails: func(i int) error {
		if i == 60 {
			reads.Add(1)
			return fmt.Errorf("read: %w", objects.ErrReplaced)
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.Workers(1))) // one worker does not read as far ahead
	for range 10 {
		if w := get(s, "0/0-1/15"); w.Code != 500 || w.Header().Get("Retry-After") != "" {
			t.Errorf("status %d, want 500: %s", w.Code, w.Body)
		}
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("the object was read %d times, want once", n)
	}
}

func TestWithoutMemoryRequestsAreTurnedAway(t *testing.T) {
	stuck := make(chan struct{})
	s := newServer(t, &source{n: 400, fails: func(i int) error {
		if i >= 40 {
			<-stuck
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4)), serve.Batches(6), serve.Requests(2))
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/v1/"+s.Plan()+"/0/0-1/50", nil))
	})
	for !strings.Contains(request(s, "GET", "/metrics", nil).Body.String(), "requests_in_flight 1") {
		time.Sleep(time.Millisecond)
	}
	if w := get(s, "0/1-2/0"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	cancel()
	group.Wait() // although the sample is stuck
	close(stuck)
}

func TestATokenIsNeededForAllButProbes(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...), serve.Token("secret"))
	for _, c := range []struct {
		path, header string
		want         int
	}{
		{"/v1/plan", "", 401}, {"/v1/plan", "Bearer wrong", 401}, {"/v1/plan", "secret", 401}, {"/v1/plan", "Bearer secret", 200},
		{"/v1/" + s.Plan() + "/0/0-1/0", "", 401}, {"/metrics", "", 401}, {"/healthz", "", 200}, {"/readyz", "", 200},
	} {
		h := http.Header{}
		if c.header != "" {
			h.Set("Authorization", c.header)
		}
		if w := request(s, "GET", c.path, h); w.Code != c.want {
			t.Errorf("%s with %q: status %d, want %d", c.path, c.header, w.Code, c.want)
		} else if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s shows the token", c.path)
		}
	}
}

func TestIdleMemoryIsFreed(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...), serve.Idle(time.Millisecond), serve.Batches(6))
	for rank := range 20 { // each needs all the memory
		for {
			w := get(s, fmt.Sprintf("0/%d-20/0", rank))
			if w.Code == 200 {
				break
			}
			if w.Code != 503 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestADrainedServerAnswersButIsNotReady(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...))
	s.Drain()
	for path, want := range map[string]int{"/readyz": 503, "/healthz": 200, "/v1/" + s.Plan() + "/0/0-1/0": 200} {
		if w := request(s, "GET", path, nil); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if w := get(s, "0/0-1/3"); w.Code != 503 {
		t.Errorf("after Close: status %d", w.Code)
	}
}

func TestMetricsCountWhatWasSent(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...))
	n := 0
	for k := range 5 {
		n += get(s, fmt.Sprintf("0/0-1/%d", k)).Body.Len()
	}
	get(s, "0/0-1/100")
	text := request(s, "GET", "/metrics", nil).Body.String()
	for _, want := range []string{"penstock_batches_total 5\n", fmt.Sprintf("penstock_sent_bytes_total %d\n", n), "penstock_requests_in_flight 0\n",
		`penstock_responses_total{status="200"} 5`, `penstock_responses_total{status="404"} 1`, `penstock_batch_wait_seconds_bucket{le="+Inf"} 5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
