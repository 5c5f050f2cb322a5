package objects_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

// A host serves objects and fails on purpose.
type host struct {
	mu      sync.Mutex
	files   fstest.MapFS
	faults  []fault         // of the next requests; nil for none
	always  fault           // of all further requests
	ranges  []string        // that were asked for
	seen    []*http.Request // in this order
	noRange bool            // ignore Range
	stamp   stamp           // how versions are told
}

// A fault answers a request in place of the host.
type fault func(w http.ResponseWriter, r *http.Request, data []byte)

// A stamp writes the header that tells a version.
type stamp func(h http.Header, data []byte)

func strong(h http.Header, data []byte) { h.Set("ETag", fmt.Sprintf("%q", tagOf(data))) }

func weak(h http.Header, data []byte) { h.Set("ETag", fmt.Sprintf("W/%q", tagOf(data))) }

func dated(h http.Header, data []byte) {
	h.Set("Last-Modified", time.Unix(1e9+int64(data[0]), 0).UTC().Format(http.TimeFormat))
}

func none(http.Header, []byte) {}

func tagOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:12] }

func newHost(files fstest.MapFS) *host { return &host{files: files, stamp: strong} }

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	f, ok := h.files[strings.TrimPrefix(r.URL.Path, "/data/")]
	do := h.always
	if len(h.faults) > 0 {
		do, h.faults = h.faults[0], h.faults[1:]
	}
	h.ranges = append(h.ranges, strings.TrimPrefix(r.Header.Get("Range"), "bytes="))
	h.seen = append(h.seen, r.Clone(context.Background()))
	noRange, stamp := h.noRange, h.stamp
	h.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	stamp(w.Header(), f.Data)
	if do != nil {
		do(w, r, f.Data)
		return
	}
	if noRange {
		r.Header.Del("Range")
		r.Header.Del("If-Match")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Data))
}

// next sets the faults of the next requests.
func (h *host) next(faults ...fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults, h.ranges, h.seen = faults, nil, nil
}

// asked is the ranges of the requests since next.
func (h *host) asked() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.ranges, " ")
}

// replace changes an object.
func (h *host) replace(name, data string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[name] = &fstest.MapFile{Data: []byte(data)}
}

func status(code int, header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Del("ETag")
		for k := 0; k+1 < len(header); k += 2 {
			w.Header().Set(header[k], header[k+1])
		}
		w.WriteHeader(code)
	}
}

func says(code int, text string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) { http.Error(w, text, code) }
}

// part answers n bytes of a range that has more, as a connection that breaks.
func part(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		b := begin(w, r, data)
		w.Write(b[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// short answers n bytes and ends the response as if these were all.
func short(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		b := begin(w, r, data)
		w.Header().Del("Content-Length")
		w.Write(b[:n])
		w.(http.Flusher).Flush()
	}
}

// stall answers n bytes and then nothing until the client has gone.
func stall(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		if n > 0 {
			b := begin(w, r, data)
			w.Write(b[:n])
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// begin writes the header of a partial response, and returns its bytes.
func begin(w http.ResponseWriter, r *http.Request, data []byte) []byte {
	var from, to int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
		panic(err)
	}
	to = min(to, len(data)-1)
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)))
	w.Header().Set("Content-Length", fmt.Sprint(to+1-from))
	w.WriteHeader(http.StatusPartialContent)
	return data[from : to+1]
}

// pipes is a network without an operating system, for tests in a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve starts a server of h whose time is that of the bubble, and returns a client of it.
func serve(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	p := pipes{make(chan net.Conn), make(chan struct{})}
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(p)
	}()
	transport := &http.Transport{DialContext: p.dial, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Close()
		<-done
	})
	return &http.Client{Transport: transport}
}

// store is a client of h at http://host/data/ within a bubble.
func store(t *testing.T, h http.Handler, options ...objects.HTTPOption) *objects.Client {
	t.Helper()
	return client(t, "http://user:password@host/data/", append(options, objects.HTTPClient(serve(t, h))))
}

func client(t testing.TB, base string, http []objects.HTTPOption, options ...objects.Option) *objects.Client {
	t.Helper()
	server, err := objects.HTTP(base, http...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.(interface{ CloseIdleConnections() }).CloseIdleConnections)
	c, err := objects.NewClient(server, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// remote is the file system that a local server serves, with an index.
func remote(t testing.TB, files fs.FS) fs.FS {
	t.Helper()
	s := httptest.NewServer(http.StripPrefix("/data/", tagged(files)))
	t.Cleanup(s.Close)
	var names []objects.Object
	for o, err := range listing(files) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o)
	}
	c := client(t, s.URL+"/data", []objects.HTTPOption{objects.Listing(names...)})
	fsys, err := objects.NewFS(t.Context(), c, "")
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func listing(files fs.FS) func(func(objects.Object, error) bool) {
	return func(yield func(objects.Object, error) bool) {
		err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil && !yield(objects.Object{Name: name, Size: info.Size()}, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(objects.Object{}, err)
		}
	}
}

// tagged serves files with an ETag each.
func tagged(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := fs.ReadFile(files, r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		strong(w.Header(), data)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}
