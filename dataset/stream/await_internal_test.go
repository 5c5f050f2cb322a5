package stream

import (
	"errors"
	"testing"
	"testing/synctest"
)

// An error of the source ends one loop. It is read again for the next one, and not while the
// first one is about to end, which could make its second error that of the next loop.
func TestTheSourceIsReadAgainForTheNextLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &spool{cfg: newConfig(nil), changed: make(chan struct{})}
		s.enter(1)
		broken := errors.New("broken")
		s.fail(broken)
		reads := 0
		go func() {
			s.told(t.Context())
			reads++
		}()
		if _, _, _, err := s.look(1, 1, false); err != broken {
			t.Errorf("the loop is told %v", err)
		}
		synctest.Wait()
		if reads > 0 {
			t.Error("the source is read while the loop has not ended")
		}
		s.leave(1, broken)
		synctest.Wait()
		if reads > 0 {
			t.Error("the source is read while no loop waits")
		}
		s.enter(1)
		synctest.Wait()
		if reads != 1 || s.failure != nil {
			t.Errorf("read %d times for the next loop, which has the error %v", reads, s.failure)
		}
	})
}
