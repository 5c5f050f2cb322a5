// Package cache keeps blocks of objects on the local disk, so that later epochs and
// later runs need not request them again:
//
//	client, err := objects.NewClient(server)
//	blocks, err := cache.New(client, "/var/cache/photos", 100<<30)
//	defer blocks.Close()
//	fsys, err := objects.NewFS(ctx, blocks, "train")
//
// # Which blocks stay
//
// A block is the range of an object that one ReadAt names, or several blocks of at most 64 MiB
// if it is longer ([BlockSize]). So a folder of images has a block per file, one of large
// volumes has several, and package shards has its own blocks.
//
// Every epoch reads each block once, in a new order. No policy has more hits then than
// one that keeps the same blocks for ever: the share of the data that fits. A cache that
// drops what was not used for the longest time has 3 % of hits where 25 % are possible.
// So the order of the hashes of blocks decides: if the cache is full, a block is stored
// only in place of one with a higher hash. All processes agree on it without a word, and
// a full cache is hardly written to.
//
// # Several processes, and those that are killed
//
// Any number of processes may use a folder at the same time. They should have the same
// limit. A process may be killed at any point: a block appears under its name only when
// it is whole, and what was left over is deleted by the next [New]. Each block has a
// checksum, which is compared whenever it is read. A block that was damaged is deleted
// and read from the store again.
//
// The folder must be on a local disk, because locks of network file systems are not
// reliable; on Windows on NTFS. [New] refuses one that belongs to another user, or to which
// others can write, because whoever writes to it chooses the bytes that are read.
//
// # Errors
//
// [New] reports what is wrong with the folder. After that no error of the disk is an
// error of a read: a full disk or a missing permission leads to reads from the store.
// [Stats] counts them, and has the latest one. After an error nothing is stored for a second, and
// so it is if another process holds the folder for longer than a tenth of a second.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// An Option changes what [New] makes. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	identity  string
	blockSize int64
}

// leastBlocks is how many blocks a cache must have room for.
const leastBlocks = 4

// Identity tells the store from all others whose blocks are in the same folder, in this
// run and in later ones. It must not change while the store is the same, so it should not
// hold a signature. The default is the identity that the store has: the URL of a server
// without its query, the path of a folder. A store without one needs this option.
func Identity(text string) Option { return Option{func(c *config) { c.identity = text }} }

// BlockSize sets how many bytes a block may have. A longer read is divided into several
// blocks. The default is 64 MiB.
func BlockSize(bytes int64) Option { return Option{func(c *config) { c.blockSize = bytes }} }

func (c *config) check(limit int64) error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("cache: "+format, args...))
		}
	}
	wrong(c.identity == "", "the store has no identity: want Identity")
	wrong(c.blockSize < 1, "BlockSize(%d): want 1 or more", c.blockSize)
	wrong(c.blockSize > maxBlock, "BlockSize(%d): want %d at most", c.blockSize, maxBlock)
	if c.blockSize >= 1 && c.blockSize <= maxBlock {
		least := leastBlocks * c.blockSize
		wrong(limit < least, "limit of %d bytes: want at least %d times BlockSize, %d", limit, leastBlocks, least)
	}
	return errors.Join(errs...)
}

type store = objects.Store

// A Cache is a [objects.Store] that reads from a folder what it has there, and from the
// underlying store what it does not have. [New] makes it.
type Cache struct {
	store // List and Stat are its own
	config
	folder   *folder
	versions sync.Map // by the names of objects whose versions were not known: objects.Object
	count    counters
	closed   atomic.Bool
}

// New makes a cache of the blocks of s in the folder dir, which takes limit bytes at most.
// It makes the folder if there is none. An existing folder must be empty or one that New
// has made, and its user's alone to change.
//
// The limit must be at least four times [BlockSize]: 256 MiB by default. New deletes what killed
// processes have left, blocks that were not read for 72 h, and those above the limit.
// Where Go programs have no file locks, the error is [errors.ErrUnsupported].
func New(s objects.Store, dir string, limit int64, options ...Option) (*Cache, error) {
	c := &Cache{store: s, config: config{identity: s.Identity(), blockSize: 64 << 20}}
	for _, option := range options {
		if option.set != nil {
			option.set(&c.config)
		}
	}
	if err := c.check(limit); err != nil {
		return nil, err
	}
	full, err := filepath.Abs(dir)
	if err == nil {
		c.folder, err = openFolder(full, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("cache: folder %s: %w", dir, err)
	}
	return c, nil
}

// Close ends the use of the folder. The blocks stay. Later reads are errors, and what earlier
// ones still read is not stored.
func (c *Cache) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if err := c.folder.close(); err != nil {
		return fmt.Errorf("cache: close: %w", err)
	}
	return nil
}

