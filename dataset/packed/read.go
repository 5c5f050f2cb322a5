package packed

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// stageCheck lasts while a sample's checksum is computed.
const stageCheck = "check"

type reader struct {
	*File
	file    fs.File
	at      io.ReaderAt
	scratch []byte // for a record of several fields, if it is small
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.n); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	err := r.place(ctx, int64(i)*r.record, dst)
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

func (r *reader) place(ctx context.Context, offset int64, dst dataset.Slot) error {
	if r.scratch != nil {
		if err := r.read(ctx, r.scratch, offset); err != nil {
			return err
		}
		rest := r.scratch
		for k := range dst.Len() {
			rest = rest[copy(dst.Cell(k).Bytes(), rest):]
		}
		return nil
	}
	for k := range dst.Len() {
		row := dst.Cell(k).Bytes()
		if err := r.read(ctx, row, offset); err != nil {
			return err
		}
		offset += int64(len(row))
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
