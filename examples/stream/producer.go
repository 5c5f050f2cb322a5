package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// A follower reads a log while a producer appends to it. It ends after all lines.
type follower struct {
	*os.File
	ctx     context.Context
	stop    context.CancelFunc
	written chan struct{} // closed when the producer has written all lines
	done    chan struct{} // closed when the producer has ended
	err     error         // of the producer
}

// produce starts the producer, which writes the lines that the log does not have yet.
func produce(ctx context.Context, path string, lines int) (*follower, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(path)
	if err != nil {
		out.Close()
		return nil, err
	}
	f := &follower{File: in, written: make(chan struct{}), done: make(chan struct{})}
	f.ctx, f.stop = context.WithCancel(ctx)
	go func() {
		defer close(f.done)
		defer out.Close()
		if f.err = f.appendLines(out, lines); f.err == nil {
			close(f.written)
		}
	}()
	return f, nil
}

// appendLines appends a line every now and then.
func (f *follower) appendLines(out *os.File, lines int) error {
	text, err := io.ReadAll(out)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1 // a kill may have cut the last line
	if err := out.Truncate(int64(whole)); err != nil {
		return err
	}
	for n := bytes.Count(text[:whole], []byte("\n")); n < lines; n++ {
		if n%25 == 0 {
			select {
			case <-time.After(2 * time.Millisecond):
			case <-f.ctx.Done():
				return f.ctx.Err()
			}
		}
		random := rand.New(rand.NewPCG(1, uint64(n)))
		x := 2*random.Float64() - 1
		if _, err := fmt.Fprintf(out, `{"x": %g, "y": %g}`+"\n", x, 3*x+1+0.1*random.NormFloat64()); err != nil {
			return err
		}
	}
	return nil
}

// Read waits for the producer at the end of the log.
func (f *follower) Read(p []byte) (int, error) {
	for ended := false; ; {
		n, err := f.File.Read(p)
		if n > 0 || err != io.EOF || ended {
			return n, err
		}
		select {
		case <-f.written:
			ended = true // unless more was written since the Read
		case <-f.done:
			if f.err != nil {
				return 0, f.err
			}
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// Close ends the producer.
func (f *follower) Close() error {
	f.stop()
	<-f.done
	return f.File.Close()
}
