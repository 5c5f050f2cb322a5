package shards

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// Open makes a Reader. It keeps the block of its last sample in memory until it reads
// one of another block or is closed.
func (d *Dataset) Open() (dataset.Reader, error) {
	columns := d.columns()
	decoder, err := d.index.layout.Decoder(columns)
	if err != nil {
		return nil, fmt.Errorf("shards: %w", err)
	}
	return &reader{Dataset: d, decoder: decoder, values: make([]shardfmt.Value, len(columns))}, nil
}

type reader struct {
	*Dataset
	decoder shardfmt.Decoder
	values  []shardfmt.Value // of the columns
	arrays  arrayParser
	current *held // the block of the last sample
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	b, row := r.index.find(i)
	if err := r.seek(ctx, b); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	dst.Stage(dataset.StageDecode)
	if err := r.place(r.current.sample(row), dst); err != nil {
		compression := r.index.shards[r.index.blocks[b].shard].compression
		if compression == shardfmt.ByFormat {
			return fmt.Errorf("shards: %s, sample %d: %w", r.index.objectOf(b).Name, r.index.inShard(i, b), err)
		}
		at := r.index.blocks[b].Off + int64(r.current.rows[row].Off)
		what := ofDecompressed(compression)
		return fmt.Errorf("shards: %s, byte %d%s: %w", r.index.objectOf(b).Name, at, what, err)
	}
	return nil
}

// seek makes b the current block.
func (r *reader) seek(ctx context.Context, b int) error {
	if r.current != nil && r.current.block == b {
		return nil
	}
	r.drop()
	block := &r.index.blocks[b]
	h, err := r.memory.get(ctx, b, block.Size, r.load)
	if err != nil {
		return err
	}
	r.current = h
	return nil
}

func (r *reader) drop() {
	if r.current != nil {
		r.memory.release(r.current)
		r.current = nil
	}
}

func (r *reader) place(sample []byte, dst dataset.Slot) error {
	if err := r.decoder.Decode(sample, r.values); err != nil {
		return err
	}
	rest := r.values
	for k := range r.fields {
		f := &r.fields[k]
		values := rest[:len(f.columns)]
		rest = rest[len(f.columns):]
		v := first(values)
		if v == nil {
			return fmt.Errorf("field %q: the sample has no column %s", f.spec.Name, f.names())
		}
		if err := f.place(v, dst.Cell(k), &r.arrays); err != nil {
			return fmt.Errorf("field %q: %w", f.spec.Name, err)
		}
	}
	return nil
}

// first is the first of the values that exists, or nil.
func first(values []shardfmt.Value) *shardfmt.Value {
	for k := range values {
		if values[k].Dtype != 0 {
			return &values[k]
		}
	}
	return nil
}

func (r *reader) Close() error {
	r.drop()
	return nil
}
