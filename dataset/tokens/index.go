package tokens

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
)

// An index says where each document of a part begins. Its zero value is for a part that is one document.
type index struct {
	name    string // of its file
	starts  int64  // where in it the offsets of documents in the file of tokens are
	width   int64  // bytes of an offset, 4 or 8
	ends    bool   // whether the end of the last document follows
	lengths int64  // where the lengths of documents in tokens are, of 4 bytes each, or 0 if there are none
	pages   []atomic.Pointer[page]
}

// A page is the entries of pageDocuments documents of an index, and the offset that follows.
type page struct{ starts, lengths []byte }

const (
	pageDocuments = 1 << 12
	keptDocuments = 4 << 20 // of a file whose pages are kept also if a read is no request: two system calls less per document
	lengthWidth   = 4
)

// offset is the first offset of a list.
func (x *index) offset(starts []byte) int64 {
	if x.width == 4 {
		return int64(binary.LittleEndian.Uint32(starts))
	}
	return int64(binary.LittleEndian.Uint64(starts))
}

// A handle is an open part.
type handle struct {
	part    *part
	size    int64 // bytes of a stored token
	data    io.ReaderAt
	index   io.ReaderAt
	far     bool
	kept    bool     // whether pages of the index are kept
	entry   [20]byte // of a document
	closers []io.Closer
}

