package objects_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset/objects"
)

// bodies counts the bodies of responses that are not closed.
type bodies struct {
	http.RoundTripper
	open int
}

type body struct {
	io.ReadCloser
	close func()
}

func (b *body) Close() error { b.close(); return b.ReadCloser.Close() }

func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		b.open++
		resp.Body = &body{resp.Body, sync.OnceFunc(func() { b.open-- })}
	}
	return resp, err
}

func TestBodiesOfAllResponsesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		c := serve(t, h)
		counted := &bodies{RoundTripper: c.Transport}
		s := client(t, "http://host/data/", []objects.HTTPOption{objects.HTTPClient(&http.Client{Transport: counted})})
		for name, f := range map[string]fault{
			"empty":  status(416, "Content-Range", "bytes */0", "ETag", `"1"`),
			"shrunk": status(416, "Content-Range", "bytes */7", "ETag", `"1"`),
			"gone":   status(410),
			"zipped": status(206, "Content-Range", "bytes 0-0/9", "ETag", `"1"`, "Content-Encoding", "gzip"),
			"right":  nil,
		} {
			h.next(f)
			_, _ = s.Stat(t.Context(), "a/text") // right or wrong, it has a response
			if counted.open != 0 {
				t.Errorf("%s: the body is not closed", name)
				counted.open = 0
			}
		}
	})
}

// A service that is short of something should not have to make new connections, too.
func TestRefusalsKeepTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		remote, err := objects.HTTP("http://host/data/", objects.HTTPClient(serve(t, h)))
		if err != nil {
			t.Fatal(err)
		}
		connections := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
			if !c.Reused {
				connections++
			}
		}})
		for code := range 4 {
			h.next(says(500+code, strings.Repeat("busy ", 100)))
			if _, _, err := remote.Get(ctx, object, 0, 1); err == nil {
				t.Error("no error")
			}
			synctest.Wait()
		}
		if connections != 1 {
			t.Errorf("%d connections for four requests one after the other, want 1", connections)
		}
	})
}
