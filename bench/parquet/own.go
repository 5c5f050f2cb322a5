package parquet

import (
	"context"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
)

// own reads with package dataset/shards/parquet, without memory for blocks other than the
// one in use.
type own struct {
	ctx    context.Context
	ends   []int // of the blocks
	reader dataset.Reader
	slot   dataset.Slot
}

// openOwn opens a file of a folder. Its blocks are as small as the file allows, but have at
// least size bytes.
func openOwn(ctx context.Context, dir, name string, size int64) (*own, error) {
	store := objects.Folder(dir)
	index, err := shards.Scan(ctx, store, parquet.Format(parquet.Columns(imageColumn, labelColumn)), []string{name}, shards.BlockSize(size))
	if err != nil {
		return nil, err
	}
	ds, err := shards.Open(store, index, []shards.Field{shards.Bytes("image", imageColumn), shards.Scalar[int64]("label", labelColumn)}, shards.MaxBytes(0))
	if err != nil {
		return nil, err
	}
	reader, err := ds.Open()
	return &own{ctx: ctx, ends: ds.Ends(), reader: reader, slot: dataset.NewSlot(ds.Spec()...)}, err
}

func (o *own) row(i int) ([]byte, int64, error) {
	if err := o.reader.Place(o.ctx, i, o.slot); err != nil {
		return nil, 0, err
	}
	return dataset.Row[uint8](o.slot, 0), dataset.Row[int64](o.slot, 1)[0], nil
}

func (o *own) block(begin, end int, order []int, give func([]byte, int64)) error {
	for _, k := range order {
		image, label, err := o.row(begin + k)
		if err != nil {
			return err
		}
		give(image, label)
	}
	return nil
}

func (o *own) close() error { return o.reader.Close() }
