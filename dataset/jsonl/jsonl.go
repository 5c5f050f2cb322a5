// Package jsonl reads files of lines at random, such as those of JSON Lines: https://jsonlines.org.
package jsonl

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"sort"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/private"
)

// A Column says how a field is made of a line. [Line], [Text] and [Scalar] make one.
type Column struct {
	spec  dataset.Field
	key   string                                        // "" for the line itself
	place func(dst dataset.Slot, f int, v []byte) error // v is a JSON value
	err   error                                         // found when the column was made
}

// Line is the line itself without its end, as a ragged field of uint8.
func Line(field string) Column {
	return Column{spec: dataset.Field{Name: field, Dtype: dataset.Uint8, Ragged: true}}
}

// Text is the string that the line's object has for a key, as a ragged field of uint8 in UTF-8.
func Text(field, key string) Column {
	return Column{spec: dataset.Field{Name: field, Dtype: dataset.Uint8, Ragged: true}, key: key, place: func(dst dataset.Slot, f int, v []byte) error {
		var text *string
		if err := json.Unmarshal(v, &text); err != nil || text == nil {
			return fmt.Errorf("key %q has %.40q, want a string", key, v)
		}
		copy(dataset.Grow[uint8](dst, f, len(*text)), *text)
		return nil
	}}
}

// Scalar is the number, or for bool true or false, that the line's object has for a key.
func Scalar[T dataset.Element](field, key string) Column {
	dt := dataset.DtypeOf[T]()
	switch dt {
	case dataset.Complex64, dataset.Complex128, dataset.Float16, dataset.BFloat16:
		return Column{err: fmt.Errorf("field %q: %v: want bool, a whole number, float32 or float64", field, dt)}
	}
	return Column{spec: dataset.Field{Name: field, Dtype: dt}, key: key, place: func(dst dataset.Slot, f int, v []byte) error {
		var number *T
		if err := json.Unmarshal(v, &number); err != nil || number == nil {
			return fmt.Errorf("key %q has %.40q, want a value of %v", key, v, dt)
		}
		dataset.Set(dst, f, *number)
		return nil
	}}
}

// An Option is an option of [Open].
type Option struct{ set func(*File) }

// Index keeps the index in a file of the operating system, of 4 bytes per line. If there is none, or if the file of lines has another size
// or time than it had, Open makes it. Several processes may do so at once. Without this option the index is in memory, and every Open
// makes it.
func Index(path string) Option { return Option{func(f *File) { f.path = path }} }

// A File is a dataset of the lines of a file, made by [Open]. Lines may be empty; only the last one needs no end.
type File struct {
	fsys    fs.FS
	name    string
	columns []Column
	spec    dataset.Spec
	size    int64
	time    time.Time
	path    string // of the index, or ""
	memory  []byte // the index, if it has no path
	before  []int  // lines that end before each block, and all
}

// Open finds the lines of a file, which must not be compressed, and makes a sample of each. It reads the file once,
// on all processors, unless its index is kept: see [Index].
func Open(ctx context.Context, fsys fs.FS, name string, columns []Column, options ...Option) (*File, error) {
	f := &File{fsys: fsys, name: name, columns: columns}
	for _, o := range options {
		if o.set != nil {
			o.set(f)
		}
	}
	if len(columns) == 0 {
		return nil, errors.New("jsonl: no columns")
	}
	for _, c := range columns {
		if c.err != nil {
			return nil, fmt.Errorf("jsonl: %w", c.err)
		}
		f.spec = append(f.spec, c.spec)
	}
	if err := f.spec.Validate(); err != nil {
		return nil, fmt.Errorf("jsonl: %w", err)
	}
	if err := f.describe(ctx); err != nil {
		return nil, fmt.Errorf("jsonl: read %s: %w", name, err)
	}
	return f, nil
}

func (f *File) describe(ctx context.Context) error {
	file, at, size, err := files.OpenAt(f.fsys, f.name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return files.Cause(err)
	}
	if f.size, f.time = size, info.ModTime(); size > maxSize {
		return fmt.Errorf("file of %d bytes: want at most %d", size, maxSize)
	}
	var begin [4]byte
	if n := min(size, 4); n > 0 {
		if err := files.ReadFull(at, begin[:n], 0); err != nil {
			return files.Cause(err)
		}
	}
	if bytes.HasPrefix(begin[:], []byte{0x1f, 0x8b}) || bytes.Equal(begin[:], []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return errors.New("it is compressed: want a plain file, of which any line can be read")
	}
	if f.path != "" {
		if ok, err := f.kept(); ok || err != nil {
			return err
		}
	}
	index, err := f.scan(ctx, at)
	if err != nil {
		return err
	}
	if f.path == "" {
		f.memory = index
		return nil
	}
	return f.keep(index)
}

