package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
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
	var url []string
	select {
	case a := <-address:
		url = []string{"https://" + a.String()}
	case err := <-ended:
		cancel()
		t.Fatalf("the service ended before it listened: %v", err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	epoch := func(l *loader.Loader) []string { return sums(t, l, l.Position(0), 1) }
	want := epoch(local(t, samples(43), plan...))
	secure := &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{ca.Pair(t, "trainer")}}
	if got := epoch(open(t, url, remote.TLS(secure))); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for want, options := range map[string][]remote.Option{
		"certificate signed by unknown authority": {remote.TLS(&tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{ca.Pair(t, "trainer")}})},
		"":                                     {remote.TLS(&tls.Config{RootCAs: ca.Pool()})}, // it has no certificate
		"remote: TLS(nil): want a *tls.Config": {remote.TLS(nil)},
		"remote: TLS: cannot be given together with HTTPClient": {remote.TLS(&tls.Config{}), remote.HTTPClient(http.DefaultClient)},
		"remote: HTTPClient(nil): want a client":                {remote.HTTPClient(nil)},
	} { // without a certificate, the error is an alert, or that the connection was closed
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

// TestTLSMayOfferHTTP2 to a service that would speak it: the client speaks HTTP/1.1.
func TestTLSMayOfferHTTP2(t *testing.T) {
	s, err := serve.New(t.Context(), samples(43), serve.Loader(plan...))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s)
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	authorities := x509.NewCertPool()
	authorities.AddCert(web.Certificate())
	secure := &tls.Config{RootCAs: authorities, NextProtos: []string{"h2", "http/1.1"}}
	l := open(t, []string{web.URL}, remote.TLS(secure), remote.OpenWithin(0), remote.Retries(0))
	if got, want := len(sums(t, l, l.Position(0), 1)), 11; got != want {
		t.Errorf("got %d batches, want %d", got, want)
	}
	if !slices.Equal(secure.NextProtos, []string{"h2", "http/1.1"}) {
		t.Errorf("the caller's NextProtos became %v", secure.NextProtos)
	}
}
