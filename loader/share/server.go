package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// A server answers the requests of one reader.
type server struct {
	l         *loader.Loader
	memory    *Memory
	conn      *net.UnixConn
	info      map[string]any
	questions chan question

	mu   sync.Mutex
	held map[int]held // batches that the reader has
	last int          // number that a batch was given
}

// held is a batch that the reader has.
type held struct {
	blocks  []*block
	release func()
}

func newServer(l *loader.Loader, m *Memory, conn *net.UnixConn) *server {
	return &server{l: l, memory: m, conn: conn, info: map[string]any{}, questions: make(chan question), held: map[int]held{}}
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
		var err error
		switch q.Do {
		case "free":
			err = s.free(q.Batch)
		case "lose":
			err = s.lose(q.Batch)
		default:
			select {
			case s.questions <- q:
			case <-ctx.Done():
			}
		}
		if err != nil {
			return err
		}
	}
}

// give gives a batch to the reader, and numbers it.
func (s *server) give(h held) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.held[s.last] = h
	return s.last
}

// takeBack takes a batch back.
func (s *server) takeBack(number int) (held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[number]
	if !ok {
		return h, fmt.Errorf("share: reader: batch %d is freed or lost, but the reader does not hold it", number)
	}
	delete(s.held, number)
	return h, nil
}

// free takes a batch back, for the loader to use its memory again.
func (s *server) free(number int) error {
	h, err := s.takeBack(number)
	if err == nil {
		h.release()
	}
	return err
}

// lose takes a batch back whose memory is not to be used again.
func (s *server) lose(number int) error {
	h, err := s.takeBack(number)
	if err == nil {
		err = s.loseBlocks(h)
	}
	return err
}

func (s *server) loseBlocks(h held) error {
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
		err = errors.Join(err, s.loseBlocks(h))
	}
	return err
}
