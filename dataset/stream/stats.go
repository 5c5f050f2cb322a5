package stream

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/figures"
)

// Stats says what a spool holds.
type Stats struct {
	First  int   // number of the first record in it
	Next   int   // number of the record after the last one
	Blocks int   // number of files
	Used   int64 // bytes of these files
	Limit  int64 // as given to [MaxBytes]
	Full   bool  // whether the source is not read because there is no room
	Ended  bool  // whether the source has ended
}

// String says it in a line: "records 200 to 999 in 3 blocks, 12 MiB of 1 GiB".
func (s Stats) String() string {
	text := fmt.Sprintf("records %d to %d in %s, %s of %s", s.First, s.Next-1, figures.Count(s.Blocks, "block", "blocks"), figures.Bytes(s.Used), figures.Bytes(s.Limit))
	if s.Next == s.First {
		text = "no records"
	}
	switch {
	case s.Ended:
		text += ", complete"
	case s.Full:
		text += ", full"
	}
	return text
}

// Stats says what the spool holds now.
func (d *Dataset) Stats() Stats {
	s := d.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{First: s.next, Next: s.next, Blocks: len(s.blocks), Used: s.used, Limit: s.cfg.limit, Full: s.full, Ended: s.ended}
	if len(s.blocks) > 0 {
		stats.First = s.blocks[0].first
	}
	return stats
}
