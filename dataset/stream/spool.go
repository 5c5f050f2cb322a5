package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
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

// openSpool opens the folder.
func openSpool(dir string, spec dataset.Spec, c config) (*spool, error) {
	f, err := openFolder(dir, describe(spec, c), c.sync)
	if err != nil {
		return nil, err
	}
	s := &spool{folder: f, cfg: c, handles: handles{folder: f}, changed: make(chan struct{})}
	if err := s.restore(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return s, nil
}

// restore finds what earlier processes have sealed.
func (s *spool) restore() (err error) {
	var mark []byte
	if s.blocks, mark, err = s.folder.blocks(); err != nil {
		return err
	}
	for _, b := range s.blocks {
		s.used += b.size
		s.next = b.end()
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
		return false, err
	}
	s.blocks = append(s.blocks, b)
	s.next = b.end()
	s.draft.begin(s.next, s.draft.after)
	s.change()
	return true, nil
}

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

// until tries again after every change, until that has succeeded.
func (s *spool) until(ctx context.Context, try func() (done bool, err error)) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done, err := try(); err != nil || done {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// room waits until the draft has room for another record.
func (s *spool) room(ctx context.Context) error {
	return s.until(ctx, func() (bool, error) {
		s.gather.Lock()
		defer s.gather.Unlock()
		if s.draft.payload() < s.cfg.blockSize {
			return true, nil
		}
		return s.seal(false)
	})
}

// end seals the last records, for which it waits for room, and notes that the source has
// ended.
func (s *spool) end(ctx context.Context) error { return s.until(ctx, s.finish) }

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

// lastMark is the mark after the last record of an earlier process. known is false at the source's own
// beginning, whose mark may not have been asked for yet.
func (s *spool) lastMark() (mark []byte, known bool) {
	s.gather.Lock()
	defer s.gather.Unlock()
	return slices.Clone(s.draft.after), s.draft.first > 0
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

// ErrFull says that the spool has no room for a record that a loop waits for, and that
// only [Dataset.Commit] or a higher [MaxBytes] can help.
var ErrFull = errors.New("the spool is full")

// await is [Dataset.Await].
func (s *spool) await(ctx context.Context, n int, idle <-chan struct{}) (have int, ended bool, err error) {
	need := n // whole windows
	if rest := n % s.cfg.window; rest > 0 {
		need = n - rest + min(s.cfg.window, math.MaxInt-n+rest)
	}
	s.enter(need)
	defer func() { s.leave(need, err) }()
	for waits := true; ; {
		have, ended, changed, err := s.look(n, need, !waits)
		if changed == nil || err != nil {
			return have, ended, err
		}
		if sealed, err := s.sealUpTo(need); err != nil || sealed {
			if err != nil {
				return 0, false, err
			}
			continue
		}
		select {
		case <-changed:
		case <-idle:
			idle, waits = nil, false
		case <-ctx.Done():
			return 0, false, ctx.Err()
		}
	}
}

// look returns what await does, or if it is to wait, the channel that is closed at the
// next change. starved says that the loop does nothing else.
func (s *spool) look(n, need int, starved bool) (have int, ended bool, changed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have = s.drawable()
	switch {
	case s.closed:
		return 0, false, nil, fs.ErrClosed
	case n <= have || s.ended:
		return have, s.ended, nil, nil
	case s.failure != nil:
		return 0, false, nil, s.failure
	case s.full && (starved || !s.helps(need)):
		return 0, false, nil, s.errFull()
	}
	return 0, false, s.changed, nil
}

// drawable is the number of samples that can be placed. The caller holds mu.
func (s *spool) drawable() int {
	if s.ended {
		return s.next
	}
	return s.next - s.next%s.cfg.window
}

// helps reports whether a Commit could make room for the window that ends before record
// need. The caller holds mu.
func (s *spool) helps(need int) bool {
	return len(s.blocks) > 1 && s.blocks[0].end() <= need-s.cfg.window
}

// errFull says what takes the room. The caller holds mu.
func (s *spool) errFull() error {
	if len(s.blocks) == 0 {
		return fmt.Errorf("%w: one block is larger than MaxBytes(%s)", ErrFull, figures.Bytes(s.cfg.limit))
	}
	return fmt.Errorf("%w: the records %d to %d take %s of MaxBytes(%s): raise the limit, or call Commit more often", ErrFull,
		s.blocks[0].first, s.next-1, figures.Bytes(s.used), figures.Bytes(s.cfg.limit))
}

// sealUpTo seals the draft if it has the record before need.
func (s *spool) sealUpTo(need int) (sealed bool, err error) {
	s.gather.Lock()
	defer s.gather.Unlock()
	if s.draft.count == 0 || s.draft.end() < need {
		return false, nil
	}
	return s.seal(false)
}

// enter notes that a loop waits for all records before need.
func (s *spool) enter(need int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wants = append(s.wants, need)
	s.change()
}

// leave notes that a loop waits no longer, and has been told err. The source is read again
// only after both: so a failure that follows is not that of this loop.
func (s *spool) leave(need int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && err == s.failure {
		s.failure = nil
	}
	k := slices.Index(s.wants, need)
	s.wants = slices.Delete(s.wants, k, k+1)
	s.change()
}

// fail keeps an error for the loop that waits, or for the next one.
func (s *spool) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.change()
}

// told waits until a loop has been told of the failure, and one waits for records again.
func (s *spool) told(ctx context.Context) {
	_ = s.until(ctx, func() (bool, error) { // ctx is looked at again
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.failure == nil && len(s.wants) > 0, nil
	})
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
		if err := errors.Join(s.handles.drop(b.first), s.remove(b)); err != nil {
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
