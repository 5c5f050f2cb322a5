package serve_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/authority"
	"github.com/penstock-go/penstock/loader/serve"
)

func TestTheServiceRefusesToBeReachedByAnybody(t *testing.T) {
	for _, c := range []struct {
		address string
		token   string
		options []serve.ListenOption
		refused bool
	}{
		{"localhost:0", "", nil, false},
		{"127.0.0.1:0", "", nil, false},
		{"[::1]:0", "", nil, false},
		{":0", "", nil, true},
		{"0.0.0.0:0", "secret", nil, true},
		{"[::]:0", "", nil, true},
		{":0", "", []serve.ListenOption{certificate(t)}, true},
		{":0", "", []serve.ListenOption{certificate(t), serve.ClientCA(authority.New(t).File())}, false},
		{":0", "secret", []serve.ListenOption{certificate(t)}, false},
		{":0", "", []serve.ListenOption{serve.Insecure()}, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		options := append(c.options, serve.Listening(func(net.Addr) { cancel() }))
		var secured []serve.Option
		if c.token != "" {
			secured = append(secured, serve.Token(c.token))
		}
		err := serve.ListenAndServe(ctx, c.address, newServer(t, samples(9), secured...), options...)
		cancel()
		if refused := err != nil && strings.Contains(err.Error(), "other machines"); refused != c.refused && !(c.address == "[::1]:0" && err != nil) {
			t.Errorf("%s, token %q, %d options: %v", c.address, c.token, len(c.options), err)
		}
	}
}

// certificate makes a certificate for localhost.
func certificate(t *testing.T) serve.ListenOption {
	t.Helper()
	return serve.TLS(authority.New(t).Issue(t, "service"))
}

// listens waits until a service listens, and returns its address.
func listens(t *testing.T, address <-chan net.Addr, ended <-chan error) string {
	t.Helper()
	select {
	case a := <-address:
		return a.String()
	case err := <-ended:
		t.Fatalf("the service ended before it listened: %v", err)
		return ""
	}
}

func TestOnlyClientsOfTheAuthorityAreServed(t *testing.T) {
	ours, others := authority.New(t), authority.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	address := make(chan net.Addr, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", newServer(t, samples(9)), serve.TLS(ours.Issue(t, "service")),
			serve.ClientCA(ours.File()), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	at := listens(t, address, ended)
	for name, c := range map[string]struct {
		certificates []tls.Certificate
		served       bool
	}{
		"ours":   {[]tls.Certificate{ours.Pair(t, "trainer")}, true},
		"others": {[]tls.Certificate{others.Pair(t, "trainer")}, false},
		"none":   {nil, false},
	} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ours.Pool(), Certificates: c.certificates}}
		resp, err := (&http.Client{Transport: transport}).Get("https://" + at + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		if served := err == nil && resp.StatusCode == http.StatusOK; served != c.served {
			t.Errorf("%s: served %v, %v", name, served, err)
		}
		transport.CloseIdleConnections()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string][]serve.ListenOption{
		"serve: ClientCA: want TLS too":         {serve.ClientCA(ours.File())},
		"serve: ClientCA: " + empty + " has no": {certificate(t), serve.ClientCA(empty)},
		"serve: ClientCA: open missing: ":       {certificate(t), serve.ClientCA("missing")},
		"serve: ClientCA: open : ":              {certificate(t), serve.ClientCA("")},
		"serve: TLS: open missing.pem: ":        {serve.TLS("missing.pem", "missing.key"), serve.Insecure()},
	} {
		options = append(options, serve.Listening(func(a net.Addr) { t.Errorf("%s: it listens", want) }))
		if err := serve.ListenAndServe(t.Context(), ":0", newServer(t, samples(9)), options...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRequestsEndBeforeTheService(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	entered, proceed := make(chan struct{}, 100), make(chan struct{})
	s := newServer(t, &source{n: 400, fails: func(i int) error {
		if i >= 200 {
			entered <- struct{}{}
			<-proceed
		}
		return nil
	}}, serve.Token("secret"))
	address := make(chan net.Addr, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", s, certificate(t), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	url := "https://" + listens(t, address, ended)
	got := make(chan string, 1)
	go func() {
		r, _ := http.NewRequest("GET", url+"/v1/"+s.Plan()+"/0/0-1/200", nil)
		r.Header.Set("Authorization", "Bearer secret")
		resp, err := client.Do(r)
		if err != nil {
			got <- err.Error()
			return
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		got <- resp.Status
		if err != nil {
			t.Error(err)
		}
	}()
	<-entered
	cancel()
	for request(s, "GET", "/readyz", nil).Code != 503 {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-ended:
		t.Errorf("the service ended before the request: %v", err)
	default:
	}
	close(proceed)
	if status := <-got; status != "200 OK" {
		t.Errorf("the request ended with %s", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
