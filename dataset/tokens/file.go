package tokens

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/files"
)

// A File is a dataset of documents of tokens, made by [Open]. Its only field is "tokens", ragged. [Pack] packs them, and
// [File.Rows] has the same tokens as one stream.
//
// It keeps those parts of an index that were read, 12 bytes per document at most. If it has more than four million documents, and
// a read is no request to a service, it keeps none of them, and takes no memory per document.
type File struct {
	fsys   fs.FS
	spec   dataset.Spec
	stored encoding.Encoding
	parts  []part
	before []int // documents before each part, and all
}

// A part is one file of tokens.
type part struct {
	name     string
	from, to int64 // where in the file the tokens are
	n        int   // documents
	index    index
}

// A FileOption is an option of [Open].
type FileOption struct{ set func(*fileConfig) }

type fileConfig struct{ raw, field dataset.Dtype }

// Raw opens a file of tokens alone, without a header, such as those of nanoGPT, of numpy's tofile, or the .bin file of Megatron.
// They are little-endian.
func Raw(dt dataset.Dtype) FileOption { return FileOption{func(c *fileConfig) { c.raw = dt }} }

// As is the dtype of the field: int32, the default, or int64, which PyTorch's cross entropy needs for labels. A token that is too
// large for int32 is an error.
func As(dt dataset.Dtype) FileOption { return FileOption{func(c *fileConfig) { c.field = dt }} }

// Open opens a file of tokens. The formats are told apart by their first bytes:
//
//   - Megatron's .idx file, beside which is the .bin file. A document is what Megatron calls a sequence. [Writer] writes both.
//   - index.json of litdata, for TokensLoader, with its chunks in the same folder. A document is an item that was optimized.
//   - a .bin file of llm.c, of version 1 or 7: one document.
//   - an .npy file of one dimension: one document.
//   - any other, with [Raw]: one document.
//
// Tokens are stored as uint8 to uint32 or int8 to int64. Open reads no more than the header and the places of the first and the last
// document. It compares them with the sizes of the files. What an index says of other documents is checked when they
// are read, or by [File.Lengths].
//
// Several files are joined by dataset.Concat.
func Open(fsys fs.FS, name string, options ...FileOption) (*File, error) {
	c := fileConfig{field: dataset.Int32}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	if c.field != dataset.Int32 && c.field != dataset.Int64 {
		return nil, fmt.Errorf("tokens: As(%v): want int32 or int64", c.field)
	}
	f := &File{fsys: fsys, spec: dataset.Spec{{Name: "tokens", Dtype: c.field, Ragged: true}}}
	err := f.describe(name, c.raw)
	if err == nil {
		f.before, err = f.sums(func(p *part) int64 { return int64(p.n) })
	}
	if err != nil {
		return nil, fmt.Errorf("tokens: read %s: %w", name, err)
	}
	return f, nil
}

// sums are the sums of a number of every part, from 0 to that of all.
func (f *File) sums(of func(*part) int64) ([]int, error) {
	sums, sum := make([]int, 1, len(f.parts)+1), int64(0)
	for k := range f.parts {
		if sum += of(&f.parts[k]); sum > math.MaxInt {
			return nil, fmt.Errorf("%d samples are more than %d", sum, math.MaxInt)
		}
		sums = append(sums, int(sum))
	}
	return sums, nil
}

// find is the part that sample i is in, and its number there.
func find(sums []int, i int) (k, rest int) {
	k = sort.SearchInts(sums, i+1) - 1
	return k, i - sums[k]
}

// Len is the number of documents.
func (f *File) Len() int { return f.before[len(f.parts)] }

// Spec is the field "tokens".
func (f *File) Spec() dataset.Spec { return f.spec }

// Name is the file and number of document i, "train.bin, document 5", or "" if i is out of range.
func (f *File) Name(i int) string {
	if dataset.CheckIndex(i, f.Len()) != nil {
		return ""
	}
	k, i := find(f.before, i)
	return fmt.Sprintf("%s, document %d", f.parts[k].name, i)
}

// Tokens is the number of all tokens.
func (f *File) Tokens() int64 {
	sum := int64(0)
	for k := range f.parts {
		sum += f.parts[k].tokens(f)
	}
	return sum
}

func (p *part) tokens(f *File) int64 { return (p.to - p.from) / int64(f.stored.Size) }

