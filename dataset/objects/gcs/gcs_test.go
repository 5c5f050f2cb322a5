package gcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/storage"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"google.golang.org/api/option"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/conformance"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestFakeGCSServer(t *testing.T) {
	port := conformance.Ports(t, 1)[0]
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: uint16(number), PublicHost: "127.0.0.1:" + port, Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	access := []option.ClientOption{option.WithEndpoint(server.URL() + "/storage/v1/"), option.WithoutAuthentication()}
	client, err := storage.NewClient(t.Context(), access...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	conformance.Test(t, conformance.Service{
		Put: func(ctx context.Context, name string, data []byte) error {
			w := client.Bucket("bucket").Object(name).NewWriter(ctx)
			_, err := w.Write(data)
			return errors.Join(err, w.Close())
		},
		Remove: func(ctx context.Context, name string) error { return client.Bucket("bucket").Object(name).Delete(ctx) },
		Open: func(t *testing.T, a conformance.Access) objects.Remote {
			name := "bucket"
			if a.Missing {
				name = "no-such-bucket"
			}
			b, err := Open(t.Context(), name, Client(access...), Transport(a.Transport), Option{})
			if err != nil {
				t.Fatal(err)
			}
			b.(*remote).page = a.Page
			return b
		},
		Trusting: true,
	})
}

const secret = "ya29.secret"

// answering is a bucket of a server that gives the same answer to every request.
func answering(t *testing.T, status int, header http.Header, body string) *objects.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	b, err := Open(t.Context(), "b", Client(option.WithEndpoint(server.URL+"/storage/v1/"), option.WithoutAuthentication()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := objects.NewClient(b, objects.Retries(0), objects.Hedge(0), objects.Silence(time.Minute)) // 32 MiB take seconds
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrorsSayWhatTheServiceMeans(t *testing.T) {
	code := func(name, message string) string {
		return "<?xml version='1.0' encoding='UTF-8'?><Error><Code>" + name + "</Code><Message>" + message + "</Message></Error>"
	}
	for _, c := range []struct {
		status int
		header http.Header
		body   string
		is     error
		want   string
	}{
		{404, nil, code("NoSuchKey", "The specified key does not exist."), fs.ErrNotExist, "missing: HTTP 404 no such bucket"}, // a listing gets a 404, too
		{401, nil, code("AuthenticationRequired", secret), fs.ErrPermission, "forbidden: HTTP 401 AuthenticationRequired"},
		{403, nil, code("AccessDenied", "no access"), fs.ErrPermission, "forbidden: HTTP 403 AccessDenied"},
		{400, nil, code("ExpiredToken", ""), objects.ErrExpired, "expired: HTTP 400 ExpiredToken"},
		{412, nil, code("PreconditionFailed", ""), objects.ErrReplaced, "replaced by another version: HTTP 412 PreconditionFailed"},
		{416, nil, code("InvalidRange", ""), objects.ErrReplaced, "replaced by another version: HTTP 416 InvalidRange"},
		{403, nil, code("UserRateLimitExceeded", ""), nil, "gave up after 1 failures in a row: HTTP 403 UserRateLimitExceeded"},
		{429, nil, code("RateLimitExceeded", ""), nil, "gave up after 1 failures in a row: HTTP 429 RateLimitExceeded"},
		{503, nil, "", nil, "gave up after 1 failures in a row: HTTP 503 Service Unavailable"},
		{206, http.Header{"Content-Range": {"bytes 3-7/36"}, "X-Goog-Generation": {"1"}}, "34567", nil, "the response begins at byte 3, want 2"},
		{206, http.Header{"Content-Range": {"bytes 2-6/36"}}, "23456", nil, "the service tells no generation"},
	} {
		err := answering(t, c.status, c.header, c.body).ReadAt(t.Context(), objects.Object{Name: "x", Size: 36}, make([]byte, 5), 2)
		if err == nil || !strings.HasPrefix(err.Error(), "objects: read x: "+c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%d %s: got %v, want %s", c.status, c.body, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
	err := answering(t, 200, nil, "").ReadAt(t.Context(), objects.Object{Name: "x", Size: 36, Version: `"tag"`}, make([]byte, 5), 2)
	if want := `objects: read x: version "\"tag\"": want a generation`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// failing is a transport that gets no token.
type failing struct{ error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.error }

func TestRefusedTokensAreFinalAndNotShown(t *testing.T) {
	refusal := func(status int) error {
		return &auth.Error{Response: &http.Response{StatusCode: status}, Body: []byte(secret), Err: errors.New(secret)}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{refusal(401), "objects: stat x: no credentials: the service that gives tokens answers HTTP 401"},
		{refusal(503), "objects: stat x: gave up after 1 failures in a row: no credentials: the service that gives tokens answers HTTP 503"},
		{&fs.PathError{Op: "open", Path: "/run/token", Err: fs.ErrNotExist}, "objects: stat x: open /run/token: file does not exist"},
		{&url.Error{Op: "Post", URL: "https://tokens/?token=" + secret, Err: errors.New("connection refused")}, "objects: stat x: gave up after 1 failures in a row: connection refused"},
	} {
		b, err := Open(t.Context(), "b", Client(option.WithoutAuthentication()), Transport(failing{c.err}))
		if err != nil {
			t.Fatal(err)
		}
		client, err := objects.NewClient(b, objects.Retries(0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = client.Stat(t.Context(), "x"); fmt.Sprint(err) != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
		if errors.Is(err, fs.ErrNotExist) || !dataset.MayPass(err) {
			t.Errorf("%v: the object counts as missing", err)
		}
	}
}

func TestOpenNeedsABucket(t *testing.T) {
	if _, err := Open(t.Context(), ""); err == nil || err.Error() != "gcs: Open: want the name of a bucket" {
		t.Error(err)
	}
}

func TestIdentityNamesTheBucket(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1")
	b, err := Open(t.Context(), "photos")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Identity(); got != "gs://photos" {
		t.Errorf("got %q", got)
	}
}

func TestServicesThatPreferHTTP2AreReadWithHTTP1(t *testing.T) {
	server := conformance.HTTP2(t)
	b, err := Open(t.Context(), "b", Client(option.WithoutAuthentication(), option.WithEndpoint(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get(t.Context(), objects.Object{Name: "x"}, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the service's answer", err)
	}
	server.Want(t, "HTTP/1.1")
}

// A page without end would take memory without end.
func TestAPageOfAListingIsBounded(t *testing.T) {
	testenv.Slow(t)
	c := answering(t, 200, nil, `{"items":[{"name":"`+strings.Repeat("a", 33<<20))
	_, err := objects.NewFS(t.Context(), c, "")
	if err == nil || !strings.Contains(err.Error(), "an answer of more than 32 MiB that is no object") || strings.Contains(err.Error(), "gave up") {
		t.Errorf("error %.500v", err)
	}
}

func TestAReadIsNotBoundedAsAPageIs(t *testing.T) {
	const n = 33 << 20
	c := answering(t, 206, http.Header{"Content-Range": {fmt.Sprintf("bytes 0-%d/%d", n-1, n)}, "X-Goog-Generation": {"1"}}, strings.Repeat("a", n))
	p := make([]byte, n)
	if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: n, Version: "1"}, p, 0); err != nil || p[n-1] != 'a' {
		t.Error(err)
	}
}