// An index is a header of 8 bytes of magic, the size of the file of lines and its time in nanoseconds, then for each block of that
// file and for its end how many lines end before it, all of 8 bytes, and then for each line where it ends, in 4 bytes, from the beginning
// of the block in which its last byte is. All numbers are little-endian.
const (
	magic     = "pslines1"
	header    = 24
	blockSize = 8 << 20
	maxSize   = int64(16 << 40) // of a file: a size is only a promise, and says how many blocks there are
)

func (f *File) blocks() int { return int((f.size + blockSize - 1) / blockSize) }

// ends is where in the index the ends of lines begin.
func (f *File) ends() int64 { return header + 8*int64(f.blocks()+1) }

// scan makes the index.
func (f *File) scan(ctx context.Context, at io.ReaderAt) ([]byte, error) {
	lines := make([][]uint32, f.blocks())
	n := runtime.GOMAXPROCS(0)
	if files.IsFar(at) {
		n = files.Scanners
	}
	buffers := make(chan []byte, n)
	for range n {
		buffers <- nil
	}
	ctx = files.Once(ctx)
	err := files.Scan(len(lines), n, func(k int) error {
		buffer := <-buffers
		defer func() { buffers <- buffer }()
		if err := ctx.Err(); err != nil {
			return err
		}
		from := int64(k) * blockSize
		buffer = slices.Grow(buffer[:0], int(min(blockSize, f.size)))[:min(blockSize, f.size-from)]
		if err := files.Fill(ctx, at, buffer, from); err != nil {
			return err
		}
		lines[k] = make([]uint32, 0, bytes.Count(buffer, []byte{'\n'})+1)
		for end := 0; ; {
			next := bytes.IndexByte(buffer[end:], '\n')
			if next < 0 {
				if k == len(lines)-1 && end < len(buffer) {
					lines[k] = append(lines[k], uint32(len(buffer))) // the last line has no end
				}
				return nil
			}
			end += next + 1
			lines[k] = append(lines[k], uint32(end))
		}
	})
	if err != nil {
		return nil, err
	}
	index := append(make([]byte, 0, f.ends()), f.head()...)
	f.before = []int{0}
	for k := range lines {
		f.before = append(f.before, f.before[k]+len(lines[k]))
	}
	for _, n := range f.before {
		index = binary.LittleEndian.AppendUint64(index, uint64(n))
	}
	index = slices.Grow(index, 4*f.Len())
	for k := range lines {
		for _, end := range lines[k] {
			index = binary.LittleEndian.AppendUint32(index, end)
		}
		lines[k] = nil
	}
	return index, nil
}

func (f *File) head() []byte {
	b := binary.LittleEndian.AppendUint64([]byte(magic), uint64(f.size))
	return binary.LittleEndian.AppendUint64(b, uint64(f.time.UnixNano()))
}

