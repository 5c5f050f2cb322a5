package conformance

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

// errMissing is fs.ErrNotExist of an object in a bucket that exists.
var errMissing = errors.New("the object is missing")

// every calls all kinds of reads of an object, and checks their errors. A loader that skips
// damaged samples skips an object that is missing in a bucket, and ends after all other errors.
func (s Service) every(t *testing.T, c *objects.Client, o objects.Object, want error) {
	t.Helper()
	check := func(op string, err error) {
		t.Helper()
		switch {
		case !errors.Is(err, want) && !(want == errMissing && errors.Is(err, fs.ErrNotExist)):
			t.Errorf("%s: got %v, want %v", op, err, want)
		case dataset.MayPass(err) != (want != errMissing):
			t.Errorf("%s: %v: may pass: %v", op, err, dataset.MayPass(err))
		case s.Secret != "" && strings.Contains(err.Error(), s.Secret), strings.Contains(err.Error(), "://"):
			t.Errorf("%s: the error shows too much: %v", op, err)
		case !strings.HasPrefix(err.Error(), "objects: "):
			t.Errorf("%s: %v", op, err)
		}
	}
	before := c.Stats().Requests
	_, err := c.Stat(t.Context(), o.Name)
	check("Stat", err)
	check("ReadAt", c.ReadAt(t.Context(), o, make([]byte, 5), 0))
	if n := c.Stats().Requests - before; n != 2 {
		t.Errorf("%d requests, want 2: such an error is final", n)
	}
}

// listing is the error of listing a bucket.
func listing(ctx context.Context, c *objects.Client) error {
	for _, err := range c.List(ctx, "x") {
		return err
	}
	return nil
}

func (s Service) replaced(t *testing.T) {
	c, _ := s.client(t, Access{})
	s.put(t, "replaced/x", []byte("0123456789"))
	var listed objects.Object
	for o, err := range c.List(t.Context(), "replaced/") {
		if err != nil {
			t.Fatal(err)
		}
		listed = o
	}
	got := make([]byte, 5)
	if err := c.ReadAt(t.Context(), listed, got, 0); err != nil || string(got) != "01234" {
		t.Fatalf("got %q, error %v", got, err)
	}
	s.put(t, "replaced/x", []byte("abcdefghij")) // of the same size
	if err := c.ReadAt(t.Context(), listed, got, 5); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("the version that was listed: got %q, %v, want ErrReplaced", got, err)
	}
	s.put(t, "replaced/y", []byte("0123456789"))
	y := objects.Object{Name: "replaced/y", Size: -1}
	if err := c.ReadAt(t.Context(), y, got, 0); err != nil || string(got) != "01234" {
		t.Fatalf("got %q, error %v", got, err)
	}
	s.put(t, "replaced/y", []byte("abcdefghij"))
	s.every(t, c, y, objects.ErrReplaced) // the version that was read first
	other, _ := s.client(t, Access{})
	if err := other.ReadAt(t.Context(), y, got, 5); err != nil || string(got) != "fghij" {
		t.Errorf("another client: got %q, error %v", got, err)
	}
}

func (s Service) missing(t *testing.T) {
	c, _ := s.client(t, Access{})
	s.every(t, c, objects.Object{Name: "missing/x", Size: 10}, errMissing)
	s.put(t, "missing/y", []byte("0123456789"))
	y, err := c.Stat(t.Context(), "missing/y")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "missing/y"); err != nil {
		t.Fatal(err)
	}
	s.every(t, c, y, errMissing)

	c, _ = s.client(t, Access{Missing: true})
	s.every(t, c, objects.Object{Name: "x", Size: 10}, fs.ErrNotExist)
	if err := listing(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("listing a missing bucket: got %v, want fs.ErrNotExist", err)
	} else {
		t.Log(err)
	}
}

