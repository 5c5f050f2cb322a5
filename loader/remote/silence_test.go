package remote_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// replicas are services by the host of their URL, which answer in no time. The first request for
// the batch stuck of epoch 0 is not answered until its context is done, or its answer has no body
// until then. Workers overtake each other, so which request that is differs from run to run.
type replicas struct {
	services map[string]http.Handler
	stuck    int
	inBody   bool

	mu    sync.Mutex
	hosts []string        // of all requests for batches
	asked []string        // hosts that were asked for the batch stuck
	freed []time.Duration // after which time the context of its request was done
}

func (s *replicas) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if strings.Count(r.URL.Path, "/") == 5 && s.sticks(r) {
		body := stuckBody{r.Context(), s}
		if !s.inBody {
			_, err := body.Read(nil)
			return nil, err
		}
		w.WriteHeader(http.StatusOK)
		resp := w.Result()
		resp.Body = body
		return resp, nil
	}
	s.services[r.URL.Host].ServeHTTP(w, r)
	return w.Result(), nil
}

// A stuckBody has no byte until its context is done.
type stuckBody struct {
	ctx context.Context
	s   *replicas
}

func (b stuckBody) Read([]byte) (int, error) {
	begun := time.Now()
	<-b.ctx.Done()
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	b.s.freed = append(b.s.freed, time.Since(begun))
	return 0, b.ctx.Err()
}

func (b stuckBody) Close() error { return nil }

func (s *replicas) sticks(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts = append(s.hosts, r.URL.Host)
	if !strings.HasSuffix(r.URL.Path, fmt.Sprintf("/0/0-1/%d", s.stuck)) {
		return false
	}
	s.asked = append(s.asked, r.URL.Host)
	return len(s.asked) == 1
}

// newReplicas has two hosts.
func newReplicas(t *testing.T, stuck int) *replicas {
	s := &replicas{services: map[string]http.Handler{}, stuck: stuck}
	for _, host := range []string{"one", "two"} {
		service, err := serve.New(t.Context(), samples(1000), serve.Loader(plan...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := service.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		s.services[host] = service
	}
	return s
}

func (s *replicas) open(t *testing.T, options ...remote.Option) *loader.Loader {
	t.Helper()
	return open(t, []string{"http://one", "http://two"}, append(options, remote.HTTPClient(&http.Client{Transport: s}))...)
}

func TestARequestWithoutAnswerIsSentToAnotherReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplicas(t, 60)
		far := s.open(t, remote.Silence(30*time.Second))
		near := local(t, samples(1000), plan...)
		begun := time.Now()
		if got, want := sums(t, far, far.Position(0), 1), sums(t, near, near.Position(0), 1); !slices.Equal(got, want) {
			t.Error("the batches differ")
		}
		if took := time.Since(begun); took != 30*time.Second {
			t.Errorf("the epoch took %v, want the time of Silence", took)
		}
		if len(s.asked) != 2 || s.asked[0] == s.asked[1] {
			t.Fatalf("the hosts %v were asked for the same batch, want two", s.asked)
		}
	})
}

// Simulated time stands still after the silence, so the replica that was silent is not asked
// again in this epoch.
func TestASilentReplicaIsAvoided(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newReplicas(t, 60)
			s.inBody = inBody
			l := s.open(t, remote.Silence(30*time.Second))
			sums(t, l, l.Position(0), 1)
			if len(s.freed) != 1 || s.freed[0] != 30*time.Second {
				t.Errorf("in the body %v: the stuck request ended after %v, want the time of Silence", inBody, s.freed)
			}
			silent := s.hosts[0]
			last := 0 // request to the silent replica; other batches are in flight with the stuck one
			for k, host := range s.hosts {
				if host == silent {
					last = k
				}
			}
			if last > 60+4 || len(s.hosts) != 251 {
				t.Errorf("in the body %v: the replica that was silent got request %d of %d", inBody, last, len(s.hosts))
			}
		})
	}
}

func TestAReplicaIsNotAvoidedAfterALoopThatEndsEarly(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newReplicas(t, 5)
			s.inBody = inBody
			l := s.open(t)
			k := 0
			for _, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if k++; k == 3 {
					synctest.Wait() // the request for batch 5 is under way
					break
				}
			}
			if len(s.freed) != 1 {
				t.Fatalf("in the body %v: %d requests were cancelled, want one", inBody, len(s.freed))
			}
			sums(t, l, l.Position(1), 2)
			for k, host := range s.hosts {
				if host != s.hosts[0] {
					t.Fatalf("in the body %v: request %d went to %s, want %s as before", inBody, k, host, s.hosts[0])
				}
			}
		})
	}
}
