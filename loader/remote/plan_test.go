package remote_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// hosts are services by their host, as the replicas of one.
type hosts map[string]http.Handler

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h[r.URL.Host].ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// planned answers every request with a plan.
func planned(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}

// newService makes a service that is closed with the test.
func newService(t *testing.T, options ...serve.Option) *serve.Server {
	t.Helper()
	s, err := serve.New(t.Context(), samples(43), append(options, serve.Loader(plan...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Which replica is asked first depends on their names, so each case comes in both orders.
func TestOpenLeavesOutReplicasThatDoNotFit(t *testing.T) {
	right := newService(t)
	older := newService(t, serve.Identity("v1"))
	for name, wrong := range map[string]http.Handler{
		"another plan":             older,
		"a later version":          planned(`{"version":2,"plan":"x","identity":"of another one","seed":"a text"}`),
		"a hash that does not fit": planned(`{"version":1,"plan":"x"}`),
	} {
		for _, both := range []hosts{{"a": right, "b": wrong}, {"a": wrong, "b": right}} {
			l, err := remote.Open(t.Context(), []string{"http://a", "http://b"}, remote.HTTPClient(&http.Client{Transport: both}), remote.Plan(right.Plan()))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if n, err := l.Len(l.Position(0)); n != 11 || err != nil {
				t.Errorf("%s: %d batches, %v, want 11", name, n, err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAPlanWhoseFieldsShareATensorIsRefused(t *testing.T) {
	for _, fields := range [][]wire.Field{
		{{Name: "indices", Dtype: "int64"}},
		{{Name: "text", Dtype: "uint8", Ragged: true}, {Name: "text.offsets", Dtype: "int64"}},
		{{Name: "z", Dtype: "complex64"}},
	} {
		p := wire.Plan{Version: wire.Version, Samples: 9, Rows: 3, Fields: fields}
		p.Plan = p.Hash()
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(&http.Client{Transport: answers{plan: text}}))
		if err == nil {
			l.Close()
			t.Errorf("%v: no error", fields)
		}
	}
}

func TestPasswordsOfURLsAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		client := &http.Client{Transport: hosts{"service": planned("no plan")}}
		for _, url := range []string{"http://trainer:secret@service", "trainer:secret@service:80", "http://trainer:secret@ service"} {
			l, err := remote.Open(t.Context(), []string{url}, remote.HTTPClient(client), remote.Logger(slog.New(slog.NewTextHandler(&log, nil))))
			if err == nil {
				l.Close()
				t.Fatal("no error")
			}
			if strings.Contains(err.Error()+log.String(), "secret") {
				t.Errorf("%v, and the log %s", err, &log)
			}
		}
		if !strings.Contains(log.String(), "no replica answers") {
			t.Errorf("the log %s, want that no replica answers", &log)
		}
	})
}

func TestATokenIsNotRedirectedToHTTP(t *testing.T) {
	s := newService(t, serve.Token("secret"))
	for _, c := range []struct {
		to      string
		options []remote.Option
		sent    bool
	}{
		{"http://service", nil, false},
		{"http://service", []remote.Option{remote.Insecure()}, true},
		{"https://service:444", nil, true},
	} {
		sent := false
		end := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent = sent || r.Header.Get("Authorization") != ""
			s.ServeHTTP(w, r)
		})
		redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Scheme == "https" && r.URL.Port() == "" {
				http.Redirect(w, r, c.to+r.URL.RequestURI(), http.StatusTemporaryRedirect)
				return
			}
			end(w, r)
		})
		client := &http.Client{Transport: hosts{"service": redirect, "service:444": end}}
		l, err := remote.Open(t.Context(), []string{"https://service"}, append(c.options, remote.HTTPClient(client), remote.Token("secret"))...)
		if err == nil {
			err = l.Close()
		}
		if sent != c.sent || (err == nil) != c.sent || err != nil && !strings.Contains(err.Error(), "a Token needs https") {
			t.Errorf("redirected to %s: sent %v, want %v: %v", c.to, sent, c.sent, err)
		}
	}
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