func (h *handle) Close() error {
	var errs []error
	for _, c := range h.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open opens part k.
func (f *File) open(k int) (*handle, error) {
	p := &f.parts[k]
	h := &handle{part: p, size: int64(f.stored.Size)}
	var err error
	if h.data, err = h.add(f.fsys, p.name); err != nil {
		return nil, err
	}
	h.far = files.IsFar(h.data)
	h.kept = h.far || len(f.before) > 0 && f.Len() <= keptDocuments
	switch p.index.name {
	case "", p.name:
		h.index = h.data
	default:
		if h.index, err = h.add(f.fsys, p.index.name); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return h, nil
}

func (h *handle) add(fsys fs.FS, name string) (io.ReaderAt, error) {
	f, at, _, err := files.OpenAt(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	h.closers = append(h.closers, f)
	return at, nil
}

// document finds the bytes of document i in the file of tokens.
func (h *handle) document(ctx context.Context, i int) (from, to int64, err error) {
	x := &h.part.index
	if x.name == "" {
		return h.part.from, h.part.to, nil
	}
	var e page
	if h.kept {
		first := i / pageDocuments * pageDocuments
		p := x.pages[i/pageDocuments].Load()
		if p == nil {
			p = &page{}
			if err := h.read(ctx, first, min(pageDocuments, h.part.n-first), p); err != nil {
				return 0, 0, err
			}
			x.pages[i/pageDocuments].Store(p)
		}
		e.starts = p.starts[int64(i-first)*x.width:]
		if x.lengths > 0 {
			e.lengths = p.lengths[(i-first)*lengthWidth:]
		}
	} else {
		e = page{h.entry[:0:16], h.entry[16:16]}
		if err := h.read(ctx, i, 1, &e); err != nil {
			return 0, 0, err
		}
	}
	return h.check(i, e)
}

// read reads the entries of n documents from document i on into the memory of p, or more.
func (h *handle) read(ctx context.Context, i, n int, p *page) error {
	x := &h.part.index
	offsets := int64(n)
	if i+n < h.part.n || x.ends {
		offsets++
	}
	var err error
	if p.starts, err = h.entries(ctx, p.starts, x.starts+int64(i)*x.width, offsets*x.width); err == nil && x.lengths > 0 {
		p.lengths, err = h.entries(ctx, p.lengths, x.lengths+int64(i)*lengthWidth, int64(n)*lengthWidth)
	}
	return err
}

// entries reads n bytes of the index.
func (h *handle) entries(ctx context.Context, memory []byte, from, n int64) ([]byte, error) {
	if int64(cap(memory)) < n {
		memory = make([]byte, n)
	}
	memory = memory[:n]
	if err := files.Fill(ctx, h.index, memory, from); err != nil {
		return nil, fmt.Errorf("%s: %w", h.part.index.name, err)
	}
	return memory, nil
}

// check compares the entry of document i, which e begins with, with the file of tokens.
func (h *handle) check(i int, e page) (from, to int64, err error) {
	p, x := h.part, &h.part.index
	wrong := func(at int64, format string, args ...any) (int64, int64, error) {
		return 0, 0, fmt.Errorf("%s: document %d: byte %d: %s", x.name, i, at, fmt.Sprintf(format, args...))
	}
	at := x.starts + int64(i)*x.width
	from, to = x.offset(e.starts), p.to
	if i+1 < p.n || x.ends {
		to = x.offset(e.starts[x.width:])
	}
	switch {
	case from < p.from || from > p.to || to < from || to > p.to:
		return wrong(at, "it begins at byte %d of %s, and the next one at byte %d: want %d to %d, not descending", from, p.name, to, p.from, p.to)
	case (from-p.from)%h.size != 0 || (to-from)%h.size != 0:
		return wrong(at, "it begins at byte %d of %s, and the next one at byte %d: want multiples of %d", from, p.name, to, h.size)
	case i == 0 && from != p.from || i+1 == p.n && to != p.to:
		return wrong(at, "it has the bytes from %d to %d of %s: the tokens are those from %d to %d", from, to, p.name, p.from, p.to)
	}
	if x.lengths > 0 {
		if n := int32(binary.LittleEndian.Uint32(e.lengths)); int64(n) != (to-from)/h.size {
			return wrong(x.lengths+int64(i)*lengthWidth, "%d tokens, but the next document begins %d tokens after it", n, (to-from)/h.size)
		}
	}
	return from, to, nil
}

// ends checks the first and the last document.
func (h *handle) ends() error {
	if h.part.n == 0 {
		if h.part.from != h.part.to {
			return fmt.Errorf("%s has %d bytes of tokens, but the index has no document", h.part.name, h.part.to-h.part.from)
		}
		return nil
	}
	for _, i := range []int{0, h.part.n - 1} {
		if _, _, err := h.document(context.Background(), i); err != nil {
			return err
		}
	}
	return nil
}

// lengths appends the lengths of all documents.
func (h *handle) lengths(ctx context.Context, to []int32) ([]int32, error) {
	p := h.part
	if p.index.name == "" {
		n := (p.to - p.from) / h.size
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("%s: a document of %d tokens: want %d at most, or rows of the whole file", p.name, n, math.MaxInt32)
		}
		return append(to, int32(n)), nil
	}
	const many = 1 << 16 // documents at a time
	var e page
	for first := 0; first < p.n; first += many {
		n := min(many, p.n-first)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := h.read(ctx, first, n, &e); err != nil {
			return nil, err
		}
		left := e
		for i := first; i < first+n; i++ {
			from, end, err := h.check(i, left)
			if err != nil {
				return nil, err
			}
			length := (end - from) / h.size
			if length > math.MaxInt32 {
				return nil, fmt.Errorf("%s: document %d: %d tokens: want %d at most", p.index.name, i, length, math.MaxInt32)
			}
			to = append(to, int32(length))
			left.starts = left.starts[p.index.width:]
			if p.index.lengths > 0 {
				left.lengths = left.lengths[lengthWidth:]
			}
		}
	}
	return to, nil
}

// An integer is a type of stored tokens.
type integer interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~int64
}

// converter is a function that turns stored tokens into those of a field. It returns the number of the first token that has no
// place there, or -1. dst may be raw, or end where raw ends. The converter is nil if nothing is to be done.
func converter(stored, field dataset.Dtype) func(dst, raw []byte) (bad int) {
	switch {
	case stored == field:
		return nil
	case field == dataset.Int32:
		return converterTo[int32](stored)
	}
	return converterTo[int64](stored)
}

func converterTo[D int32 | int64](stored dataset.Dtype) func(dst, raw []byte) int {
	switch stored {
	case dataset.Uint8:
		return widen[D, uint8]
	case dataset.Int8:
		return widen[D, int8]
	case dataset.Uint16:
		return widen16[D]
	case dataset.Int16:
		return widen[D, int16]
	case dataset.Int32:
		return widen[D, int32]
	case dataset.Uint32:
		return narrow[D, uint32]
	case dataset.Int64:
		return narrow[D, int64]
	}
	return nil
}

func widen[D int32 | int64, S integer](dst, raw []byte) int {
	to := dense.Values[D](dst)
	for i, v := range dense.Values[S](raw) {
		to[i] = D(v)
	}
	return -1
}

// widen16 is widen[D, uint16], eight tokens at a time.
func widen16[D int32 | int64](dst, raw []byte) int {
	to := dense.Values[D](dst)
	for bulk.LittleEndian() && len(raw) >= 16 {
		a, b, t := binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[8:]), to[:8:8]
		t[0], t[1], t[2], t[3] = D(uint16(a)), D(uint16(a>>16)), D(uint16(a>>32)), D(a>>48)
		t[4], t[5], t[6], t[7] = D(uint16(b)), D(uint16(b>>16)), D(uint16(b>>32)), D(b>>48)
		to, raw = to[8:], raw[16:]
	}
	return widen[D, uint16](dense.Bytes(to), raw)
}

func narrow[D int32 | int64, S integer](dst, raw []byte) int {
	to := dense.Values[D](dst)
	for i, v := range dense.Values[S](raw) {
		if int64(D(v)) != int64(v) {
			return i
		}
		to[i] = D(v)
	}
	return -1
}
