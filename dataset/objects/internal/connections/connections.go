// Package connections sets up HTTP for many reads at once. Package objects and its modules for
// buckets share it.
package connections

import (
	"crypto/tls"
	"net/http"
)

// New is a transport like the default one, with [Separate] connections. It is the default one
// itself if a program has put another type in its place, such as one that traces requests.
func New() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	Separate(t)
	return t
}

// Separate keeps as many connections as there are reads at once, and speaks HTTP/1.1 on them:
// with HTTP/2 all requests would share a connection, and stall together.
func Separate(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
	t.ForceAttemptHTTP2 = false
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{}
	}
	t.TLSClientConfig.NextProtos = []string{"http/1.1"} // a clone of the default one offers HTTP/2
}
