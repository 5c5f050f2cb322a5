package stream

import (
	"bufio"
	"context"
	"encoding/binary"
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
func Lines(r io.Reader, field string) Source { return newReading(r, field, "lines", (*reading).line) }

// Frames makes a source of the frames that r reads. A frame is a length, as uint32 in
// little-endian order, and that many bytes. A record has one ragged uint8 field of that
// name: the bytes. For encoded images the name is "image". Otherwise it is like [Lines].
func Frames(r io.Reader, field string) Source {
	return newReading(r, field, "frames", (*reading).frame)
}

// AppendFrame appends a frame for [Frames] to dst. It panics if record has more than 1 GiB.
func AppendFrame(dst, record []byte) []byte {
	if len(record) > mostBytes {
		panic("stream: AppendFrame: the record has more than 1 GiB")
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(record))), record...)
}

// A reading cuts what an io.Reader reads into records.
type reading struct {
	r      io.Reader
	in     *bufio.Reader
	spec   dataset.Spec
	what   string
	cut    func(*reading) error
	limit  int    // bytes of a record
	offset int64  // after the last record
	raw    int64  // bytes of the record under way, with its frame or line end
	record []byte // what is read of it, also if Read was interrupted
	head   []byte // of a frame
	mark   []byte // memory of the latest one

	mu  sync.Mutex
	ctx context.Context // for which Read is interrupted
}

func newReading(r io.Reader, field, what string, cut func(*reading) error) Source {
	l := &reading{r: r, in: bufio.NewReaderSize(r, 64<<10), what: what, cut: cut, limit: mostBytes}
	l.spec = dataset.Spec{{Name: field, Dtype: dataset.Uint8, Ragged: true}}
	if s, ok := r.(io.Seeker); ok {
		if begin, err := s.Seek(0, io.SeekCurrent); err == nil { // pipes have the method, too
			return &seekable{l, s, begin}
		}
	}
	return l
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
		return l.what + " of " + named.Name()
	}
	return fmt.Sprintf("%s of %T", l.what, l.r)
}

func (l *reading) Next(ctx context.Context, dst dataset.Slot) error {
	l.interruptible(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := l.cut(l); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	copy(dataset.Grow[byte](dst, 0, len(l.record)), l.record)
	l.offset += l.raw
	l.raw, l.record, l.head = 0, l.record[:0], l.head[:0]
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
	for {
		part, err := l.in.ReadSlice('\n')
		l.raw += int64(len(part))
		if len(l.record)+len(part) > l.limit+2 {
			return l.tooLarge()
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
}

// tooLarge is the error of a line that is too long. It stays, because the rest of the line
// is not a record.
func (l *reading) tooLarge() error {
	err := fmt.Errorf("more than %d bytes", l.limit)
	l.cut = func(*reading) error { return err }
	return err
}

// frame reads the rest of a frame. It allocates no more than twice the bytes that are
// there.
func (l *reading) frame() error {
	if n := len(l.head); n < lengthBytes {
		if err := l.fill(&l.head, lengthBytes); err != nil {
			if err == io.EOF && len(l.head) > 0 {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	size := binary.LittleEndian.Uint32(l.head)
	if uint64(size) > uint64(l.limit) {
		return fmt.Errorf("a frame of %d bytes, more than %d", size, l.limit)
	}
	if err := l.fill(&l.record, int(size)); err != nil {
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	l.raw = lengthBytes + int64(size)
	return nil
}

// fill reads until to has n bytes.
func (l *reading) fill(to *[]byte, n int) error {
	for empty := 0; len(*to) < n; {
		have := len(*to)
		if have == cap(*to) {
			bigger := make([]byte, have, min(n, max(2*have, 64<<10)))
			copy(bigger, *to)
			*to = bigger
		}
		k, err := l.in.Read((*to)[have:min(n, cap(*to))])
		*to = (*to)[:have+k]
		if k > 0 {
			empty = 0
		} else if empty++; empty == patience && err == nil {
			err = io.ErrNoProgress
		}
		if err != nil && len(*to) < n {
			return err
		}
	}
	return nil
}

// patience is how often a reader may return nothing, as in bufio.
const patience = 100

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
	s.offset, s.raw, s.record, s.head = offset, 0, s.record[:0], s.head[:0]
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