// kept reads an index that was kept, and reports whether it is that of the file.
func (f *File) kept() (bool, error) {
	file, err := private.OpenFile(f.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	begin := make([]byte, header)
	if n, err := file.ReadAt(begin, 0); n < header || string(begin[:len(magic)]) != magic {
		if err == io.EOF || err == nil {
			err = errors.New("another file has this name")
		}
		return false, fmt.Errorf("index %s: %w", f.path, err)
	}
	if !bytes.Equal(begin, f.head()) || info.Size() < f.ends() {
		return false, nil
	}
	table := make([]byte, f.ends()-header)
	if err := files.ReadFull(file, table, header); err != nil {
		return false, fmt.Errorf("index %s: %w", f.path, err)
	}
	f.before = nil
	for ; len(table) > 0; table = table[8:] {
		n := binary.LittleEndian.Uint64(table)
		if n > uint64(f.size) || len(f.before) > 0 && int(n) < f.before[len(f.before)-1] {
			return false, nil
		}
		f.before = append(f.before, int(n))
	}
	return f.before[0] == 0 && info.Size() == f.ends()+4*int64(f.Len()), nil
}

// keep writes the index.
func (f *File) keep(index []byte) error {
	return files.WriteWhole(f.path, func(w io.Writer) error {
		_, err := w.Write(index)
		return err
	})
}

// Len is the number of lines.
func (f *File) Len() int { return f.before[len(f.before)-1] }

// Spec has the columns in their order.
func (f *File) Spec() dataset.Spec { return f.spec }

// Name is the file and line of sample i, "train.jsonl, line 5", or "" if i is out of range. Lines are counted from 1.
func (f *File) Name(i int) string {
	if dataset.CheckIndex(i, f.Len()) != nil {
		return ""
	}
	return fmt.Sprintf("%s, line %d", f.name, i+1)
}

// Open makes a Reader, which holds the file and its index open until it is closed.
func (f *File) Open() (dataset.Reader, error) {
	r, err := f.open()
	if err != nil {
		return nil, fmt.Errorf("jsonl: read %s: %w", f.name, err)
	}
	return r, nil
}

func (f *File) open() (*reader, error) {
	file, at, _, err := files.OpenAt(f.fsys, f.name)
	if err != nil {
		return nil, err
	}
	r := &reader{File: f, at: at, closers: []io.Closer{file}, index: bytes.NewReader(f.memory)}
	if f.path != "" {
		if err := r.openIndex(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// openIndex opens the index that is kept.
func (r *reader) openIndex() error {
	index, err := private.OpenFile(r.path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	r.index, r.closers = index, append(r.closers, index)
	head := make([]byte, header)
	if err := files.ReadFull(index, head, 0); err != nil {
		return err
	}
	if !bytes.Equal(head, r.head()) {
		return fmt.Errorf("index %s: it was made anew, of a file with another size or time", r.path)
	}
	return nil
}

// Foresee begins to fetch the lines before they are read: see [dataset.ForeseeFiles].
func (f *File) Foresee(future dataset.Future) (stop func()) {
	r, err := f.open()
	if err != nil {
		return nil // who reads the lines will say why
	}
	ended := dataset.ForeseeFiles(f.fsys, future, dataset.FileBlocks{
		Len: f.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			if from, to, err := r.place(i, make([]byte, 8)); err == nil && to > from {
				dst = append(dst, dataset.FilePart{Path: f.name, Off: from, Len: to - from})
			}
			return dst
		},
	})
	if ended == nil {
		r.Close()
		return nil
	}
	return func() {
		defer r.Close()
		ended()
	}
}

type reader struct {
	*File
	at      io.ReaderAt
	index   io.ReaderAt
	closers []io.Closer
	entry   [8]byte
	line    []byte
}

func (r *reader) Close() error {
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// place finds line i with its end, and the byte before it, which is the end of another one. entry has 8 bytes of memory.
func (r *reader) place(i int, entry []byte) (from, to int64, err error) {
	first := max(i-1, 0)
	entry = entry[:4*(i+1-first)]
	if err := files.ReadFull(r.index, entry, r.ends()+4*int64(first)); err != nil {
		return 0, 0, fmt.Errorf("index %s: %w", r.path, err)
	}
	end := func(i int, entry []byte) int64 {
		block := sort.SearchInts(r.before, i+1) - 1
		return int64(block)*blockSize + int64(binary.LittleEndian.Uint32(entry))
	}
	if i > 0 {
		from, entry = end(i-1, entry), entry[4:]
	}
	if to = end(i, entry); from >= to || to > r.size || i > 0 && from == 0 {
		return 0, 0, r.wrong(from, to)
	}
	return max(from-1, 0), to, nil
}

// wrong is the error of an index by which these bytes are a line.
func (r *reader) wrong(from, to int64) error {
	if r.path == "" {
		return fmt.Errorf("the bytes from %d to %d are no line: the file has changed", from, to)
	}
	return fmt.Errorf("the bytes from %d to %d are no line: the file has changed, or its index is damaged: remove %s", from, to, r.path)
}

// read returns line i without its end.
func (r *reader) read(ctx context.Context, i int) ([]byte, error) {
	from, to, err := r.place(i, r.entry[:])
	if err != nil {
		return nil, err
	}
	if to-from > math.MaxInt {
		return nil, fmt.Errorf("line of %d bytes is more than memory can hold", to-from)
	}
	r.line = slices.Grow(r.line[:0], int(to-from))[:to-from]
	if err := files.Fill(ctx, r.at, r.line, from); err != nil {
		return nil, err
	}
	line, begins := r.line, true
	if i > 0 {
		line, begins = line[1:], line[0] == '\n'
	}
	end := bytes.IndexByte(line, '\n')
	if !begins || end != len(line)-1 && (end >= 0 || to < r.size) {
		return nil, r.wrong(to-int64(len(line)), to)
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	line, err := r.read(ctx, i)
	if err == nil {
		dst.Stage(dataset.StageDecode)
		err = r.decode(line, dst)
	}
	if err != nil {
		return fmt.Errorf("jsonl: %w", err)
	}
	return nil
}

// decode places the columns of a line.
func (r *reader) decode(line []byte, dst dataset.Slot) error {
	var object map[string]json.RawMessage
	for k, c := range r.columns {
		if c.place == nil {
			copy(dataset.Grow[uint8](dst, k, len(line)), line)
			continue
		}
		if object == nil {
			var err error
			if object, err = objectOf(line); err != nil {
				return err
			}
		}
		v, ok := object[c.key]
		if !ok {
			return fmt.Errorf("no key %q", c.key)
		}
		if err := c.place(dst, k, v); err != nil {
			return err
		}
	}
	return nil
}

func objectOf(line []byte) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	err := json.Unmarshal(line, &object)
	return object, err
}
