package remote_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// absent is a service whose first requests of each path fail, as if no process listened.
type absent struct {
	service http.Handler
	fails   int64 // how many
	asked   atomic.Int64
}

func (a *absent) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.asked.Add(1) <= a.fails {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	a.service.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestOpenGivesUpWhereNoReplicaAnswers(t *testing.T) {
	for within, options := range map[time.Duration][]remote.Option{
		5 * time.Second:  nil,
		20 * time.Second: {remote.OpenWithin(20 * time.Second)},
		0:                {remote.OpenWithin(0)},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			client := &http.Client{Transport: &absent{fails: 1000}}
			l, err := remote.Open(t.Context(), []string{"http://service"}, append(options, remote.HTTPClient(client))...)
			if err == nil {
				l.Close()
				t.Fatal("no error")
			}
			if took := time.Since(begun); took != within {
				t.Errorf("gave up after %v, want %v", took, within)
			}
			if text := err.Error(); !strings.Contains(text, "connection refused") || !strings.Contains(text, "no replica answered for "+within.String()) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheLogSaysOnceThatNoReplicaAnswersAndOnceThatOneDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := serve.New(t.Context(), samples(43), serve.Loader(plan...))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var text bytes.Buffer
		client := &http.Client{Transport: &absent{service: s, fails: 4}}
		l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(client), remote.OpenWithin(time.Minute),
			remote.Logger(slog.New(slog.NewTextHandler(&text, nil))))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "no replica answers") || !strings.Contains(lines[0], "connection refused") ||
			!strings.Contains(lines[0], "request=/v1/plan") || !strings.Contains(lines[1], "answers again") {
			t.Errorf("got %q", lines)
		}
		sums(t, l, l.Position(0), 1)
		if more := text.String()[len(strings.Join(lines, "\n"))+1:]; more != "" {
			t.Errorf("nothing failed, but %q was logged", more)
		}
	})
}

func TestTheErrorOfAnotherPlanNamesBoth(t *testing.T) {
	first, err := serve.New(t.Context(), samples(43), serve.Loader(plan...))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := serve.New(t.Context(), samples(43), serve.Loader(plan...), serve.Identity("v2"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	now := &absent{service: first}
	l := open(t, []string{"http://service"}, remote.HTTPClient(&http.Client{Transport: now}))
	now.service = second
	_, err = l.Len(l.Position(0))
	if want := "http://service: it serves plan " + second.Plan() + ", want " + first.Plan(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
