package objects_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
)

// redirecting answers with a redirect, and notes the hosts that it was asked for.
type redirecting struct {
	to    string
	hosts []string
}

func (t *redirecting) RoundTrip(r *http.Request) (*http.Response, error) {
	t.hosts = append(t.hosts, r.URL.Hostname())
	if len(t.hosts) > 1 {
		return said{200, http.Header{"Etag": {`"1"`}}, []byte("0123")}.RoundTrip(r)
	}
	return said{302, http.Header{"Location": {t.to}}, nil}.RoundTrip(r)
}

func TestRedirectsDoNotReachTheMachineItself(t *testing.T) {
	for _, c := range []struct {
		base, to string
		ok       bool
	}{
		{"http://data.example.org/", "http://169.254.169.254/latest/meta-data/", false},
		{"http://data.example.org/", "http://127.0.0.1:8080/x", false},
		{"http://data.example.org/", "http://[::1]/x", false},
		{"http://data.example.org/", "http://[::ffff:127.0.0.1]/x", false},
		{"http://data.example.org/", "http://[fe80::1%25eth0]/x", false},
		{"http://data.example.org/", "http://0.0.0.0/x", false},
		{"http://data.example.org/", "http://localhost/x", false},
		{"http://data.example.org/", "http://a.LocalHost./x", false},
		{"http://data.example.org/", "http://127.1/x", false},
		{"http://data.example.org/", "http://2130706433/x", false},
		{"http://data.example.org/", "http://0x7f000001/x", false},
		{"http://203.0.113.9/", "http://127.0.0.1/x", false},
		{"http://data.example.org/", "http://cdn.example.org/x", true},
		{"http://data.example.org/", "http://203.0.113.9/x", true},
		{"http://data.example.org/", "http://10.0.0.9/x", true},
		{"http://10.0.0.9/", "http://127.0.0.1/x", true},
		{"http://localhost/", "http://127.0.0.1/x", true},
		{"http://[::1]:80/", "http://127.0.0.1/x", true},
	} {
		transport := &redirecting{to: c.to}
		s := client(t, c.base, []objects.HTTPOption{objects.HTTPClient(&http.Client{Transport: transport})}, objects.Hedge(0))
		_, err := s.Stat(t.Context(), "x")
		if refused := err != nil && strings.Contains(err.Error(), "redirected to an address of this machine or of its link"); refused == c.ok || (len(transport.hosts) == 2) != c.ok {
			t.Errorf("%s to %s: error %v, asked %q", c.base, c.to, err, transport.hosts)
		}
	}
}