// A closedError is the error of reads after Close. It says nothing about the object, so no loader
// skips it: see dataset.MayPass.
type closedError struct{ error }

func (e closedError) Unwrap() error  { return e.error }
func (closedError) Temporary() bool  { return true }
func (closedError) Persistent() bool { return true }

// Identity is that of the underlying store, or the one given as option.
func (c *Cache) Identity() string { return c.identity }

// ReadAt reads len(p) bytes of o, from byte off on. This range is the block, or is divided
// into blocks from its beginning on: another range of the same object is another block, also
// if they overlap. A divided range is requested block by block, as far as it is not there.
// What [shards.Scan] reads comes from the underlying store and is not kept.
//
// If the version of o is unknown, the cache asks the underlying store for it, once per object.
func (c *Cache) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	if c.closed.Load() {
		return fmt.Errorf("cache: read %s: %w", o.Name, closedError{fs.ErrClosed})
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cache: read %s: %w", o.Name, err)
	}
	if len(p) == 0 || off < 0 || files.IsOnce(ctx) {
		return c.pass(ctx, o, p, off)
	}
	o, err := c.versioned(ctx, o)
	if err != nil {
		return err
	}
	if o.Version == "" || o.Size >= 0 && int64(len(p)) > o.Size-off {
		return c.pass(ctx, o, p, off)
	}
	for first, n := range c.blocks(off, int64(len(p))) {
		if err := c.readBlock(ctx, o, p[first-off:][:n:n], first); err != nil {
			return err
		}
	}
	return nil
}

// blocks yields the offsets and the lengths of the blocks of a range.
func (c *Cache) blocks(off, n int64) iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for n > 0 && yield(off, min(n, c.blockSize)) {
			off, n = off+c.blockSize, n-c.blockSize
		}
	}
}

func (c *Cache) readBlock(ctx context.Context, o objects.Object, p []byte, off int64) error {
	k := c.keyOf(o, off, int64(len(p)))
	if c.load(k, p) {
		c.count.hits.Add(1)
		c.count.hitBytes.Add(int64(len(p)))
		return nil
	}
	c.count.misses.Add(1)
	if err := c.store.ReadAt(ctx, o, p, off); err != nil {
		return err
	}
	c.count.missBytes.Add(int64(len(p)))
	c.save(k, p)
	return nil
}

// pass reads from the underlying store what is not cached.
func (c *Cache) pass(ctx context.Context, o objects.Object, p []byte, off int64) error {
	if len(p) > 0 {
		c.count.passed.Add(1)
	}
	return c.store.ReadAt(ctx, o, p, off)
}

// versioned is o with its version, if the store knows one.
func (c *Cache) versioned(ctx context.Context, o objects.Object) (objects.Object, error) {
	if o.Version != "" {
		return o, nil
	}
	if _, ok := c.versions.Load(o.Name); ok {
		return c.remembered(o), nil
	}
	found, err := c.store.Stat(ctx, o.Name)
	if err != nil {
		return o, err
	}
	first, _ := c.versions.LoadOrStore(o.Name, found)
	o.Version = first.(objects.Object).Version
	return o, nil
}

// Has reports whether all blocks of n bytes of o from byte off on are in the folder. It
// does not look at their checksums.
func (c *Cache) Has(o objects.Object, off, n int64) bool {
	o = c.remembered(o)
	if n < 1 || o.Version == "" || c.closed.Load() {
		return false
	}
	for first, n := range c.blocks(off, n) {
		if !c.folder.has(c.keyOf(o, first, n)) {
			return false
		}
	}
	return true
}

// Forget deletes the blocks of n bytes of o from byte off on that are in the folder. It is
// for readers that know a checksum of the bytes: they may have been damaged on their way
// from the store.
func (c *Cache) Forget(o objects.Object, off, n int64) {
	o = c.remembered(o)
	if o.Version == "" || c.closed.Load() {
		return
	}
	for first, n := range c.blocks(off, n) {
		if k := c.keyOf(o, first, n); c.folder.has(k) {
			c.drop(k)
		}
	}
}

