package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/serve"
)

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
		`penstock_responses_total{status="200"} 5`, `penstock_responses_total{status="404"} 1`, `penstock_batch_wait_seconds_count 5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestATokenThatNoHeaderCanCarryIsAnError(t *testing.T) {
	for token, want := range map[string]string{
		"":           "serve: Token: the token is empty",
		"secret\n":   "serve: Token: the token begins or ends with a space or a line break",
		" secret":    "serve: Token: the token begins or ends with a space or a line break",
		"sec\nret":   "serve: Token: the token has a control character",
		"sec\x7fret": "serve: Token: the token has a control character",
	} {
		s, err := serve.New(t.Context(), samples(9), serve.Token(token))
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "sec") {
			t.Errorf("%q: got %v, want %q", token, err, want)
		}
	}
}

func TestARequestForAnotherPlanLearnsWhichIsServed(t *testing.T) {
	s := newServer(t, samples(43), serve.Loader(plan...))
	w := request(s, "GET", "/v1/"+strings.Repeat("0", 32)+"/0/0-1/0", nil)
	var got wire.Error
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 409 || got.Plan != s.Plan() || got.Error == "" {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
