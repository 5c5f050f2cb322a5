package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A server answers the requests of one reader.
type server struct {
	l         *loader.Loader
	memory    *Memory
	conn      *net.UnixConn
	info      map[string]any
	questions chan question

	last int // number that a batch was given
	keep int // batches that the reader may hold without copying them

	mu    sync.Mutex
	held  []*held // batches that the reader has
	holds int     // number that a hold was given
}

// held is a batch that the reader has.
type held struct {
	blocks  []*block
	holds   []int // on the blocks, that the reader has not given back
	forked  bool  // another process has them too
	release func()
}

func newServer(l *loader.Loader, m *Memory, conn *net.UnixConn) *server {
	s := &server{l: l, memory: m, conn: conn, info: map[string]any{}, questions: make(chan question)}
	s.keep = keep(l.Stats(), slices.ContainsFunc(l.Spec(), func(f dataset.Field) bool { return f.Ragged }))
	return s
}

// errGone says that the reader has ended or has closed its socket.
var errGone = errors.New("share: the reader is gone")

// serve answers until the reader is gone. What the reader holds then, it keeps.
func (s *server) serve(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var group sync.WaitGroup
	defer func() {
		cancel(nil)
		s.conn.Close()
		group.Wait()
		err = errors.Join(err, s.loseAll())
	}()
	stop := context.AfterFunc(ctx, func() { s.conn.SetDeadline(time.Unix(1, 0)) }) // ends calls that read and write
	defer stop()
	group.Go(func() { cancel(s.read(ctx)) })
	group.Go(func() { watchParent(ctx, func() { cancel(errGone) }) })
	err = s.converse(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause // what failed, failed because of it
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// watchParent calls gone when the process that has started this one has ended. A
// process that it forked may keep the socket open.
func watchParent(ctx context.Context, gone func()) {
	parent := os.Getppid()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if os.Getppid() != parent {
				gone()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// read takes batches back, and passes on what wants an answer, until there is no
// more. It returns why.
func (s *server) read(ctx context.Context) error {
	lines := json.NewDecoder(s.conn)
	for {
		var q question
		if err := lines.Decode(&q); err != nil {
			if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
				return errGone
			}
			return fmt.Errorf("share: reader: %w", err)
		}
		for _, hold := range q.Free {
			if err := s.free(hold); err != nil {
				return err
			}
		}
		if q.Do == "fork" {
			s.fork()
			continue
		}
		select {
		case s.questions <- q:
		case <-ctx.Done():
		}
	}
}

// give gives a batch to the reader. It reports whether the reader holds so many that it
// should copy this one.
func (s *server) give(h *held) (many bool) {
	if len(h.blocks) == 0 {
		h.release()
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for range h.blocks {
		s.holds++
		h.holds = append(h.holds, s.holds)
	}
	s.held = append(s.held, h)
	return len(s.held) > s.keep
}

// free takes a hold back. When a batch has none left, the loader may use its memory again.
func (s *server) free(hold int) error {
	h, err := s.takeBack(hold)
	switch {
	case err != nil || h == nil:
		return err
	case h.forked:
		return s.lose(h)
	}
	h.release()
	return nil
}

// takeBack returns the batch if that was its last hold.
func (s *server) takeBack(hold int) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range s.held {
		k := slices.Index(h.holds, hold)
		if k < 0 {
			continue
		}
		if h.holds = slices.Delete(h.holds, k, k+1); len(h.holds) > 0 {
			return nil, nil
		}
		s.held = slices.Delete(s.held, i, i+1)
		return h, nil
	}
	return nil, fmt.Errorf("share: reader: hold %d is freed, but the reader does not have it", hold)
}

// fork notes that another process sees what the reader has now.
func (s *server) fork() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		h.forked = true
	}
}

// lose takes a batch back whose memory is not to be used again.
func (s *server) lose(h *held) error {
	for _, b := range h.blocks {
		if err := s.memory.lose(b); err != nil {
			return err // the batch stays kept
		}
	}
	h.release()
	return nil
}

// loseAll leaves to the reader what it has not given back, which it may use after it
// has closed its end.
func (s *server) loseAll() (err error) {
	for _, h := range s.held { // no other goroutine is left
		err = errors.Join(err, s.lose(h))
	}
	return err
}
