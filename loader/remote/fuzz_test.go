package remote_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
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
		// Limit counts for each of the batches in flight, and Poison fills them.
		hostile.Bounded(t, len(rest)+5*len(batch), 16*limit, func() { answered(t, answers{described, rest, batch}) })
	})
}

const limit = 1 << 16

// answered reads some batches of a service.
func answered(t *testing.T, from answers) {
	l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(&http.Client{Transport: from}), remote.Retries(0), remote.Limit(limit),
		remote.Loader(loader.Workers(1), loader.Poison(true)))
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
}
