package objects_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

func TestErrorsHoldNoSecrets(t *testing.T) {
	redirect := func(to string) fault {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	for _, f := range []fault{
		status(404), status(403), says(403, "expired SECRET"), status(412), part(0),
		redirect("http://host:SECRET/x?sig=SECRET"), redirect("ftp://u:SECRET@host/x?sig=SECRET"), redirect("http://%zz/?sig=SECRET"),
	} {
		synctest.Test(t, func(t *testing.T) {
			h := letters()
			h.always = f
			signed := func(_ context.Context, name string) (string, error) {
				return "http://user:SECRET@host/data/" + name + "?X-Amz-Signature=SECRET", nil
			}
			s := client(t, "", []objects.HTTPOption{objects.Sign(signed), objects.Header("Authorization", "Bearer SECRET"), objects.HTTPClient(serve(t, h))}, objects.Retries(1))
			_, err := s.Stat(t.Context(), "a/text")
			for _, err := range []error{s.ReadAt(t.Context(), object, make([]byte, 5), 0), err} {
				for ; err != nil; err = errors.Unwrap(err) {
					if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "SECRET") {
						t.Errorf("%T holds a secret: %s", err, text)
					}
				}
			}
		})
	}
	for _, cause := range []error{errors.New("refused"), fs.ErrNotExist} {
		sign := objects.Sign(func(context.Context, string) (string, error) {
			return "", &url.Error{Op: "Get", URL: "https://tokens/?key=SECRET", Err: fmt.Errorf("https://u:SECRET@tokens/: %w", cause)}
		})
		err := client(t, "", []objects.HTTPOption{sign}).ReadAt(t.Context(), object, make([]byte, 5), 0)
		if text := fmt.Sprintf("%v %+v", err, err); err == nil || strings.Contains(text, "SECRET") || !strings.Contains(text, cause.Error()) || errors.Is(err, fs.ErrNotExist) != (cause == fs.ErrNotExist) {
			t.Errorf("an error of Sign: %s", text)
		}
	}
	for _, base := range []string{"http://u:SECRET@h:x/", "://SECRET", "ftp://u:SECRET@h/", "http:///SECRET"} {
		if _, err := objects.HTTP(base); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: got %v", base, err)
		}
	}
}

// TestOnlyAMissingObjectCountsAsADamagedSample has statuses that remain after all retries.
func TestOnlyAMissingObjectCountsAsADamagedSample(t *testing.T) {
	mayPass := func(h *host, want bool, options ...objects.HTTPOption) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := store(t, h, options...)
			err := s.ReadAt(t.Context(), object, make([]byte, 1), 0)
			_, err2 := s.Stat(t.Context(), object.Name)
			for _, err := range []error{err, err2} {
				if got := dataset.MayPass(fmt.Errorf("wrapped: %w", err)); err == nil || got != want {
					t.Errorf("%v may pass: %v, want %v", err, got, want)
				}
			}
		})
	}
	for code, want := range map[int]bool{503: true, 429: true, 412: true, 404: false, 410: false, 401: true, 403: true, 409: true, 400: true, 304: true} {
		h := letters()
		h.always = status(code)
		mayPass(h, want)
	}
	sign := func(err error) objects.HTTPOption {
		return objects.Sign(func(context.Context, string) (string, error) { return "", err })
	}
	mayPass(letters(), true, sign(errors.New("no token")))
	mayPass(letters(), false, sign(fmt.Errorf("not in the catalog: %w", fs.ErrNotExist)))
}

// TestARangeOutsideTheObjectEndsALoop because the index or the program is wrong.
func TestARangeOutsideTheObjectEndsALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store(t, letters())
		for _, off := range []int64{-1, object.Size, object.Size + 1} {
			if err := s.ReadAt(t.Context(), object, make([]byte, 1), off); err == nil || !dataset.MayPass(err) {
				t.Errorf("byte %d: %v", off, err)
			}
		}
	})
}

// TestAnUnknownHostEndsALoop because it says nothing about the sample.
func TestAnUnknownHostEndsALoop(t *testing.T) {
	for name, cause := range map[string]error{
		"name service":       &net.DNSError{Err: "no such host", Name: "data", IsNotFound: true},
		"certificate":        &tls.CertificateVerificationError{Err: errors.New("expired")},
		"token file missing": &fs.PathError{Op: "open", Path: "/run/token", Err: fs.ErrNotExist},
	} {
		server, err := objects.HTTP("http://data/", objects.HTTPClient(&http.Client{Transport: fails{cause}}))
		if err != nil {
			t.Fatal(err)
		}
		s, err := objects.NewClient(server)
		if err != nil {
			t.Fatal(err)
		}
		err = s.ReadAt(t.Context(), object, make([]byte, 1), 0)
		if !dataset.MayPass(err) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), cause.Error()) {
			t.Errorf("%s: %v: may pass: %v, missing: %v", name, err, dataset.MayPass(err), errors.Is(err, fs.ErrNotExist))
		}
		if n := s.Stats().Requests; n != 1 {
			t.Errorf("%s: %d requests, want 1", name, n)
		}
	}
}

// fails is a transport of requests that fail.
type fails struct{ error }

func (f fails) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.error }
