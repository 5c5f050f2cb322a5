package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

// Stats is what a [Cache] has done since it was made, in this process.
type Stats struct {
	Hits      int64 // reads of blocks from the folder
	HitBytes  int64
	Misses    int64 // reads of blocks from the underlying store
	MissBytes int64
	Passed    int64 // reads that are not cached: of unknown version, or of bytes that are read once (objects.Once)
	Stored    int64 // blocks written to the folder
	Evictions int64 // blocks that were deleted to make room for others
	Damaged   int64 // blocks whose checksum was wrong, or that a reader has found damaged

	DiskErrors int64 // how often the folder could not be read or written
	DiskError  error // the latest of these errors, or nil

	Used  int64 // bytes in the folder, of all processes
	Limit int64 // as given to [New]
}

// String is one line: "75.0% hits (750 of 1000 reads), 6 GiB read from disk, 2 GiB from
// the store, 250 blocks stored, 0 evicted; 2 GiB of 2 GiB used". What went wrong is added
// to it.
func (s Stats) String() string {
	share := 0.0
	if s.Hits > 0 {
		share = float64(s.Hits) / float64(s.Hits+s.Misses)
	}
	text := fmt.Sprintf("%.1f%% hits (%d of %s), %s read from disk, %s from the store, %s stored, %d evicted; %s of %s used",
		100*share, s.Hits, figures.Count(s.Hits+s.Misses, "read", "reads"), figures.Bytes(s.HitBytes), figures.Bytes(s.MissBytes),
		figures.Count(s.Stored, "block", "blocks"), s.Evictions, figures.Bytes(s.Used), figures.Bytes(s.Limit))
	if s.Passed > 0 {
		text += fmt.Sprintf("; %s not cached", figures.Count(s.Passed, "read", "reads"))
	}
	if s.Damaged > 0 {
		text += fmt.Sprintf("; %s damaged", figures.Count(s.Damaged, "block", "blocks"))
	}
	if s.DiskErrors > 0 {
		text += fmt.Sprintf("; %s, the latest: %v", figures.Count(s.DiskErrors, "disk error", "disk errors"), s.DiskError)
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
	n.errors++
	n.latest = err
	n.rest = time.Now().Add(rest)
}

func (n *counters) resting() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.rest)
}
