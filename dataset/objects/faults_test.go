package objects_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

const text = "0123456789abcdefghijklmnopqrstuvwxyz"

func letters() *host { return newHost(fstest.MapFS{"a/text": {Data: []byte(text)}}) }

var object = objects.Object{Name: "a/text", Size: int64(len(text))}

// read reads n bytes from byte off on, and returns them with the error in words.
func read(ctx context.Context, s objects.Store, o objects.Object, off int64, n int) string {
	p := make([]byte, n)
	if err := s.ReadAt(ctx, o, p, off); err != nil {
		return err.Error()
	}
	return string(p)
}

func TestReadsGoOnAtTheByteReached(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []fault
		asked  string
	}{
		{"no fault", nil, "2-31"},
		{"reset", []fault{part(5), part(0), part(7)}, "2-31 7-31 7-31 14-31"},
		{"short body", []fault{short(5), short(1)}, "2-31 7-31 8-31"},
		{"unavailable", []fault{status(503), part(5), status(429), status(500)}, "2-31 2-31 7-31 7-31 7-31"},
		{"silence", []fault{stall(0), stall(3)}, "2-31 2-31 5-31"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := letters()
				s := store(t, h)
				h.next(c.faults...)
				if got := read(t.Context(), s, object, 2, 30); got != text[2:32] {
					t.Errorf("got %q, want %q", got, text[2:32])
				}
				if got := h.asked(); got != c.asked {
					t.Errorf("asked for %s, want %s", got, c.asked)
				}
				want := objects.Stats{Requests: int64(len(c.faults) + 1), Bytes: 30, Retries: int64(len(c.faults))}
				if got := s.Stats(); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestPermanentErrorsAreNotTriedAgain(t *testing.T) {
	for _, c := range []struct {
		fault fault
		is    error
		want  string
	}{
		{status(404), fs.ErrNotExist, "missing: HTTP 404 Not Found"},
		{status(410), fs.ErrNotExist, "missing: HTTP 410 Gone"},
		{status(401), fs.ErrPermission, "forbidden: HTTP 401 Unauthorized"},
		{status(403), fs.ErrPermission, "forbidden: HTTP 403 Forbidden"},
		{says(403, "<Code>AccessDenied</Code><Message>Request has expired</Message>"), objects.ErrExpired, "expired: HTTP 403 Forbidden"},
		{says(403, "Signature not valid in the specified time frame"), objects.ErrExpired, "expired: HTTP 403 Forbidden"},
		{says(403, "Signed expiry time [Thu] must be after signed start time [Fri]"), objects.ErrExpired, "expired: HTTP 403 Forbidden"},
		{status(409), fs.ErrPermission, "forbidden: HTTP 409 Conflict"},
		{says(400, "<Code>ExpiredToken</Code>"), objects.ErrExpired, "expired: HTTP 400 Bad Request"},
		{status(400), nil, "HTTP 400 Bad Request"},
		{status(412), objects.ErrReplaced, "replaced by another version: HTTP 412 Precondition Failed"},
		{status(416), objects.ErrReplaced, "replaced by another version: HTTP 416 Requested Range Not Satisfiable"},
		{status(501), nil, "HTTP 501 Not Implemented"},
		{status(204), nil, "HTTP 204 No Content"},
		{status(304), nil, "HTTP 304 Not Modified"},
		{status(206), nil, `the response has Content-Range ""`},
		{status(206, "Content-Range", "bytes x-y/9"), nil, `the response has Content-Range "bytes x-y/9"`},
		{status(206, "Content-Range", "bytes 3-31/36"), nil, "the response begins at byte 3, want 2"},
		{status(206, "Content-Range", "bytes 2-31/37"), nil, "the server tells no version"},
		{status(206, "Content-Range", "bytes 2-31/37", "ETag", `"1"`), objects.ErrReplaced, "replaced by another version: 37 bytes, were 36"},
		{status(200, "Content-Encoding", "gzip"), nil, `the response has Content-Encoding "gzip"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := letters()
			s := store(t, h)
			h.next(c.fault)
			err := s.ReadAt(t.Context(), object, make([]byte, 30), 2)
			if err == nil || !strings.HasPrefix(err.Error(), "objects: read a/text: "+c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
			if n := s.Stats().Requests; n != 1 {
				t.Errorf("%v: %d requests, want 1", err, n)
			}
		})
	}
}

func TestReadsGiveUpAfterRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.always = status(503)
		s := store(t, h)
		begin := time.Now()
		want := "objects: read a/text: gave up after 9 failures in a row: HTTP 503 Service Unavailable"
		if got := read(t.Context(), s, object, 0, 1); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if took := time.Since(begin); took > 23*time.Second {
			t.Errorf("gave up after %v, want 23 s at most", took)
		}
		if got := s.Stats(); got.Requests != 9 || got.Retries != 8 {
			t.Errorf("got %+v, want 9 requests", got)
		}
	})
}

func TestProgressMakesFailuresCountAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := bytes.Repeat([]byte(text), 100_000)
		h := newHost(fstest.MapFS{"a/text": {Data: big}})
		s := store(t, h)
		var faults []fault
		for range 10 {
			faults = append(faults, part(300_000))
		}
		h.next(faults...)
		got := make([]byte, len(big))
		if err := s.ReadAt(t.Context(), objects.Object{Name: "a/text", Size: int64(len(big))}, got, 0); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, big) {
			t.Error("the bytes differ")
		}
	})
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		s := store(t, h)
		date := time.Now().Add(70 * time.Second).UTC().Format(http.TimeFormat)
		for _, c := range []struct {
			field string
			want  time.Duration
		}{{"30", 30 * time.Second}, {date, 39 * time.Second}, {"soon", 0}, {"-1", 0}} {
			begin := time.Now()
			h.next(status(503, "Retry-After", c.field))
			if got := read(t.Context(), s, object, 0, 5); got != "01234" {
				t.Fatal(got)
			}
			if took := time.Since(begin); took < c.want || took > c.want+2*time.Second {
				t.Errorf("Retry-After: %s: waited %v, want %v", c.field, took, c.want)
			}
		}
		h.next(status(429, "Retry-After", "3600"))
		want := "objects: read a/text: HTTP 429 Too Many Requests: the service asks to wait for 1h0m0s"
		if got := read(t.Context(), s, object, 0, 5); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// A response that is slow but never silent is no stall.
func TestSlowResponsesAreNotStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.always = func(w http.ResponseWriter, r *http.Request, data []byte) {
			for _, c := range begin(w, r, data) {
				time.Sleep(9 * time.Second)
				w.Write([]byte{c})
				w.(http.Flusher).Flush()
			}
		}
		s := store(t, h)
		if got := read(t.Context(), s, object, 3, 10); got != text[3:13] {
			t.Error(got)
		}
		if n := s.Stats().Requests; n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

func TestCancellationStopsAReadAtOnce(t *testing.T) {
	for name, f := range map[string]fault{"first byte": stall(0), "body": stall(5), "pause": status(503, "Retry-After", "60")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := letters()
				h.always = f
				s := store(t, h)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				begin := time.Now()
				err := s.ReadAt(ctx, object, make([]byte, 30), 0)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the context's error", err)
				}
				if took := time.Since(begin); took != 3*time.Second {
					t.Errorf("ended after %v, want 3 s", took)
				}
			})
		})
	}
}

func TestReplacedObjectsAreErrors(t *testing.T) {
	other := "9876543210" + text[10:]
	for name, how := range map[string]stamp{"strong": strong, "weak": weak, "dated": dated} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := letters()
				h.stamp = how
				s := store(t, h)
				if got := read(t.Context(), s, object, 0, 5); got != text[:5] {
					t.Fatal(got)
				}
				h.replace("a/text", other)
				err := s.ReadAt(t.Context(), object, make([]byte, 5), 5)
				if !errors.Is(err, objects.ErrReplaced) {
					t.Errorf("got %v, want ErrReplaced", err)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				h := letters()
				h.stamp = how
				s := store(t, h)
				h.next(part(5), func(w http.ResponseWriter, r *http.Request, data []byte) {
					h.replace("a/text", other)
					part(1)(w, r, data)
				})
				err := s.ReadAt(t.Context(), object, make([]byte, 30), 5)
				if !errors.Is(err, objects.ErrReplaced) {
					t.Errorf("in the middle of a read: got %v, want ErrReplaced", err)
				}
			})
		})
	}
}
