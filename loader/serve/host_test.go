package serve_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/penstock-go/penstock/loader/serve"
)

// A page of another site can make the browser send requests to this machine under the site's
// name, if that leads to 127.0.0.1.
func TestWithoutATokenAnotherSiteCannotReadBatches(t *testing.T) {
	for _, c := range []struct {
		host    string
		options []serve.ListenOption
		token   string
		want    int
	}{
		{"localhost", nil, "", 200},
		{"LOCALHOST:80", nil, "", 200},
		{"127.0.0.1:8080", nil, "", 200},
		{"127.1.2.3", nil, "", 200},
		{"[::1]", nil, "", 200},
		{"[::1]:8080", nil, "", 200},
		{"evil.example", nil, "", 403},
		{"evil.example:8080", nil, "", 403},
		{"127.0.0.1.evil.example", nil, "", 403},
		{"10.0.0.1", nil, "", 403},
		{"[::2]:8080", nil, "", 403},
		{"localhost.evil.example", nil, "", 403},
		{"evil.example", []serve.ListenOption{serve.Insecure()}, "", 200},
		{"service.example", nil, "secret", 200},
	} {
		var secured []serve.Option
		if c.token != "" {
			secured = append(secured, serve.Token(c.token))
		}
		ctx, cancel := context.WithCancel(t.Context())
		address, ended := make(chan net.Addr, 1), make(chan error, 1)
		options := append(c.options, serve.Listening(func(a net.Addr) { address <- a }))
		s := newServer(t, samples(9), secured...)
		go func() { ended <- serve.ListenAndServe(ctx, "localhost:0", s, options...) }()
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+listens(t, address, ended)+"/v1/plan", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.Close = c.host, true
		r.Header.Set("Authorization", "Bearer "+c.token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("host %s, token %q, %d options: status %d, want %d", c.host, c.token, len(c.options), resp.StatusCode, c.want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
