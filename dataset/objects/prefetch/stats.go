package prefetch

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

// Stats is what a [Prefetcher] has done since it was made.
type Stats struct {
	Fetched int64 // blocks
	Bytes   int64 // of these blocks

	Ready    int64         // reads of blocks that had been fetched by then
	Late     int64         // reads that waited for a request under way
	LateTime time.Duration // that they waited, all together
	Direct   int64         // reads during an epoch of blocks that were neither fetched in advance nor nearby
	Local    int64         // blocks that were foreseen and not fetched, because the store had them nearby
	Unread   int64         // blocks that were fetched and not read

	Requests int   // under way now
	Held     int64 // bytes that are fetched and not read, or being fetched, now
}

// String is one line: "1000 blocks of 8 GiB fetched, 990 reads ready, 10 late by 30ms on
// average, 2 direct, 0 local, 0 not read".
func (s Stats) String() string {
	each := time.Duration(0)
	if s.Late > 0 {
		each = s.LateTime / time.Duration(s.Late)
	}
	return fmt.Sprintf("%s of %s fetched, %s ready, %d late by %v on average, %d direct, %d local, %d not read",
		figures.Count(s.Fetched, "block", "blocks"), figures.Bytes(s.Bytes), figures.Count(s.Ready, "read", "reads"),
		s.Late, each.Round(time.Microsecond), s.Direct, s.Local, s.Unread)
}

type counters struct{ fetched, bytes, ready, late, lateTime, direct, local, unread atomic.Int64 }

// Stats returns the counts. It may be called at any time.
func (p *Prefetcher) Stats() Stats {
	n := &p.count
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{
		Fetched: n.fetched.Load(), Bytes: n.bytes.Load(),
		Ready: n.ready.Load(), Late: n.late.Load(), LateTime: time.Duration(n.lateTime.Load()),
		Direct: n.direct.Load(), Local: n.local.Load(), Unread: n.unread.Load(),
		Requests: len(p.running), Held: p.bytes,
	}
}
