package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// Lines makes a source of the lines that r reads, such as JSONL. A record has one ragged
// uint8 field of that name: the line without its end, which is "\n" or "\r\n". The last
// line needs no end.
//
// If r is an [io.Seeker] that can seek, such as a file, the source is a [Seeker]: its mark
// is the offset after the line. r must be at the beginning of the stream then. If r has
// SetReadDeadline, as network connections and pipes have, [Dataset.Close] interrupts a
// Read. Otherwise it waits for it.
//
// [dataset.Map] parses lines in all workers.
func Lines(r io.Reader, field string) Source {
	l := &reading{r: r, in: bufio.NewReaderSize(r, 64<<10), limit: mostBytes}
	l.spec = dataset.Spec{{Name: field, Dtype: dataset.Uint8, Ragged: true}}
	if s, ok := r.(io.Seeker); ok {
		if begin, err := s.Seek(0, io.SeekCurrent); err == nil { // pipes have the method, too
			return &seekable{l, s, begin}
		}
	}
	return l
}

// A reading cuts what an io.Reader reads into lines.
type reading struct {
	r      io.Reader
	in     *bufio.Reader
	spec   dataset.Spec
	limit  int    // bytes of a line
	long   error  // of a line that is too long; it stays, because the rest of the line is no record
	offset int64  // after the last record
	raw    int64  // bytes of the line under way, with its end
	record []byte // what is read of it, also if Read was interrupted
	mark   []byte // memory of the latest one

	mu  sync.Mutex
	ctx context.Context // for which Read is interrupted
}

func (l *reading) Spec() dataset.Spec { return l.spec }
func (l *reading) setLimit(bytes int) { l.limit = bytes }

func (l *reading) Mark() []byte {
	l.mark = strconv.AppendInt(l.mark[:0], l.offset, 10)
	return l.mark
}

// String names the reader, if it has a name.
func (l *reading) String() string {
	if named, ok := l.r.(interface{ Name() string }); ok {
		return "lines of " + named.Name()
	}
	return fmt.Sprintf("lines of %T", l.r)
}

func (l *reading) Next(ctx context.Context, dst dataset.Slot) error {
	l.interruptible(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := l.line(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	copy(dataset.Grow[byte](dst, 0, len(l.record)), l.record)
	l.offset += l.raw
	l.raw, l.record = 0, l.record[:0]
	return nil
}

// interruptible makes Read return when ctx is done, if the reader has deadlines.
func (l *reading) interruptible(ctx context.Context) {
	d, ok := l.r.(interface{ SetReadDeadline(time.Time) error })
	if !ok || ctx == l.ctx {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
	if d.SetReadDeadline(time.Time{}) != nil {
		return // files have the method, and an error
	}
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.ctx == ctx { // else another Dataset reads already
			_ = d.SetReadDeadline(time.Unix(1, 0))
		}
	})
}

// line reads the rest of a line.
func (l *reading) line() error {
	for l.long == nil {
		part, err := l.in.ReadSlice('\n')
		l.raw += int64(len(part))
		if len(l.record)+len(part) > l.limit+2 {
			l.long = fmt.Errorf("more than %d bytes", l.limit)
			break
		}
		l.record = append(l.record, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.record) > 0:
		case err != nil:
			return err
		}
		if n := len(l.record); n > 0 && l.record[n-1] == '\n' {
			l.record = l.record[:n-1]
			if n > 1 && l.record[n-2] == '\r' {
				l.record = l.record[:n-2]
			}
		}
		return nil
	}
	return l.long
}

// A seekable reading can go back.
type seekable struct {
	*reading
	seeker io.Seeker
	begin  int64 // offset of the stream in the reader
}

func (s *seekable) Seek(_ context.Context, mark []byte) error {
	offset, err := strconv.ParseInt(string(mark), 10, 64)
	if err != nil || offset < 0 {
		return errors.New("not a mark of this source: want an offset")
	}
	if _, err := s.seeker.Seek(s.begin+offset, io.SeekStart); err != nil {
		return err
	}
	s.in.Reset(s.r)
	s.offset, s.raw, s.record, s.long = offset, 0, s.record[:0], nil
	return nil
}

// Channel makes a source of the values that c receives. spec lists the fields of a record,
// and place writes a value into them. The source ends when c is closed.
//
// A channel cannot give values again. So values that were received, but not sealed when
// the process was killed, are lost: up to [BlockSize], or a [Window].
func Channel[T any](c <-chan T, spec dataset.Spec, place func(value T, dst dataset.Slot) error) Source {
	return channel[T]{c, spec, place}
}

type channel[T any] struct {
	c     <-chan T
	spec  dataset.Spec
	place func(T, dataset.Slot) error
}

func (c channel[T]) Spec() dataset.Spec { return c.spec }
func (c channel[T]) Mark() []byte       { return nil }
func (c channel[T]) String() string     { return fmt.Sprintf("channel of %T", *new(T)) }

func (c channel[T]) Next(ctx context.Context, dst dataset.Slot) error {
	if ctx.Err() != nil { // select would choose at random
		return ctx.Err()
	}
	select {
	case value, open := <-c.c:
		if !open {
			return io.EOF
		}
		return c.place(value, dst)
	case <-ctx.Done():
		return ctx.Err()
	}
}
