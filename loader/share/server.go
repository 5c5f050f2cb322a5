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
	forks int     // of the reader
}

// held is a batch that the reader has.
type held struct {
	blocks  []*block
	forked  bool // another process has them too
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
	returned := make(chan struct{})
	defer func() {
		cancel(nil)
		close(returned)
		s.conn.CloseWrite() // standard input is the same socket, and stays open
		s.conn.Close()
		group.Wait()
		err = errors.Join(err, s.loseAll())
	}()
	stop := context.AfterFunc(ctx, func() { s.conn.SetDeadline(time.Unix(1, 0)) }) // ends calls that read and write
	defer stop()
	group.Go(func() { cancel(s.read(ctx)) })
	group.Go(func() { watchParent(ctx, func() { cancel(errGone) }) })
	group.Go(func() { exitIfStuck(ctx, returned) })
	err = s.converse(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause // what failed, failed because of it
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// patience is how long a sample may keep a worker after the reader is gone.
const patience = 5 * time.Second

// exitIfStuck ends the process if the reader is gone and serve does not return.
func exitIfStuck(ctx context.Context, returned <-chan struct{}) {
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), errGone) {
		return
	}
	select {
	case <-returned:
	case <-time.After(patience):
		fmt.Fprintf(os.Stderr, "share: the reader is gone, and a worker did not end within %v\n", patience)
		os.Exit(1)
	}
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
		if q.Held != nil {
			if err := s.keepOnly(q.Held, q.Forks); err != nil {
				return err
			}
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
	s.held = append(s.held, h)
	return len(s.held) > s.keep
}

// keepOnly takes back the batches of which the reader holds no block. The loader may
// use their memory again.
func (s *server) keepOnly(blocks []int, forks int) error {
	for _, h := range s.takeBack(blocks, forks) {
		if h.forked {
			if err := s.lose(h); err != nil {
				return err
			}
			continue
		}
		h.release()
	}
	return nil
}

func (s *server) takeBack(blocks []int, forks int) (back []*held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if forks != s.forks {
		s.forks = forks
		for _, h := range s.held {
			h.forked = true
		}
	}
	s.held = slices.DeleteFunc(s.held, func(h *held) bool {
		// no other goroutine changes an id while the batch is kept
		if slices.ContainsFunc(h.blocks, func(b *block) bool { return slices.Contains(blocks, b.id) }) {
			return false
		}
		back = append(back, h)
		return true
	})
	return back
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
