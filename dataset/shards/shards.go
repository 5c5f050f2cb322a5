// Package shards reads datasets that are stored as records in a few large files:
// tar files of WebDataset, TFRecord files of tf.Example, and MDS of MosaicML. Samples
// are read in any order, from any [objects.Store].
//
// A shard is divided into blocks: parts of about 8 MiB that hold whole samples. A block
// is what is read at once, by one request, and compared with its checksum. An [Index]
// lists the blocks. [OpenSaved] keeps it in a file of about a hundred bytes per block.
//
//	names := []string{"train-{0000..0146}.tar"}
//	ds, err := shards.OpenSaved(ctx, store, shards.WebDataset(), names, "train.index", []shards.Field{
//		shards.Bytes("image", "jpg", "png"),
//		shards.Scalar[int64]("label", "cls"),
//	})
//	photos, err := transform.Images(ds, steps...)
//
// Samples of one block should be read together, because each block that is not in
// memory costs a request. [sampler.Grouped] with [Dataset.Ends] shuffles in that way:
// first the blocks, then the samples of some blocks together. Its lanes let each rank
// read its own blocks:
//
//	order := sampler.Grouped(ds.Ends(), seed, sampler.Together(64), sampler.Lanes(8))
//
// A shard that is compressed as a whole, by gzip or zstd, is one block: it is read and
// decompressed as a whole, into memory. So such shards should be small. [MaxBlockBytes] bounds what
// a block may take, and a shard that has more than 64 MiB and 2048 times its bytes after
// decompression is an error.
//
// [WriteTar] and [CreateTar] write the samples of any dataset as shards for [WebDataset].
// Packages shards/parquet and shards/arrow, modules of their own, have a [Format] for Parquet files and one for the Arrow files
// of Hugging Face.
//
// # Errors
//
// A record that is damaged is an error when it is read, and names the shard and the
// offset. If a block's checksum is wrong, the block is read a second time; then it is an
// error of each of its samples. A shard that cannot be divided into samples is an error
// of [Scan]. No memory is allocated because a header alone promises data, except for the window
// of a zstd frame: of at most 8 MiB or 16 times the bytes of the shard, and at most 128 MiB.
package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// A Format says how samples lie in shards: [WebDataset], [TFRecord] and [MDS] make one, and
// parquet.Format. Several goroutines use it at once.
type Format = shardfmt.Format

// A Dataset is the samples of shards, made by [Open]. Its Readers share the blocks in
// memory.
type Dataset struct {
	store  objects.Store
	index  *Index
	fields []Field
	spec   dataset.Spec
	config
	memory memory
}

// An Option changes what [Open], [OpenSaved] and [Scan] do. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	limit      int64
	anyVersion bool
	size       int64 // of blocks, for Scan
}

func configOf(options []Option) (config, error) {
	c := config{limit: 512 << 20, size: 8 << 20}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	var errs []error
	if c.limit < 0 {
		errs = append(errs, fmt.Errorf("shards: MaxBytes(%d): want 0 or more", c.limit))
	}
	if c.size < 1 {
		errs = append(errs, fmt.Errorf("shards: BlockSize(%d): want 1 or more", c.size))
	}
	return c, errors.Join(errs...)
}

// MaxBytes sets how many bytes of blocks, after decompression, are kept in memory, beside the
// blocks that Readers use. The default is 512 MiB. A shuffled order should have room for the blocks
// that it mixes, and again as many while it goes from these to the next: see [sampler.Together].
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// AnyVersion reads the shards that the store has, whatever their version. It is for
// an index that was made of a copy: in another folder, on another server. The sizes
// are still compared, and the checksums of blocks that have one.
func AnyVersion() Option { return Option{func(c *config) { c.anyVersion = true }} }

// Open makes a dataset of the shards in an index. It sends no request. The sample's
// fields are made of the columns that fields name.
func Open(s objects.Store, index *Index, fields []Field, options ...Option) (*Dataset, error) {
	c, err := configOf(options)
	errs := []error{err}
	d := &Dataset{store: s, index: index, fields: slices.Clone(fields), config: c}
	for _, f := range fields {
		errs = append(errs, f.check())
		d.spec = append(d.spec, f.spec)
	}
	errs = append(errs, d.spec.Validate())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if _, err := index.layout.Decoder(d.columns()); err != nil {
		return nil, fmt.Errorf("shards: %w", err)
	}
	d.memory.limit = d.limit
	return d, nil
}

// columns are those of all fields, one after the other.
func (d *Dataset) columns() []string {
	var names []string
	for _, f := range d.fields {
		names = append(names, f.columns...)
	}
	return names
}

// Len is the number of samples.
func (d *Dataset) Len() int { return d.index.Len() }

// Spec lists the fields in the order in which they were given to the function Open.
func (d *Dataset) Spec() dataset.Spec { return d.spec }

// Ends says where each block ends, in samples, for [sampler.Grouped]. The blocks are in
// the order of the samples.
func (d *Dataset) Ends() []int { return d.index.Ends() }

// Name is the shard of sample i and its key there, "train-0003.tar/n0123", or its number
// there, "train-0003.tfrecord, sample 17". The number also stands for the key while the
// block is not in memory. It is "" if i is out of range.
func (d *Dataset) Name(i int) string {
	if dataset.CheckIndex(i, d.Len()) != nil {
		return ""
	}
	b, row := d.index.find(i)
	if key := d.key(b, row); key != "" {
		return d.index.objectOf(b).Name + "/" + key
	}
	return fmt.Sprintf("%s, sample %d", d.index.objectOf(b).Name, d.index.inShard(i, b))
}

func (d *Dataset) key(b, row int) string {
	h := d.memory.peek(b)
	if h == nil {
		return ""
	}
	defer d.memory.release(h)
	return d.index.layout.Key(h.sample(row))
}

// object is the object that block b is in.
func (d *Dataset) object(b int) objects.Object {
	o := *d.index.objectOf(b)
	if d.anyVersion {
		o.Version = ""
	}
	return o
}

// find is the block of sample i, which must be in range, and its row there.
func (x *Index) find(i int) (block, row int) {
	block = sort.Search(len(x.blocks), func(b int) bool { return x.blocks[b].end > i })
	return block, i - x.blocks[block].first()
}

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
