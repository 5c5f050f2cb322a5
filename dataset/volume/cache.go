package volume

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// A cache holds the volumes of patients. Several requests for a patient at the same
// time load it once. Patients in use stay in the cache. The others are kept up to the
// limit; the least recently used one is dropped first.
type cache struct {
	load func(ctx context.Context, patient int) (*patientVolumes, error)

	mu      sync.Mutex
	entries map[int]*cacheEntry
	idle    cacheEntry // head of the ring of unused entries; next is the most recently used
	held    int64      // bytes that count against the limit: of entries that are not larger than it
	stats   dataset.CacheStats
}

// A cacheEntry is one patient, from when its loading begins.
type cacheEntry struct {
	patient    int
	users      int
	ready      chan struct{} // closed once volumes or err is set
	volumes    *patientVolumes
	err        error
	abandoned  bool // the loading goroutine was cancelled or panicked: load again
	bytes      int64
	prev, next *cacheEntry // in the ring, or nil
}

func newCache(limit int64, load func(context.Context, int) (*patientVolumes, error)) *cache {
	c := &cache{load: load, entries: map[int]*cacheEntry{}}
	c.idle.prev, c.idle.next = &c.idle, &c.idle
	c.stats.Limit = limit
	return c
}

// acquire returns the patient's volumes, to be given back by release. The first
// request loads them, in its own goroutine and with its own context; the others
// wait. An error goes to all requests that waited for it, and to no later one.
func (c *cache) acquire(ctx context.Context, patient int) (*cacheEntry, error) {
	for {
		c.mu.Lock()
		e := c.entries[patient]
		if e == nil {
			e = &cacheEntry{patient: patient, users: 1, ready: make(chan struct{})}
			c.entries[patient] = e
			c.stats.Misses++
			c.mu.Unlock()
			return c.fill(ctx, e)
		}
		e.users++
		e.unlink()
		if e.volumes != nil {
			c.stats.Hits++
			c.mu.Unlock()
			return e, nil
		}
		c.mu.Unlock()
		select {
		case <-e.ready:
		case <-ctx.Done():
			c.release(e)
			return nil, ctx.Err()
		}
		if e.err == nil {
			c.mu.Lock()
			c.stats.Hits++
			c.mu.Unlock()
			return e, nil
		}
		// The entry is no longer in the map, so it need not be released.
		if !e.abandoned {
			return nil, e.err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

var errAbandoned = errors.New("volume: loading was abandoned")

func (c *cache) fill(ctx context.Context, e *cacheEntry) (*cacheEntry, error) {
	e.err, e.abandoned = errAbandoned, true // unless load returns
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.err != nil {
			delete(c.entries, e.patient)
		} else {
			c.stats.Samples++
			c.count(e, e.volumes.bytes)
		}
		close(e.ready)
	}()
	volumes, err := c.load(ctx, e.patient)
	if err == nil {
		c.mu.Lock()
		e.volumes, e.err, e.abandoned = volumes, nil, false
		c.mu.Unlock()
		return e, nil
	}
	e.err, e.abandoned = err, ctx.Err() != nil
	return nil, err
}

// release gives back what acquire gave.
func (c *cache) release(e *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.users > 0 || e.volumes == nil || c.entries[e.patient] != e {
		return
	}
	if !e.fits(c) {
		c.drop(e)
		return
	}
	e.prev, e.next = &c.idle, c.idle.next
	e.prev.next, e.next.prev = e, e
	c.evict()
}

// grow counts further bytes of an entry in use.
func (c *cache) grow(e *cacheEntry, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(e, bytes)
}

// count adds to the size of an entry in use. An entry larger than the limit cannot
// stay, so it evicts no other.
func (c *cache) count(e *cacheEntry, bytes int64) {
	if e.fits(c) {
		c.held -= e.bytes
	}
	e.bytes += bytes
	c.stats.Bytes += bytes
	if e.fits(c) {
		c.held += e.bytes
	}
	c.evict()
}

func (e *cacheEntry) fits(c *cache) bool { return e.bytes <= c.stats.Limit }

// evict drops the least recently used entries until the limit is kept or all that
// remain are in use.
func (c *cache) evict() {
	for c.held > c.stats.Limit && c.idle.prev != &c.idle {
		c.drop(c.idle.prev)
	}
}

func (c *cache) drop(e *cacheEntry) {
	e.unlink()
	delete(c.entries, e.patient)
	if e.fits(c) {
		c.held -= e.bytes
	}
	c.stats.Bytes -= e.bytes
	c.stats.Samples--
}

func (e *cacheEntry) unlink() {
	if e.next != nil {
		e.prev.next, e.next.prev = e.next, e.prev
		e.prev, e.next = nil, nil
	}
}

// has reports whether the patient is in the cache or being loaded.
func (c *cache) has(patient int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[patient] != nil
}

func (c *cache) snapshot() dataset.CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// atOnce is how many bytes of a far file are allocated and read at once, because a listing
// says that it has them. Larger files are read in parts.
const atOnce = 64 << 20

// A farFS reads a file as a whole if every read of it is a request to a service. It keeps the
// last one, because decoders open a file once for its header and once for its values.
type farFS struct {
	fs.FS
	mu   sync.Mutex
	name string
	data []byte
}

func (c *farFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func (c *farFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }

func (c *farFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || !files.IsFar(f) {
		return f, nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() || info.Size() > atOnce {
		return f, nil
	}
	return &farFile{File: f, fs: c, name: name, at: at, size: info.Size()}, nil
}

// read reads a file, unless it is the one that was read last.
func (c *farFS) read(f *farFile) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data != nil && c.name == f.name {
		return c.data, nil
	}
	data := make([]byte, f.size)
	if n, err := f.at.ReadAt(data, 0); n < len(data) {
		return nil, files.Ended(err)
	}
	c.name, c.data = f.name, data
	return data, nil
}

type farFile struct {
	fs.File
	fs      *farFS
	name    string
	at      io.ReaderAt
	size    int64
	content *bytes.Reader // nil until the first Read or Seek
}

func (f *farFile) read() error {
	if f.content != nil {
		return nil
	}
	data, err := f.fs.read(f)
	if err == nil {
		f.content = bytes.NewReader(data)
	}
	return err
}

func (f *farFile) Read(p []byte) (int, error) {
	if err := f.read(); err != nil {
		return 0, err
	}
	return f.content.Read(p)
}

func (f *farFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.read(); err != nil {
		return 0, err
	}
	return f.content.Seek(offset, whence)
}