func (s Service) wrongCredentials(t *testing.T) {
	if s.Trusting {
		t.Skip("the service checks no credentials")
	}
	s.put(t, "wrong/x", random(10))
	c, _ := s.client(t, Access{WrongCredentials: true})
	s.every(t, c, objects.Object{Name: "wrong/x", Size: 10}, fs.ErrPermission)
	err := listing(t.Context(), c)
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), s.Secret) {
		t.Errorf("listing: got %v, want fs.ErrPermission", err)
	}
	t.Log(err)
}

func (s Service) presigned(t *testing.T) {
	if s.Presign == nil {
		t.Skip("the service checks no presigned URLs")
	}
	s.put(t, "signed/x y", []byte("0123456789"))
	for _, old := range []bool{false, true} {
		url := s.Presign(t, "signed/x y", old)
		server, err := objects.HTTP("", objects.Sign(func(context.Context, string) (string, error) { return url, nil }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.(interface{ CloseIdleConnections() }).CloseIdleConnections)
		c, err := objects.NewClient(server)
		if err != nil {
			t.Fatal(err)
		}
		o := objects.Object{Name: "signed/x y", Size: -1}
		if old {
			s.every(t, c, o, objects.ErrExpired)
			continue
		}
		got := make([]byte, 5)
		if err := c.ReadAt(t.Context(), o, got, 5); err != nil || string(got) != "56789" {
			t.Errorf("got %q, error %v", got, err)
		}
	}
}

func (s Service) broken(t *testing.T) {
	data := random(200_000)
	s.put(t, "broken/x", data)
	c, wire := s.client(t, Access{})
	hasty, hastyWire := s.client(t, Access{}, objects.Silence(time.Second))
	o, err := c.Stat(t.Context(), "broken/x")
	if err != nil {
		t.Fatal(err)
	}
	for name, faults := range map[string][]fault{
		"unavailable": {status(503), status(429), status(500), nil},
		"reset":       {reset(100_000), reset(0), reset(5000), nil},
		"short":       {short(100_000), short(0), short(5000), nil},
		"refused":     {refuse, nil},
	} {
		wire.next(faults...)
		got := make([]byte, len(data)-7)
		if err := c.ReadAt(t.Context(), o, got, 7); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got, data[7:]) {
			t.Errorf("%s: the bytes differ", name)
		}
		if n := wire.requests(); n != len(faults) {
			t.Errorf("%s: %d requests, want %d: only the client tries again", name, n, len(faults))
		}
		if n := wire.bytes(); n > int64(len(data))+64<<10 {
			t.Errorf("%s: %d bytes were sent for %d: a read does not go on where it was", name, n, len(data))
		}
	}
	got := make([]byte, len(data))
	hastyWire.next(stall(100_000), stall(0), nil)
	if err := hasty.ReadAt(t.Context(), o, got, 0); err != nil || !bytes.Equal(got, data) {
		t.Errorf("silent: error %v, or the bytes differ", err)
	}
	if n := hastyWire.requests(); n < 3 { // more on a machine that stands still for a second
		t.Errorf("silent: %d requests, want 3", n)
	}
	wire.next(another)
	if err := c.ReadAt(t.Context(), o, got, 0); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("a response of another version: got %v, want ErrReplaced", err)
	}
	wire.next(func(r *response) error {
		s.put(t, "broken/x", data[1:])
		return reset(100_000)(r)
	})
	if err := c.ReadAt(t.Context(), o, got, 0); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("replaced in the middle of a read: got %v, want ErrReplaced", err)
	}
}

func (s Service) cancelled(t *testing.T) {
	s.put(t, "cancelled/x", random(10))
	c, wire := s.client(t, Access{})
	ctx, cancel := context.WithCancel(t.Context())
	wire.next(func(*response) error { cancel(); <-ctx.Done(); return ctx.Err() })
	if err := c.ReadAt(ctx, objects.Object{Name: "cancelled/x", Size: 10}, make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