// drop deletes a damaged block.
func (c *Cache) drop(k key) {
	c.count.damaged.Add(1)
	c.count.failed(c.folder.with(func(s *state) error { return c.folder.remove(s, k.name()) }))
}

// remembered is o with the version that an earlier read has found.
func (c *Cache) remembered(o objects.Object) objects.Object {
	if found, ok := c.versions.Load(o.Name); ok && o.Version == "" {
		o.Version = found.(objects.Object).Version
	}
	return o
}

// load reads a block from the folder. It reports false if the block is not there.
func (c *Cache) load(k key, p []byte) bool {
	err := c.folder.load(k, p)
	switch {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errDamaged):
		c.drop(k)
	default:
		c.count.failed(err)
	}
	return false
}

// save stores a block, if there is room for it.
func (c *Cache) save(k key, p []byte) {
	if c.count.resting() {
		return
	}
	stored, evicted, err := c.folder.save(k, p)
	if stored {
		c.count.stored.Add(1)
	}
	c.count.evictions.Add(int64(evicted))
	c.count.failed(err)
}

// String says what is cached where: "blocks of https://data.example.org/ in /var/cache/photos, at most 100 GiB".
func (c *Cache) String() string {
	return fmt.Sprintf("blocks of %s in %s, at most %s", c.identity, c.folder.dir.Name(), figures.Bytes(c.folder.limit))
}

// Stats is what a [Cache] has done since it was made, in this process.
type Stats struct {
	Hits      int64 // reads of blocks from the folder
	HitBytes  int64
	Misses    int64 // reads of blocks from the underlying store
	MissBytes int64
	Passed    int64 // reads that are not cached: of unknown version, or of a scan
	Stored    int64 // blocks written to the folder
	Evictions int64 // blocks that were deleted to make room for others
	Damaged   int64 // blocks whose checksum was wrong, or that a reader has found damaged

	DiskErrors int64 // how often the folder could not be read or written
	DiskError  error // the latest of these errors, or nil

	Used  int64 // bytes in the folder, of all processes
	Limit int64 // as given to [New]
}

// String is one line: "75.0% hits (750 of 1000 reads), 6 GiB read from disk, 2 GiB from the store; 2
// GiB of 2 GiB used". Damage and errors of the disk are added to it.
func (s Stats) String() string {
	share := 0.0
	if s.Hits > 0 {
		share = float64(s.Hits) / float64(s.Hits+s.Misses)
	}
	text := fmt.Sprintf("%.1f%% hits (%d of %d reads), %s read from disk, %s from the store; %s of %s used",
		100*share, s.Hits, s.Hits+s.Misses, figures.Bytes(s.HitBytes), figures.Bytes(s.MissBytes), figures.Bytes(s.Used), figures.Bytes(s.Limit))
	if s.Damaged+s.DiskErrors > 0 {
		text += fmt.Sprintf("; %d damaged, %d disk errors", s.Damaged, s.DiskErrors)
	}
	if s.DiskError != nil {
		text += fmt.Sprintf(", the latest: %v", s.DiskError)
	}
	return text
}

// Stats returns the counts. It may be called at any time.
func (c *Cache) Stats() Stats {
	n := &c.count
	s := Stats{
		Hits: n.hits.Load(), HitBytes: n.hitBytes.Load(), Misses: n.misses.Load(), MissBytes: n.missBytes.Load(),
		Passed: n.passed.Load(), Stored: n.stored.Load(), Evictions: n.evictions.Load(), Damaged: n.damaged.Load(),
		Used: c.folder.used(), Limit: c.folder.limit,
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s.DiskErrors, s.DiskError = n.errors, n.latest
	return s
}

type counters struct {
	hits, hitBytes, misses, missBytes, passed, stored, evictions, damaged atomic.Int64

	mu     sync.Mutex
	errors int64
	latest error
	rest   time.Time // until when nothing is written
}

// rest is for how long nothing is written after an error of the disk.
const rest = time.Second

// failed counts an error of the disk, if err is one.
func (n *counters) failed(err error) {
	if err == nil || errors.Is(err, fs.ErrClosed) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !errors.Is(err, errHeld) {
		n.errors++
		n.latest = err
	}
	n.rest = time.Now().Add(rest)
}

func (n *counters) resting() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.rest)
}
