package dataset

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
)

// stageCheck is while a sample's checksum is computed.
const stageCheck = "check"

type packedReader struct {
	*Packed
	file    fs.File
	at      io.ReaderAt
	scratch []byte // for a record of several fields, if it is small
}

func (r *packedReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckIndex(i, r.n); err != nil {
		return err
	}
	dst.Stage(Read)
	if err := r.place(int64(i)*r.record, dst); err != nil {
		return err
	}
	if !r.unchecked(i) {
		return nil
	}
	dst.Stage(stageCheck)
	var sum uint32
	for _, c := range dst.cells {
		sum = crc32.Update(sum, castagnoli(), c.Bytes())
	}
	return r.check(i, sum)
}

func (r *packedReader) place(offset int64, dst Slot) error {
	if r.scratch != nil {
		if err := r.read(r.scratch, offset); err != nil {
			return err
		}
		rest := r.scratch
		for _, c := range dst.cells {
			rest = rest[copy(c.Bytes(), rest):]
		}
		return nil
	}
	for _, c := range dst.cells {
		row := c.Bytes()
		if err := r.read(row, offset); err != nil {
			return err
		}
		offset += int64(len(row))
	}
	return nil
}

func (r *packedReader) read(to []byte, offset int64) error {
	n, err := r.at.ReadAt(to, offset)
	if n == len(to) {
		return nil // even if that was the end of the file
	}
	if err == io.EOF || err == nil {
		err = fmt.Errorf("file ended at byte %d, but had %d when it was opened: %w", offset+int64(n), r.size, io.ErrUnexpectedEOF)
	}
	return readError(r.name, err)
}

func (r *packedReader) Close() error { return r.file.Close() }