// Lengths reads how many tokens each document has, for [Pack]. It checks what the index says of every document, and reads no
// tokens. A document of more than 2³¹-1 tokens is an error: see [File.Rows].
func (f *File) Lengths(ctx context.Context) ([]int32, error) {
	lengths := make([]int32, 0, min(f.Len(), 1<<24)) // an index of which nothing was read may promise more
	for k := range f.parts {
		h, err := f.open(k)
		if err == nil {
			lengths, err = h.lengths(ctx, lengths)
			err = errors.Join(err, h.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("tokens: %w", err)
		}
	}
	return lengths, nil
}

// Open makes a Reader, which holds files open until it is closed.
func (f *File) Open() (dataset.Reader, error) { return f.reader(), nil }

func (f *File) reader() *reader {
	return &reader{File: f, size: f.spec[0].Dtype.Size(), convert: converter(f.stored.Dtype, f.spec[0].Dtype)}
}

// atOnce is how many bytes of a far document are read at once.
const atOnce = 64 << 20

// Foresee begins to fetch the documents before they are read: see [dataset.ForeseeFiles]. It reads their places in the index.
func (f *File) Foresee(future dataset.Future) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var one sync.Mutex // guards r
	r := f.reader()
	ended := dataset.ForeseeFiles(f.fsys, future, dataset.FileBlocks{
		Len: f.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			one.Lock()
			defer one.Unlock()
			// Who reads the document will say what is wrong.
			if h, from, to, err := r.place(ctx, i); err == nil && from < to && to-from <= atOnce {
				dst = append(dst, dataset.FilePart{Path: h.part.name, Off: from, Len: to - from})
			}
			return dst
		},
	})
	if ended == nil {
		cancel()
		return nil
	}
	return func() {
		cancel()
		defer r.Close() // after the goroutines that use it
		ended()
	}
}

// A reader reads documents, or any tokens of a part.
type reader struct {
	*File
	size    int // bytes of a token in a field
	convert func(dst, raw []byte) (bad int)
	handles [64]*handle // of part k at k modulo their number, so that few files are open
	raw     []byte      // tokens that are stored with more bytes
	left    left
}

// handle opens a part, unless it is open.
func (r *reader) handle(k int) (*handle, error) {
	at := &r.handles[k%len(r.handles)]
	if *at != nil && (*at).part == &r.parts[k] {
		return *at, nil
	}
	if *at != nil {
		old := *at
		*at = nil
		if err := old.Close(); err != nil {
			return nil, err
		}
	}
	h, err := r.open(k)
	if err == nil {
		*at = h
	}
	return h, err
}

// place finds the bytes of document i.
func (r *reader) place(ctx context.Context, i int) (h *handle, from, to int64, err error) {
	k, i := find(r.before, i)
	if h, err = r.handle(k); err == nil {
		from, to, err = h.document(ctx, i)
	}
	return h, from, to, err
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	_, _, err := r.placeParts(ctx, i, false, dst)
	return err
}

// PlaceParts leaves the tokens out, but not those of a far document of up to 64 MiB: a part would be a request of its own.
// Parts are read in whole tokens.
func (r *reader) PlaceParts(ctx context.Context, i, _ int, dst dataset.Slot) (int, io.ReaderAt, error) {
	return r.placeParts(ctx, i, true, dst)
}

func (r *reader) placeParts(ctx context.Context, i int, parts bool, dst dataset.Slot) (int, io.ReaderAt, error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return 0, nil, err
	}
	dst.Stage(dataset.StageRead)
	h, from, to, err := r.place(ctx, i)
	if err != nil {
		return 0, nil, fmt.Errorf("tokens: %w", err)
	}
	n := (to - from) / int64(r.stored.Size)
	if n > math.MaxInt/int64(max(r.size, r.stored.Size)) {
		return 0, nil, fmt.Errorf("tokens: document of %d tokens is more than memory can hold", n)
	}
	size := int(n) * r.size
	if parts && (!h.far || to-from > atOnce) {
		r.left = left{r: r, h: h, ctx: ctx, from: from, size: int64(size)}
		return size, &r.left, nil
	}
	if err := r.read(ctx, h, from, dst.Cell(0).Grow(size)); err != nil {
		return 0, nil, fmt.Errorf("tokens: %w", err)
	}
	return 0, nil, nil
}

// A left is a document that PlaceParts has left out.
type left struct {
	r    *reader
	h    *handle
	ctx  context.Context
	from int64 // in the file
	size int64 // of the field in bytes
}

func (l *left) ReadAt(to []byte, offset int64) (int, error) {
	size := int64(l.r.size)
	if offset < 0 || offset > l.size-int64(len(to)) || offset%size != 0 || int64(len(to))%size != 0 {
		return 0, fmt.Errorf("tokens: %d bytes from byte %d of %d: want whole tokens of %d bytes", len(to), offset, l.size, size)
	}
	if err := l.r.read(l.ctx, l.h, l.from+offset/size*int64(l.r.stored.Size), to); err != nil {
		return 0, fmt.Errorf("tokens: %w", err)
	}
	return len(to), nil
}

