package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/dataset"
)

// A spool keeps the records that were read from a source.
type spool struct {
	*folder
	cfg     config
	handles handles

	gather sync.Mutex // guards draft, and is held while a block is sealed; locked before mu
	draft  draft

	mu      sync.Mutex
	changed chan struct{} // closed when a field below changes, and replaced
	blocks  []block       // that are sealed, one after the other
	next    int           // number of the first record that is not sealed
	used    int64         // bytes of blocks, and of the one that is being written
	wants   []int         // for every call of await that waits: it needs all records before this one
	full    bool          // whether the draft has no room
	ended   bool          // whether the source has ended with next
	failure error         // of the source, which no loop has been told yet
	closed  bool
}

// openSpool opens the folder. again says whether the source can give records again.
func openSpool(dir string, spec dataset.Spec, c config, again bool) (*spool, error) {
	f, err := openFolder(dir, describe(spec, c), c.sync)
	if err != nil {
		return nil, err
	}
	s := &spool{folder: f, cfg: c, handles: handles{folder: f}, changed: make(chan struct{})}
	if err := s.restore(again); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return s, nil
}

// restore finds what earlier processes have sealed.
func (s *spool) restore(again bool) (err error) {
	if s.blocks, err = s.folder.blocks(again); err != nil {
		return err
	}
	var mark []byte
	if at := s.cfg.resume; at != nil {
		s.next, mark = at.Record, at.Mark
	}
	for _, b := range s.blocks {
		s.used += b.size
	}
	if k := len(s.blocks); k > 0 {
		first := s.blocks[0].first
		if at := s.cfg.resume; at != nil && (at.Record < first || at.Record > s.blocks[k-1].end()) {
			return fmt.Errorf("holds the records %d to %d, the checkpoint begins with %d: want an empty folder", first, s.blocks[k-1].end()-1, at.Record)
		}
		last, file, err := s.contents(s.blocks[k-1].first)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
		s.next, mark = last.end(), last.after
	}
	s.draft.begin(s.next, mark)
	var end ending
	ok, err := s.load(endName, &end)
	if err == nil && ok && end.Records != s.next {
		err = fmt.Errorf("%s says that there are %d records, the blocks end with %d", endName, end.Records, s.next)
	}
	s.ended = ok
	return err
}

// change wakes all who wait. The caller holds mu.
func (s *spool) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// add adds a record to the draft, with the source's mark after it. It seals the draft if
// it is large enough or a loop waits for it, and if there is room.
func (s *spool) add(c codec, record dataset.Slot, mark []byte) error {
	s.gather.Lock()
	defer s.gather.Unlock()
	start := len(s.draft.records)
	s.draft.records = c.append(s.draft.records, record)
	s.draft.added(start, mark)
	if s.draft.payload() < s.cfg.blockSize && !s.wanted() {
		return nil
	}
	_, err := s.seal(false)
	return err
}

// wanted reports whether the draft has the last record that one of the loops waits for.
// The caller holds gather.
func (s *spool) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.wants, func(want int) bool { return want > s.next && want <= s.draft.end() })
}

// seal makes the draft a block, if it is not empty and there is room for it, or with force
// in any case. It reports whether the draft is empty now. The caller holds gather.
func (s *spool) seal(force bool) (sealed bool, err error) {
	if s.draft.count == 0 {
		return true, nil
	}
	if s.draft.count > math.MaxInt-s.draft.first {
		return false, fmt.Errorf("record %d: an int has no higher number here", s.draft.end())
	}
	size := s.draft.size()
	if !s.reserve(size, force) {
		return false, nil
	}
	b := block{first: s.draft.first, count: s.draft.count, size: size}
	err = s.appear(blockName(b.first), func(part string) error { return s.write(part, s.draft.records, s.draft.tail()) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.used -= size
		return false, &writeError{err}
	}
	s.blocks = append(s.blocks, b)
	s.next = b.end()
	s.draft.begin(s.next, s.draft.after)
	s.change()
	return true, nil
}

// A writeError says that a block could not be written. Its records are kept.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// reserve takes room for a block. It reports false if there is none.
func (s *spool) reserve(size int64, force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+size > s.cfg.limit && !force {
		if !s.full {
			s.full = true
			s.change()
		}
		return false
	}
	s.used += size
	s.full = false
	return true
}

// room waits until the draft has room for another record.
func (s *spool) room(ctx context.Context) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		large, err := s.shrink()
		if err != nil || !large {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// shrink seals the draft if it is large. It reports whether it still is.
func (s *spool) shrink() (large bool, err error) {
	s.gather.Lock()
	defer s.gather.Unlock()
	if s.draft.payload() < s.cfg.blockSize {
		return false, nil
	}
	sealed, err := s.seal(false)
	return !sealed, err
}

// end seals the last records, for which it waits for room, and notes that the source has
// ended.
func (s *spool) end(ctx context.Context) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		sealed, err := s.finish()
		if err != nil || sealed {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *spool) finish() (sealed bool, err error) {
	s.gather.Lock()
	defer s.gather.Unlock()
	if sealed, err = s.seal(false); err != nil || !sealed {
		return false, err
	}
	if err := s.save(endName, ending{Records: s.draft.first}); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.change()
	return true, nil
}

// flush seals the records before one that could not be read, if there is room.
func (s *spool) flush() error {
	s.gather.Lock()
	defer s.gather.Unlock()
	_, err := s.seal(false)
	return err
}

// complete reports whether there is nothing left to read.
func (s *spool) complete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended || s.closed
}

// upTo is the number of the next record of the source.
func (s *spool) upTo() int {
	s.gather.Lock()
	defer s.gather.Unlock()
	return s.draft.end()
}

// lastMark is the mark after the last record of an earlier process, or the one of a
// checkpoint. known is false at the source's own beginning, whose mark may not have been asked
// for yet.
func (s *spool) lastMark() (mark []byte, known bool) {
	s.gather.Lock()
	defer s.gather.Unlock()
	at := s.cfg.resume
	return slices.Clone(s.draft.after), s.draft.first > 0 || at != nil && at.Mark != nil
}

// startAt sets the mark before the first record.
func (s *spool) startAt(mark []byte) {
	s.gather.Lock()
	defer s.gather.Unlock()
	s.draft.begin(s.draft.first, mark)
}

// sealedMark is the mark after the last record that is sealed, and the number of the next
// one.
func (s *spool) sealedMark() (mark []byte, next int) {
	s.gather.Lock()
	defer s.gather.Unlock()
	return slices.Clone(s.draft.before), s.draft.first
}

// close seals the draft, and ends the use of the folder.
func (s *spool) close() error {
	s.gather.Lock()
	defer s.gather.Unlock()
	_, err := s.seal(true)
	s.mu.Lock()
	s.closed = true
	s.change()
	s.mu.Unlock()
	return errors.Join(err, s.handles.close(), s.folder.close())
}
