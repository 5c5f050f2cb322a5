package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
)

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
		return 0, false, nil, s.errFull(need)
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
func (s *spool) errFull(need int) error {
	if len(s.blocks) == 0 {
		return fmt.Errorf("%w: one block is larger than MaxBytes(%s)", ErrFull, figures.Bytes(s.cfg.limit))
	}
	help := "raise the limit, or call Commit more often"
	switch {
	case s.blocks[0].end() > need-s.cfg.window:
		help = fmt.Sprintf("it is too small for the window of records %d to %d: raise it", need-s.cfg.window, need-1)
	case len(s.blocks) == 1:
		help = "it is too small for two blocks: raise it"
	}
	return fmt.Errorf("%w: the records %d to %d take %s of MaxBytes(%s): %s", ErrFull, s.blocks[0].first, s.next-1,
		figures.Bytes(s.used), figures.Bytes(s.cfg.limit), help)
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
	if writing := (*writeError)(nil); errors.As(s.failure, &writing) {
		s.failure = nil // another loop may have been told; writing is tried again
	}
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
	for {
		s.mu.Lock()
		again, changed := s.failure == nil && len(s.wants) > 0, s.changed
		s.mu.Unlock()
		if again {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
