package conformance

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// A TLSServer prefers HTTP/2, as most services do. It answers that nothing is there.
type TLSServer struct {
	*httptest.Server
	mu        sync.Mutex
	protocols []string // of requests
}

// HTTP2 starts a TLSServer, and lets the default transport trust it until the test ends.
func HTTP2(t *testing.T) *TLSServer {
	t.Helper()
	s := &TLSServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.protocols = append(s.protocols, r.Proto)
		http.NotFound(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	former := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = former })
	trusting := former.(*http.Transport).Clone()
	s.Trust(trusting)
	http.DefaultTransport = trusting
	return s
}

// Trust lets a transport trust the server.
func (s *TLSServer) Trust(t *http.Transport) {
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	t.TLSClientConfig.RootCAs.AddCert(s.Certificate())
}

// Want compares the protocol of all requests.
func (s *TLSServer) Want(t *testing.T, protocol string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := slices.Compact(slices.Clone(s.protocols)); len(got) != 1 || got[0] != protocol {
		t.Errorf("the server was asked with %v, want %s", got, protocol)
	}
}
