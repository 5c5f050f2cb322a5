// Package journal lets a file be written record by record by a program that may be killed at any
// point. The packages that write packed files, shards and tokens share it.
package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/internal/private"
)

// A Log is a file that grows: path.part, and beside it path.journal, which says what of it is whole.
// The journal is text. Every line begins with the CRC-32C (RFC 3720, section 12.1) of what follows
// its first space, so that a line that is cut short is noticed:
//
//	8f3a00c1 packed 2 <hash>              the head: what the file is, and of what it is made
//	21bd94e0 1024 5a3c0f77 note           the next 1024 bytes of the part, and their CRC-32C
//
// The part is written before the lines about it. So after a kill, Open finds every record whose line
// is whole, and nothing else. A crash of the machine may take more.
type Log struct {
	path    string
	head    string
	part    *os.File
	out     *bufio.Writer // into part
	journal *os.File
	lines   []byte // that are not in the journal yet
	size    int64  // of the part, in bytes
	noted   int64  // of these, how many have a line
	sum     uint32 // CRC-32C of the others
}

// A Note is a line about the part.
type Note struct {
	Bytes int64 // since the line before
	Sum   uint32
	Text  string
}

const (
	partEnd    = ".part"
	journalEnd = ".journal"
	newEnd     = ".journal.new" // before it replaces the journal
	maxLine    = 64 << 10       // bytes
	buffered   = 256 << 10
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Open begins a log, or continues one with the same head. The first word of a head says whose it is.
// replay is told every note whose bytes are whole, in order, and reports false for one that is wrong:
// what follows is cut off. ready is called after the notes without bytes at the beginning, before the
// part is opened.
func Open(ctx context.Context, path, head string, ready func() error, replay func(Note) bool) (*Log, error) {
	l := &Log{path: path, head: head}
	if err := l.open(ctx, ready, replay); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Log) open(ctx context.Context, ready func() error, replay func(Note) bool) (err error) {
	// A writer that was given up may still have the files open. Windows, too, lets them be renamed then.
	if l.journal, err = private.OpenFile(l.path+journalEnd, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(l.journal, maxLine)
	text, kept, ok := next(lines, 0)
	if !ok || text != l.head {
		if err := l.replaces(lines, text, kept, ok); err != nil {
			return err
		}
		head := appendLine(nil, "%s", l.head)
		if err := cut(l.journal, 0); err != nil {
			return err
		}
		if _, err := l.journal.Write(head); err != nil {
			return err
		}
		kept, lines = int64(len(head)), bufio.NewReader(strings.NewReader(""))
	}
	kept, err = l.replay(ctx, lines, kept, ready, replay)
	if err != nil {
		return err
	}
	l.out = bufio.NewWriterSize(l.part, buffered)
	return errors.Join(cut(l.journal, kept), cut(l.part, l.size))
}

// replaces refuses to write over earlier work or foreign files: the journal's first line, which ends
// at byte end, is another one, or not whole. There is no work if no record was appended, or if the
// program was killed between the last two steps of Finish, which leaves the journal alone. A first
// note without bytes is work that needs no part: that of the parts before it.
func (l *Log) replaces(lines *bufio.Reader, line string, end int64, whole bool) error {
	part, err := os.Stat(l.path + partEnd)
	empty := errors.Is(err, os.ErrNotExist) || err == nil && part.Size() == 0
	if err != nil && !empty {
		return err
	}
	info, err := l.journal.Stat()
	if err != nil {
		return err
	}
	kind, _, _ := strings.Cut(l.head, " ")
	first, _, noted := nextNote(lines, end)
	switch {
	case whole && (!empty || noted && first.Bytes == 0 || !strings.HasPrefix(line, kind+" ")):
		return errors.New("its .part and .journal exist already, with other fields, columns or options, or of another source: remove them to start again")
	case !whole && !empty:
		return &os.PathError{Op: "continue", Path: l.path + partEnd, Err: errForeign}
	case !whole && info.Size() > int64(len(l.head)+10):
		return &os.PathError{Op: "continue", Path: l.path + journalEnd, Err: errForeign}
	}
	return nil
}

var errForeign = errors.New("it exists already, and is no work that can be continued: remove it to start again")

// replay reads the lines after the head, and compares the part with them. It returns where the last
// line that is right ends.
func (l *Log) replay(ctx context.Context, lines *bufio.Reader, kept int64, ready func() error, replay func(Note) bool) (int64, error) {
	var in *bufio.Reader
	var left int64 // bytes of the part without a line
	openPart := func() (err error) {
		if ready != nil {
			if err := ready(); err != nil {
				return err
			}
		}
		if l.part, err = private.OpenFile(l.path+partEnd, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
			return err
		}
		info, err := l.part.Stat()
		if err == nil {
			left, in = info.Size(), bufio.NewReaderSize(l.part, buffered)
		}
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, end, ok := nextNote(lines, kept)
		if in == nil && (!ok || n.Bytes > 0) {
			if err := openPart(); err != nil {
				return 0, err
			}
		}
		if !ok || in != nil && n.Bytes > left {
			return kept, nil
		}
		if n.Bytes > 0 {
			sum := crc32.New(castagnoli())
			switch _, err := io.CopyN(sum, in, n.Bytes); {
			case err == io.EOF:
				return kept, nil
			case err != nil:
				return 0, err
			case sum.Sum32() != n.Sum:
				return kept, nil
			}
		}
		switch {
		case replay(n):
		case in == nil:
			return kept, openPart()
		default:
			return kept, nil
		}
		left -= n.Bytes
		l.size += n.Bytes
		l.noted, kept = l.size, end
	}
}

// Write appends bytes to the part. They count when a note about them is flushed.
func (l *Log) Write(p []byte) (int, error) {
	n, err := l.out.Write(p)
	l.sum = crc32.Update(l.sum, castagnoli(), p[:n])
	l.size += int64(n)
	return n, err
}

// Size is the number of bytes of the part, and Pending how many of them have no note.
func (l *Log) Size() int64    { return l.size }
func (l *Log) Pending() int64 { return l.size - l.noted }

// Note adds a line about the bytes since the last one, and returns their CRC-32C.
func (l *Log) Note(format string, args ...any) uint32 {
	sum := l.sum
	l.lines = appendLine(l.lines, "%d %08x %s", l.Pending(), sum, fmt.Sprintf(format, args...))
	l.noted, l.sum = l.size, 0
	return sum
}

// Flush makes what has a note survive a kill of the program.
func (l *Log) Flush() error {
	if err := l.out.Flush(); err != nil { // the journal must list only what is in the part
		return err
	}
	_, err := l.journal.Write(l.lines)
	l.lines = l.lines[:0]
	return err
}

// Part is the part, with all that was written.
func (l *Log) Part() (*os.File, error) { return l.part, l.out.Flush() }

// Finish gives the part its name, and ends the log.
func (l *Log) Finish(name string) error {
	if err := errors.Join(l.out.Flush(), l.part.Sync(), l.Close()); err != nil {
		return err
	}
	if err := os.Rename(l.path+partEnd, name); err != nil {
		return err
	}
	SyncFolder(name)
	return os.Remove(l.path + journalEnd)
}

// Restart begins another part. The journal is replaced by one with these notes, which have no bytes;
// then named gives the former part, which is closed, its name.
func (l *Log) Restart(notes []string, named func() error) error {
	text := appendLine(nil, "%s", l.head)
	for _, n := range notes {
		text = appendLine(text, "0 00000000 %s", n)
	}
	if err := l.Close(); err != nil {
		return err
	}
	fresh, err := private.OpenFile(l.path+newEnd, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = fresh.Write(text)
	if err := errors.Join(err, fresh.Sync(), fresh.Close()); err != nil {
		return err
	}
	if err := os.Rename(l.path+newEnd, l.path+journalEnd); err != nil {
		return err
	}
	if l.journal, err = private.OpenFile(l.path+journalEnd, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return err
	}
	if err := named(); err != nil {
		return err
	}
	SyncFolder(l.path)
	if l.part, err = private.OpenFile(l.path+partEnd, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	l.out.Reset(l.part)
	l.size, l.noted, l.sum, l.lines = 0, 0, 0, nil
	return cut(l.part, 0)
}

// Remove ends a log whose part is empty or of no use.
func (l *Log) Remove() error {
	err := l.Close()
	for _, end := range []string{partEnd, newEnd, journalEnd} {
		if e := os.Remove(l.path + end); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Close closes the files. What has a note that was flushed is continued by the next log.
func (l *Log) Close() error {
	var errs []error
	for _, f := range []**os.File{&l.part, &l.journal} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}

// SyncFolder makes the name of a file durable, on systems that can.
func SyncFolder(name string) {
	if dir, err := os.Open(filepath.Dir(name)); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
}

func lineSum(text []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli())) }

// appendLine appends a line, which has no line feed of its own.
func appendLine(to []byte, format string, args ...any) []byte {
	start := len(to)
	to = fmt.Appendf(append(to, "01234567 "...), format, args...)
	copy(to[start:], lineSum(to[start+9:]))
	return append(to, '\n')
}

// next returns the text of the next line, which begins at byte start, and where it ends.
// ok is false if the line is not whole, or longer than the reader's buffer.
func next(lines *bufio.Reader, start int64) (text string, end int64, ok bool) {
	line, err := lines.ReadSlice('\n')
	if err != nil {
		return "", start, false // what lines that cannot be read have noted is done again
	}
	want, text, ok := strings.Cut(string(line[:len(line)-1]), " ")
	if !ok || want != lineSum([]byte(text)) {
		return "", start, false
	}
	return text, start + int64(len(line)), true
}

// nextNote returns the note of the next line, as next does.
func nextNote(lines *bufio.Reader, start int64) (n Note, end int64, ok bool) {
	text, end, ok := next(lines, start)
	fields := strings.SplitN(text, " ", 3)
	if !ok || len(fields) != 3 {
		return n, start, false
	}
	_, err := fmt.Sscanf(text, "%d %x", &n.Bytes, &n.Sum)
	n.Text = fields[2]
	return n, end, err == nil && n.Bytes >= 0 && (n.Bytes > 0 || n.Sum == 0)
}

// cut truncates a file to size and seeks to its end.
func cut(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err := f.Seek(size, io.SeekStart)
	return err
}
