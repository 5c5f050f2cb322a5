package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/authority"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// TestBatchesComeOverTLSOfAPrivateAuthority, which has issued the certificates of the service
// and of the trainer.
func TestBatchesComeOverTLSOfAPrivateAuthority(t *testing.T) {
	ca := authority.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := serve.New(ctx, samples(43), serve.Loader(plan...))
	if err != nil {
		t.Fatal(err)
	}
	address := make(chan net.Addr, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", s, serve.TLS(ca.Issue(t, "service")), serve.ClientCA(ca.File()),
			serve.Listening(func(a net.Addr) { address <- a }))
	}()
	url := []string{"https://" + (<-address).String()}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	epoch := func(l *loader.Loader) []string { return sums(t, l, l.Position(0), 1) }
	want := epoch(local(t, samples(43), plan...))
	for name, secure := range map[string]*tls.Config{
		"plain":          {RootCAs: ca.Pool(), Certificates: []tls.Certificate{ca.Pair(t, "trainer")}},
		"asks for HTTP2": {RootCAs: ca.Pool(), Certificates: []tls.Certificate{ca.Pair(t, "trainer")}, NextProtos: []string{"h2", "http/1.1"}},
	} {
		l := open(t, url, remote.TLS(secure))
		if got := epoch(l); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for want, options := range map[string][]remote.Option{
		"certificate signed by unknown authority":               {remote.TLS(&tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{ca.Pair(t, "trainer")}})},
		"certificate required":                                  {remote.TLS(&tls.Config{RootCAs: ca.Pool()})},
		"remote: TLS(nil): want a *tls.Config":                  {remote.TLS(nil)},
		"remote: TLS: cannot be given together with HTTPClient": {remote.TLS(&tls.Config{}), remote.HTTPClient(http.DefaultClient)},
		"remote: HTTPClient(nil): want a client":                {remote.HTTPClient(nil)},
	} { // the second error is an alert, or that the connection was closed
		if l, err := remote.Open(t.Context(), url, append(options, remote.OpenWithin(0))...); err == nil {
			l.Close()
			t.Errorf("%s: no error", want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := remote.Open(t.Context(), []string{"http://localhost:1"}, remote.TLS(&tls.Config{})); err == nil || !strings.Contains(err.Error(), "remote: Open: http://localhost:1: TLS needs https") {
		t.Errorf("got %v", err)
	}
}
