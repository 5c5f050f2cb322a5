package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
)

// A Checkpoint is a place in a source at which a new spool can begin, for example on
// another machine: see [Resume]. Save it as JSON, together with the position of the
// loader.
type Checkpoint struct {
	Version int    `json:"version"` // of this format: 1
	Record  int    `json:"record"`  // number of the first record
	Mark    []byte `json:"mark"`    // of the source, before this record
	Window  int    `json:"window"`  // as given to [Window]
	Seed    uint64 `json:"seed"`    // as given to [Seed]
}

// checkpointVersion is the format of checkpoints.
const checkpointVersion = 1

// Checkpoint is a place from which a new spool has all that is needed to resume at a
// position with that Draw. It lies before the window of the draw, at the beginning of a
// block. It is an error if the spool has not reached that window, or no longer has it.
func (d *Dataset) Checkpoint(draw int) (Checkpoint, error) {
	c, err := d.spool.checkpoint(draw)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("stream: checkpoint at draw %d: %w", draw, err)
	}
	return c, nil
}

func (s *spool) checkpoint(draw int) (at Checkpoint, err error) {
	if draw < 0 {
		return at, errors.New("want 0 or more")
	}
	record := draw - draw%s.cfg.window
	at = Checkpoint{Version: checkpointVersion, Window: s.cfg.window, Seed: s.cfg.seed}
	if mark, next := s.sealedMark(); record == next { // the block follows
		at.Record, at.Mark = next, mark
		return at, nil
	}
	b, err := s.reached(record)
	if err != nil {
		return at, err
	}
	h, err := s.handles.use(b.first)
	if err != nil {
		return at, err
	}
	defer s.handles.done(h)
	at.Record, at.Mark = b.first, append([]byte(nil), h.before...)
	return at, nil
}

// reached finds the block of a record, if it is sealed.
func (s *spool) reached(record int) (block, error) {
	s.mu.Lock()
	next := s.next
	s.mu.Unlock()
	if record > next {
		return block{}, fmt.Errorf("record %d is not in the spool: it ends before record %d", record, next)
	}
	return s.find(record)
}

// Commit says that no loop will resume before draw, which is that of a saved position. So
// windows before that of the draw are removed from the spool, which makes room for new
// records. The last block stays in any case, because it has the source's mark.
//
// Positions before the draw, and further epochs, can no longer be read from this spool.
// Call Commit in the loop body, after the position is saved.
func (d *Dataset) Commit(draw int) error {
	if err := d.spool.commit(draw); err != nil {
		return fmt.Errorf("stream: commit draw %d: %w", draw, err)
	}
	return nil
}

func (s *spool) commit(draw int) error {
	s.gather.Lock()
	defer s.gather.Unlock()
	blocks, err := s.unneeded(draw)
	for k, b := range blocks { // in ascending order: no gap is left if the process is killed
		s.handles.drop(b.first)
		if err := s.remove(b); err != nil {
			s.keep(blocks[k:])
			return err
		}
		s.freed(b.size)
	}
	return err
}

// keep puts blocks that could not be removed back on the list. The next Commit tries again.
func (s *spool) keep(blocks []block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocks = slices.Concat(blocks, s.blocks)
}

// unneeded takes the blocks before the window of a draw off the list, except the last one.
func (s *spool) unneeded(draw int) ([]block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch have := s.drawable(); {
	case s.closed:
		return nil, fs.ErrClosed
	case draw < 0 || draw > have:
		return nil, fmt.Errorf("want a draw from 0 to %d", have)
	}
	begin := draw - draw%s.cfg.window
	k := sort.Search(len(s.blocks), func(k int) bool { return s.blocks[k].end() > begin })
	k = max(0, min(k, len(s.blocks)-1))
	blocks := s.blocks[:k:k]
	s.blocks = s.blocks[k:]
	return blocks, nil
}

// freed gives the room of a block back.
func (s *spool) freed(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= size
	s.full = false
	s.change()
}