// read reads the tokens from byte from of a part on, as many as dst has room for.
func (r *reader) read(ctx context.Context, h *handle, from int64, dst []byte) error {
	stored := len(dst) / r.size * r.stored.Size
	var raw []byte
	if stored <= len(dst) {
		raw = dst[len(dst)-stored:] // a token is written only where earlier ones were read
	} else {
		r.raw = slices.Grow(r.raw[:0], stored)[:stored]
		raw = r.raw
	}
	if err := files.Fill(ctx, h.data, raw, from); err != nil {
		return fmt.Errorf("%s: %w", h.part.name, err)
	}
	r.stored.Encode(raw) // which also decodes
	if r.convert == nil {
		return nil
	}
	if bad := r.convert(dst, raw); bad >= 0 {
		return fmt.Errorf("%s: byte %d: a token of %v that is no %v", h.part.name, from+int64(bad*r.stored.Size), r.stored.Dtype, r.spec[0].Dtype)
	}
	return nil
}

func (r *reader) Close() error {
	var errs []error
	for k, h := range r.handles {
		if h != nil {
			errs = append(errs, h.Close())
			r.handles[k] = nil
		}
	}
	return errors.Join(errs...)
}

// Rows makes a dataset of the same tokens as one stream that is cut into rows of length tokens, without regard to documents. A
// row begins stride tokens after the one before. What is left at the end is not in any row. No row has tokens of
// two files. The field "tokens" has the shape (length).
//
//   - Rows(n+1, n) is for inputs and targets: the first and the last n tokens of a row. It is what llm.c reads.
//   - Rows(n+1, 1) has a row for every place in the file. With sampler.Random it is the loop of nanoGPT.
//   - Rows(n, n) has every token once, as TokensLoader of litdata has.
func (f *File) Rows(length, stride int) (dataset.Dataset, error) {
	if length < 1 || length > 1<<30 || stride < 1 {
		return nil, fmt.Errorf("tokens: Rows(%d, %d): want a length of 1 to 2³⁰ and a stride of 1 or more", length, stride)
	}
	r := &stream{File: f, length: length, stride: stride}
	r.spec = dataset.Spec{{Name: "tokens", Dtype: f.spec[0].Dtype, Shape: dataset.Shape{length}}}
	var err error
	r.before, err = f.sums(func(p *part) int64 {
		n := p.tokens(f) - int64(length)
		if n < 0 {
			return 0
		}
		return n/int64(stride) + 1
	})
	if err == nil {
		err = r.spec.Validate()
	}
	if err == nil && length > math.MaxInt/f.stored.Size {
		err = fmt.Errorf("%d tokens of %v are more than memory can hold", length, f.stored.Dtype)
	}
	if err != nil {
		return nil, fmt.Errorf("tokens: Rows(%d, %d): %w", length, stride, err)
	}
	return r, nil
}

type stream struct {
	*File
	spec           dataset.Spec
	before         []int // rows before each part, and all
	length, stride int
}

func (r *stream) Len() int           { return r.before[len(r.parts)] }
func (r *stream) Spec() dataset.Spec { return r.spec }

// place is the part of row i, and the byte where it begins.
func (r *stream) place(i int) (k int, from int64) {
	k, i = find(r.before, i)
	return k, r.parts[k].from + int64(i)*int64(r.stride)*int64(r.stored.Size)
}

// Name is the row's place in its file.
func (r *stream) Name(i int) string {
	if dataset.CheckIndex(i, r.Len()) != nil {
		return ""
	}
	k, from := r.place(i)
	return fmt.Sprintf("%s, byte %d", r.parts[k].name, from)
}

// Foresee begins to fetch the rows before they are read: see [dataset.ForeseeFiles].
func (r *stream) Foresee(f dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(r.fsys, f, dataset.FileBlocks{
		Len: r.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			k, from := r.place(i)
			return append(dst, dataset.FilePart{Path: r.parts[k].name, Off: from, Len: int64(r.length) * int64(r.stored.Size)})
		},
	})
}

func (r *stream) Open() (dataset.Reader, error) { return &rowReader{r, r.reader()}, nil }

type rowReader struct {
	rows *stream
	from *reader
}

func (r *rowReader) Close() error { return r.from.Close() }

func (r *rowReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.rows.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	k, from := r.rows.place(i)
	h, err := r.from.handle(k)
	if err == nil {
		err = r.from.read(ctx, h, from, dst.Cell(0).Bytes())
	}
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	return nil
}
