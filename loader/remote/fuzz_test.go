package remote_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// answers is a service that gives these bodies.
type answers struct{ plan, rest, batch []byte }

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body := a.batch
	switch n := strings.Count(r.URL.Path, "/"); {
	case n == 2:
		body = a.plan
	case n == 4:
		body = a.rest
	}
	return &http.Response{StatusCode: 200, Status: "200 OK", ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Header: http.Header{}, Request: r}, nil
}

// FuzzAnswers shows that no answer of a service makes the client panic, take much memory or
// deliver a batch that its plan does not have.
func FuzzAnswers(f *testing.F) {
	s, err := serve.New(f.Context(), samples(43), serve.Loader(plan...))
	if err != nil {
		f.Fatal(err)
	}
	get := func(path string) []byte {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Body.Bytes()
	}
	described := get("/v1/plan")
	rest, batch := get("/v1/"+s.Plan()+"/0/0-1"), get("/v1/"+s.Plan()+"/0/0-1/0")
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(rest, batch)
	f.Fuzz(func(t *testing.T, rest, batch []byte) {
		client := &http.Client{Transport: answers{described, rest, batch}}
		l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(client), remote.Retries(0), remote.Limit(1<<16),
			remote.Loader(loader.Workers(1), loader.Memory(loader.Poison(loader.Heap{}))))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				if strings.Contains(err.Error(), "panic") {
					t.Fatal(err)
				}
				break
			}
			for _, i := range b.Indices() {
				if i < 0 || i >= 43 {
					t.Errorf("sample %d", i)
				}
			}
			for _, text := range b.Strings("text") {
				_ = text
			}
			loader.Padded(b, "pairs", float32(0))
			for _, v := range b.Bytes("yes") {
				if v > 1 {
					t.Errorf("a bool is %d", v)
				}
			}
			if b.Number() > 3 {
				break
			}
		}
	})
}

func TestAPlanThatIsNotItsHashIsRefused(t *testing.T) {
	s, err := serve.New(t.Context(), samples(43), serve.Loader(plan...))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/plan", nil))
	var p map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	p["rows"] = 1 << 30
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: answers{plan: text}}
	if _, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(client), remote.Retries(0)); err == nil || !strings.Contains(err.Error(), "the hash of the plan does not fit the plan") {
		t.Errorf("got %v", err)
	}
}

// A service may promise what it likes: memory is not allocated for it.
func TestAPlanWithBatchesBeyondLimitIsRefused(t *testing.T) {
	for want, p := range map[string]wire.Plan{
		"batches of 1073741824 samples of 16 bytes, Limit allows 1073741824":   {Rows: 1 << 30, Fields: []wire.Field{{Name: "x", Dtype: "int64"}}},
		"batches of 1000 samples of 1073741840 bytes, Limit allows 1073741824": {Rows: 1000, Fields: []wire.Field{{Name: "x", Dtype: "uint8", Shape: []int{1 << 30}}, {Name: "r", Dtype: "uint8", Ragged: true}}},
	} {
		p.Version, p.Samples = wire.Version, 1<<30
		p.Plan = p.Hash()
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: answers{plan: text}}
		if l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(client)); err == nil {
			l.Close()
			t.Errorf("no error, want %q", want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
