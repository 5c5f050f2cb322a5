// Package conformance tests remotes of buckets against the services that hold them.
package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/objects"
)

// A Service is a bucket of a service that runs, with nothing in it.
type Service struct {
	// Put stores an object, in place of one that has that name.
	Put func(ctx context.Context, name string, data []byte) error
	// Remove removes an object.
	Remove func(ctx context.Context, name string) error
	// Open makes a remote.
	Open func(t *testing.T, a Access) objects.Remote
	// Presign makes a URL of an object that is valid, or that was valid an hour ago. It
	// is nil if the service does not check such URLs.
	Presign func(t *testing.T, name string, old bool) string
	// Secret is what no error may show.
	Secret string
	// Open to everybody: the service checks no credentials.
	Trusting bool
	// NotNames are odd names that the service does not take, with the reason.
	NotNames map[string]string
}

// Access is how a remote reaches a service.
type Access struct {
	Transport        http.RoundTripper // sends its requests
	Page             int               // objects in a page of a listing
	Missing          bool              // the bucket is not there
	WrongCredentials bool
}

// Test runs all tests, each of which puts objects of its own.
func Test(t *testing.T, s Service) {
	t.Run("ListingsHavePagesAndGoOn", s.listings)
	t.Run("OddNamesAreReadBack", s.oddNames)
	t.Run("RangesAreTheBytesOfTheObject", s.ranges)
	t.Run("EmptyObjectsAreEmpty", s.empty)
	t.Run("FilesAreThoseOfAFileSystem", s.fileSystem)
	t.Run("ReplacedObjectsAreErrors", s.replaced)
	t.Run("MissingObjectsAndBucketsAreErrors", s.missing)
	t.Run("WrongCredentialsAreErrorsThatDoNotShowThem", s.wrongCredentials)
	t.Run("OldPresignedURLsAreExpired", s.presigned)
	t.Run("BrokenRequestsGoOnAtTheByteReached", s.broken)
	t.Run("CancellationEndsARead", s.cancelled)
}

func (s Service) client(t *testing.T, a Access, options ...objects.Option) (*objects.Client, *Wire) {
	t.Helper()
	w := newWire()
	t.Cleanup(w.CloseIdleConnections)
	a.Transport = w
	c, err := objects.NewClient(s.Open(t, a), append(options, objects.Hedge(0))...)
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

func (s Service) put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), name, data); err != nil {
		t.Fatalf("put %q: %v", name, err)
	}
}

// random is n bytes that depend on n alone.
func random(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

func (s Service) listings(t *testing.T) {
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("list/%c/%02d", 'a'+i%3, i)
		s.put(t, name, random(i))
		want = append(want, name)
	}
	s.put(t, "lists", nil)
	c, wire := s.client(t, Access{Page: 4})
	seen := map[string]objects.Object{}
	for o, err := range c.List(t.Context(), "list/") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := seen[o.Name]; ok {
			t.Errorf("%s is listed twice", o.Name)
		}
		seen[o.Name] = o
	}
	for i, name := range want {
		if o := seen[name]; o.Size != int64(i) || o.Version == "" {
			t.Errorf("%s: got %+v, want %d bytes and a version", name, o, i)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%d objects are listed, want %d: %v", len(seen), len(want), seen)
	}
	if n := wire.requests(); n < 7 {
		t.Errorf("%d requests for 25 objects in pages of 4", n)
	}

	wire.next(nil, status(503), nil, reset(20), nil)
	again := map[string]bool{}
	for o, err := range c.List(t.Context(), "list/") {
		if err != nil {
			t.Fatal(err)
		}
		if again[o.Name] {
			t.Errorf("%s is listed twice after a broken request", o.Name)
		}
		again[o.Name] = true
	}
	if len(again) != len(want) {
		t.Errorf("%d objects are listed after broken requests, want %d", len(again), len(want))
	}
	for o, err := range c.List(t.Context(), "list/none") {
		t.Errorf("a prefix of no object: %+v, %v", o, err)
	}
	if o, err := c.Stat(t.Context(), want[7]); err != nil || o != seen[want[7]] {
		t.Errorf("got %+v, error %v, listed is %+v", o, err, seen[want[7]])
	}
}

