package remote_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// replicas are services by the host of their URL, which answer in no time. One request for a
// batch, that of the number stuck, is not answered until its context is done.
type replicas struct {
	services map[string]http.Handler
	stuck    int

	mu    sync.Mutex
	count int             // requests for batches
	path  string          // of the stuck request
	asked []string        // hosts that were asked for it
	begun []time.Time     // when
	freed []time.Duration // after which time its context was done
}

func (s *replicas) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Count(r.URL.Path, "/") == 5 && s.sticks(r) {
		begun := time.Now()
		<-r.Context().Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.freed = append(s.freed, time.Since(begun))
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	s.services[r.URL.Host].ServeHTTP(w, r)
	return w.Result(), nil
}

func (s *replicas) sticks(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if s.count == s.stuck {
		s.path = r.URL.Path
	}
	if s.path != "" && r.URL.Path == s.path {
		s.asked = append(s.asked, r.URL.Host)
		s.begun = append(s.begun, time.Now())
	}
	return s.count == s.stuck
}

// All other requests take no time, so the second one is sent after the least delay. Without
// it, the first one ends after the time of Silence.
func TestARequestWithoutAnswerIsSentToAnotherReplica(t *testing.T) {
	for hedge, want := range map[float64]time.Duration{1: time.Millisecond, 0: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := &replicas{services: map[string]http.Handler{}, stuck: 60}
			for _, host := range []string{"one", "two"} {
				service, err := serve.New(t.Context(), samples(1000), serve.Loader(plan...))
				if err != nil {
					t.Fatal(err)
				}
				defer service.Close()
				s.services[host] = service
			}
			far := open(t, []string{"http://one", "http://two"}, remote.HTTPClient(&http.Client{Transport: s}),
				remote.Hedge(hedge), remote.Silence(30*time.Second))
			near := local(t, samples(1000), plan...)
			begun := time.Now()
			if got, want := sums(t, far, far.Position(0), 1), sums(t, near, near.Position(0), 1); !slices.Equal(got, want) {
				t.Error("the batches differ")
			}
			if took := time.Since(begun); took != want {
				t.Errorf("Hedge(%v): the epoch took %v, want %v", hedge, took, want)
			}
			if len(s.asked) != 2 || s.asked[0] == s.asked[1] {
				t.Fatalf("Hedge(%v): the hosts %v were asked for the same batch, want two", hedge, s.asked)
			}
			if d := s.begun[1].Sub(s.begun[0]); d != want {
				t.Errorf("Hedge(%v): the second request was sent after %v, want %v", hedge, d, want)
			}
			if !slices.Equal(s.freed, []time.Duration{want}) {
				t.Errorf("Hedge(%v): the first request ended after %v, want %v", hedge, s.freed, want)
			}
		})
	}
}
