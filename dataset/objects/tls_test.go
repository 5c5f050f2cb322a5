package objects_test

import (
	"errors"
	"io/fs"
	"net/http"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/conformance"
)

func TestServersThatPreferHTTP2AreReadWithHTTP1(t *testing.T) {
	server := conformance.HTTP2(t)
	remote, err := objects.HTTP(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remote.(interface{ CloseIdleConnections() }).CloseIdleConnections)
	if _, _, err := remote.Get(t.Context(), objects.Object{Name: "x"}, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the server's answer", err)
	}
	server.Want(t, "HTTP/1.1")
}

// counted is a transport that a program has put in place of the default one.
type counted struct {
	http.RoundTripper
	requests int
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests++
	return c.RoundTripper.RoundTrip(r)
}

func TestAnotherDefaultTransportIsUsed(t *testing.T) {
	server := conformance.HTTP2(t)
	other := &counted{RoundTripper: http.DefaultTransport}
	http.DefaultTransport = other // until conformance.HTTP2 puts back the former one
	remote, err := objects.HTTP(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := remote.Get(t.Context(), objects.Object{Name: "x"}, 0, 1); !errors.Is(err, fs.ErrNotExist) || other.requests != 1 {
		t.Errorf("got %v after %d requests", err, other.requests)
	}
}