var oddNames = []string{
	"a b", " leading and trailing ", "ä/ö ü", "e\u0301", "日本/語", "😀", "x+y", "%41", "%", "a%2Fb", "a&b<c>\"d\"'e'", "q?x=1#f", "(1)!*~$,;=@:",
	"back\\slash", "tab\tname", "new\nline", "control\x01", "[a]{b}|^`", "-", "a..b", "...", "deep/" + "er/er/er/er/er/er/er/er/er/er", strings.Repeat("n", 200),
}

func (s Service) oddNames(t *testing.T) {
	c, _ := s.client(t, Access{Page: 5})
	want := map[string]string{}
	for i, name := range oddNames {
		if why, ok := s.NotNames[name]; ok {
			t.Logf("%q is left out: %s", name, why)
			continue
		}
		s.put(t, "odd/"+name, []byte(fmt.Sprint(i)))
		want["odd/"+name] = fmt.Sprint(i)
	}
	for o, err := range c.List(t.Context(), "odd/") {
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, max(o.Size, 0))
		if err := c.ReadAt(t.Context(), o, data, 0); err != nil {
			t.Error(err)
		} else if text, ok := want[o.Name]; !ok || text != string(data) {
			t.Errorf("%q holds %q, want %q", o.Name, data, text)
		}
		delete(want, o.Name)
	}
	for name := range want {
		t.Errorf("%q is not listed", name)
	}
}

func (s Service) ranges(t *testing.T) {
	data := random(300_001)
	s.put(t, "ranges/x", data)
	c, _ := s.client(t, Access{})
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 30 {
		off := r.IntN(len(data))
		n := r.IntN(len(data)-off) + 1
		switch k {
		case 0:
			off, n = 0, len(data)
		case 1:
			off, n = len(data)-1, 1
		case 2:
			off, n = 0, 1
		}
		got := make([]byte, n)
		if err := c.ReadAt(t.Context(), objects.Object{Name: "ranges/x", Size: -1}, got, int64(off)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, data[off:off+n]) {
			t.Errorf("%d bytes from byte %d differ", n, off)
		}
	}
	if err := c.ReadAt(t.Context(), objects.Object{Name: "ranges/x", Size: -1}, make([]byte, 10), int64(len(data))); err == nil {
		t.Error("bytes after the end are read")
	}
	if err := c.ReadAt(t.Context(), objects.Object{Name: "ranges/x", Size: int64(len(data)) + 5}, make([]byte, 10), 0); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("an object of another size: got %v, want ErrReplaced", err)
	}
}

func (s Service) empty(t *testing.T) {
	s.put(t, "empty/x", nil)
	c, wire := s.client(t, Access{})
	o, err := c.Stat(t.Context(), "empty/x")
	if err != nil || o.Size != 0 || o.Version == "" {
		t.Errorf("got %+v, error %v, want 0 bytes and a version", o, err)
	}
	wire.next()
	if err := c.ReadAt(t.Context(), o, nil, 0); err != nil || wire.requests() != 0 {
		t.Errorf("reading nothing: error %v, %d requests", err, wire.requests())
	}
}

func (s Service) fileSystem(t *testing.T) {
	files := map[string]int{"a/b/c": 3, "a/b-c": 4, "a/b0": 5, "z": 2000}
	var names []string
	for name, n := range files {
		s.put(t, "files/"+name, random(n))
		names = append(names, name)
	}
	c, _ := s.client(t, Access{})
	fsys, err := objects.NewFS(t.Context(), c, "files")
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(fsys, names...); err != nil {
		t.Error(err)
	}
	for name, n := range files {
		if got, err := fs.ReadFile(fsys, name); err != nil || !bytes.Equal(got, random(n)) {
			t.Errorf("%s: %d bytes, error %v, want %d", name, len(got), err, n)
		}
	}
}
