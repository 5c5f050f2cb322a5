package remote_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// TestWhatAServiceSaysIsOneLineOfAnError: a terminal would obey some characters of it.
func TestWhatAServiceSaysIsOneLineOfAnError(t *testing.T) {
	s, err := serve.New(t.Context(), samples(43), serve.Loader(plan...))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	evil := strings.Repeat("\x1b]0;title\x07\n\u202e\r", 500)
	refused, _ := json.Marshal(wire.Error{Error: evil, Plan: evil})
	header, _ := (&wire.Header{Tensors: []wire.Tensor{{Name: wire.Indices, Dtype: "I64", Shape: []int{4}, Bytes: 32}, {Name: evil, Dtype: evil, Shape: []int{}}},
		Texts: map[string]string{"plan": s.Plan(), "epoch": "0", "draw": "0", "number": "0", "rank": "0", "world": "1", "samples": "4"}}).Marshal()
	other, _ := (&wire.Header{Tensors: []wire.Tensor{{Name: wire.Indices, Dtype: "I64", Shape: []int{4}, Bytes: 32}}, Texts: map[string]string{"plan": evil, "epoch": evil}}).Marshal()
	ordered := plans(t, s, func(p *wire.Plan) { p.Order = evil })
	for name, c := range map[string]struct {
		slashes int // of the request whose answer is evil: 2 for the plan, 4 for the rest, 5 for a batch
		status  string
		body    []byte
		want    string // in the error
	}{
		"no plan":           {2, "500 Error", refused, "status 500 Error: .]0;title. . "},
		"a status":          {2, "500 " + evil, nil, "status 500 .]0;title. . "},
		"another format":    {2, "200 OK", plans(t, s, func(p *wire.Plan) { p.Fields = []wire.Field{{Name: evil, Dtype: evil}} }), `field "`},
		"two fields":        {2, "200 OK", plans(t, s, func(p *wire.Plan) { p.Fields = append(p.Fields, p.Fields...) }), "two fields"},
		"no rest":           {4, "404 Not Found", refused, "status 404 Not Found: .]0;title. . "},
		"another plan":      {4, "409 Conflict", refused, "serves plan .]0;title. . "},
		"no batch":          {5, "500 Error", refused, "status 500 Error: .]0;title. . "},
		"an unknown tensor": {5, "200 OK", header, "tensor"},
		"another epoch":     {5, "200 OK", other, "epoch"},
		"another order":     {2, "200 OK", ordered, "this loader's is .]0;title. . "},
	} {
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.Count(r.URL.Path, "/") != c.slashes {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				return w.Result(), nil
			}
			code, _ := strconv.Atoi(c.status[:3])
			return &http.Response{StatusCode: code, Status: c.status, ContentLength: int64(len(c.body)), Body: io.NopCloser(bytes.NewReader(c.body)), Header: http.Header{}, Request: r}, nil
		})}
		l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(client), remote.Retries(0), remote.OpenWithin(0))
		if err == nil {
			from := l.Position(0)
			if name == "another order" {
				from.Order = "mine"
			}
			for _, err = range l.From(t.Context(), from, 1) {
				break
			}
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.500q, want %q", name, err, c.want)
		} else if says := err.Error(); len(says) > 4<<10 || strings.ContainsFunc(says, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s: %d bytes: %.500q", name, len(says), says)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// plans is the plan of a service with a change.
func plans(t *testing.T, s http.Handler, change func(*wire.Plan)) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/plan", nil))
	var p wire.Plan
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	change(&p)
	p.Plan = p.Hash()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
