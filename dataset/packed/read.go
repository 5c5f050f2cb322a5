package packed

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// stageCheck lasts while a sample's checksum is computed.
const stageCheck = "check"

type reader struct {
	*File
	file    fs.File
	at      io.ReaderAt
	far     bool   // whether every read of the file is a request to a service
	scratch []byte // for a record of several fields that is read at once
	left    left   // of the latest PlaceParts
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.n); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	err := r.place(ctx, i, -1, dst)
	if err == nil && r.unchecked(i) {
		dst.Stage(stageCheck)
		var sum uint32
		for k := range dst.Len() {
			sum = crc32.Update(sum, castagnoli(), dst.Cell(k).Bytes())
		}
		err = r.check(i, sum)
	}
	if err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	return nil
}

// PlaceParts leaves a large field out if the sample's checksum has been compared. So
// the first epoch reads and checks everything. Of a far file it leaves nothing out: a part of
// a field would be a request of its own, which takes longer than all of its bytes.
func (r *reader) PlaceParts(ctx context.Context, i, f int, dst dataset.Slot) (int, io.ReaderAt, error) {
	if dataset.CheckIndex(i, r.n) != nil || r.far || r.unchecked(i) || r.layout.start(i+1)-r.layout.start(i) <= files.Small || !r.spec[f].Ragged {
		return 0, nil, r.Place(ctx, i, dst)
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	dst.Stage(dataset.StageRead)
	if err := r.place(ctx, i, f, dst); err != nil {
		return 0, nil, fmt.Errorf("packed: %w", err)
	}
	r.left.ctx = ctx
	return int(r.left.size), &r.left, nil
}

// A field that PlaceParts has left out.
type left struct {
	r      *reader
	ctx    context.Context
	offset int64 // in the file
	size   int64
}

func (l *left) ReadAt(to []byte, offset int64) (int, error) {
	if offset < 0 || offset > l.size-int64(len(to)) {
		return 0, fmt.Errorf("packed: %d bytes from byte %d of a field of %d", len(to), offset, l.size)
	}
	if err := l.r.read(l.ctx, to, l.offset+offset); err != nil {
		return 0, fmt.Errorf("packed: %w", err)
	}
	return len(to), nil
}

// place reads a sample, but only notes where field without is, unless that is -1.
func (r *reader) place(ctx context.Context, i, without int, dst dataset.Slot) error {
	l := &r.layout
	offset := l.start(i)
	size := l.start(i+1) - offset
	if size > math.MaxInt {
		return fmt.Errorf("sample of %d bytes is more than memory can hold", size)
	}
	var rest []byte
	if len(r.spec) > 1 && without < 0 && (size <= files.Small || r.far && size <= atOnce) {
		r.scratch = slices.Grow(r.scratch[:0], int(size))
		rest = r.scratch[:size]
		if err := r.read(ctx, rest, offset); err != nil {
			return err
		}
	}
	j := 0
	for k := range dst.Len() {
		if k == without {
			r.left = left{r: r, offset: offset, size: l.size(i, j)}
			offset += r.left.size
			j++
			continue
		}
		row := dst.Cell(k)
		to := row.Bytes()
		if r.spec[k].Ragged {
			to = row.Grow(int(l.size(i, j)))
			j++
		}
		if rest != nil {
			rest = rest[copy(to, rest):]
			continue
		}
		if err := r.read(ctx, to, offset); err != nil {
			return err
		}
		offset += int64(len(to))
	}
	return nil
}

func (r *reader) read(ctx context.Context, to []byte, offset int64) error {
	n, err := files.ReadAt(ctx, r.at, to, offset)
	if n == len(to) {
		return nil // even if that was the end of the file
	}
	if err == io.EOF || err == nil {
		err = fmt.Errorf("file ended at byte %d, but had %d bytes when it was opened: %w", offset+int64(n), r.size, io.ErrUnexpectedEOF)
	}
	return files.Cause(err)
}

func (r *reader) Close() error { return r.file.Close() }
