package shards

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/files"
)

// An Index lists the blocks of some shards. [Scan] and [ReadIndex] make one. It takes
// about 130 bytes of memory per block.
type Index struct {
	format Format
	layout shardfmt.Layout
	schema []byte
	shards []indexedShard
	blocks []indexedBlock
}

type indexedShard struct {
	object      objects.Object
	compression shardfmt.Compression
	first       int // block
}

type indexedBlock struct {
	shardfmt.Block
	shard int
	end   int // in samples of the index
}

func (b *indexedBlock) first() int { return b.end - b.Rows }

// BlockSize sets the least number of bytes of a block that a scan finds. A block ends before the first
// sample that begins after that many bytes. The default is 8 MiB. A smaller block takes
// less memory, mixes better in [sampler.Grouped], and costs more requests.
func BlockSize(bytes int64) Option { return Option{func(c *config) { c.size = bytes }} }

// scanners is how many shards are read at a time. Each takes 4 MiB of memory.
const scanners = 8

// Scan reads shards once, from beginning to end, and finds their blocks. Of [MDS] it reads the
// index.json and the offsets alone. A store with a cache does not keep what Scan reads, so a program
// that is started again should read a saved index: see [OpenSaved].
//
// names are the names of objects. "{0000..0146}" in a name stands for all numbers of
// that range, and "{a,b}" for each of the texts. A name with * or ? or [ is a pattern
// of [path.Match] for the names that the store lists. The samples are in the order of
// names, and those of a pattern are sorted.
func Scan(ctx context.Context, s objects.Store, f Format, names []string, options ...Option) (*Index, error) {
	c, err := configOf(options)
	if err != nil {
		return nil, err
	}
	ctx = files.Once(ctx)
	all, err := expandAll(ctx, s, names)
	if err != nil {
		return nil, err
	}
	found := make([][]shardfmt.Shard, len(all))
	err = files.Scan(len(all), scanners, func(k int) error {
		err := f.Split(ctx, s, all[k], c.size, func(shard shardfmt.Shard) error {
			found[k] = append(found[k], shard)
			return nil
		})
		if err != nil {
			return fmt.Errorf("shards: scan %s: %w", all[k], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	x := &Index{format: f}
	for _, shards := range found {
		for k := range shards {
			if err := x.add(&shards[k]); err != nil {
				return nil, fmt.Errorf("shards: scan %s: %w", shards[k].Object.Name, err)
			}
		}
	}
	return x, x.finish()
}

// add appends the blocks of a shard, which it checks: they may come from a file.
func (x *Index) add(s *shardfmt.Shard) error {
	if len(x.shards) == 0 {
		x.schema = s.Schema
	} else if !slices.Equal(x.schema, s.Schema) {
		return fmt.Errorf("its columns are not those of %s", x.shards[0].object.Name)
	}
	if s.Compression > shardfmt.ByFormat {
		return fmt.Errorf("compression %d is not known", s.Compression)
	}
	x.shards = append(x.shards, indexedShard{s.Object, s.Compression, len(x.blocks)})
	x.blocks = slices.Grow(x.blocks, len(s.Blocks))
	limit := limitOf(x.format)
	var at int64
	for k := range s.Blocks {
		b := &s.Blocks[k]
		byFormat := s.Compression == shardfmt.ByFormat
		whole := b.Off == 0 && b.Len == s.Object.Size && len(s.Blocks) == 1
		switch {
		case b.Off < at && !byFormat || b.Off < 0 || b.Len < 0 || b.Len > math.MaxInt64-b.Off || b.Off+b.Len > s.Object.Size:
			return fmt.Errorf("block %d: %d bytes from byte %d of an object of %d bytes", k, b.Len, b.Off, s.Object.Size)
		case s.Compression == shardfmt.Plain && b.Size != b.Len || s.Compression != shardfmt.Plain && !byFormat && !whole || b.Size < 0 || b.Size > mostBlock:
			return fmt.Errorf("block %d: %d bytes in memory, %d bytes from byte %d of the object", k, b.Size, b.Len, b.Off)
		case b.Rows < 1 || int64(b.Rows) > b.Size || b.Rows > math.MaxInt-x.Len():
			return fmt.Errorf("block %d: %d samples in %d bytes", k, b.Rows, b.Size)
		case !byFormat && len(b.More)+len(b.Meta) > 0:
			return fmt.Errorf("block %d: more ranges of a shard that is not compressed by its format", k)
		case !byFormat && !fits(b, limit):
			return fmt.Errorf("block %d: %d samples, %d bytes that are %d in memory: %w", k, b.Rows, b.Len, b.Size, shardfmt.ErrTooLarge)
		case s.Compression == shardfmt.Gzip || s.Compression == shardfmt.Zstd:
			if most, err := unpackedLimit(b.Len, limit); b.Size > most {
				return fmt.Errorf("block %d: %w", k, err)
			}
		}
		total := b.Len
		for _, r := range b.More {
			if r.Off < 0 || r.Len < 0 || r.Len > s.Object.Size || r.Off > s.Object.Size-r.Len || total > math.MaxInt-r.Len {
				return fmt.Errorf("block %d: %d bytes from byte %d of an object of %d bytes", k, r.Len, r.Off, s.Object.Size)
			}
			total += r.Len
		}
		at = b.Off + b.Len
		x.blocks = append(x.blocks, indexedBlock{*b, len(x.shards) - 1, x.Len() + b.Rows})
	}
	return nil
}

func (x *Index) finish() (err error) {
	if x.layout, err = x.format.Layout(x.schema); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	if _, ok := x.layout.(shardfmt.Unpacker); ok {
		return nil
	}
	for k := range x.shards {
		if x.shards[k].compression == shardfmt.ByFormat {
			return fmt.Errorf("shards: %s: compressed by its format, but %s compresses no blocks", x.shards[k].object.Name, x.format)
		}
	}
	return nil
}

// Schema is the description of the columns, if the format has one. The format knows what it means.
func (x *Index) Schema() []byte { return slices.Clone(x.schema) }

// Len is the number of samples.
func (x *Index) Len() int {
	if len(x.blocks) == 0 {
		return 0
	}
	return x.blocks[len(x.blocks)-1].end
}

// size is how many bytes all blocks take in memory, as far as the index knows.
func (x *Index) size() (n int64) {
	for i := range x.blocks {
		n += min(x.blocks[i].Size, math.MaxInt64-n)
	}
	return n
}

// Ends says where each block ends, in samples.
func (x *Index) Ends() []int {
	ends := make([]int, len(x.blocks))
	for i := range x.blocks {
		ends[i] = x.blocks[i].end
	}
	return ends
}

// Objects are the shards, in the order of their samples.
func (x *Index) Objects() []objects.Object {
	list := make([]objects.Object, len(x.shards))
	for i := range x.shards {
		list[i] = x.shards[i].object
	}
	return list
}

// String says what is in the index: "webdataset: 50000 samples in 147 shards, 18250
// blocks".
func (x *Index) String() string {
	return fmt.Sprintf("%s: %d samples in %d shards, %d blocks", x.format, x.Len(), len(x.shards), len(x.blocks))
}

// objectOf is the object of block b.
func (x *Index) objectOf(b int) *objects.Object { return &x.shards[x.blocks[b].shard].object }

// inShard is the number in its shard of sample i, which is in block b.
func (x *Index) inShard(i, b int) int { return i - x.blocks[x.shards[x.blocks[b].shard].first].first() }

// A saved index is a line with the CRC-32C of what follows it, and that is a savedIndex as JSON.
const indexLine = "penstock shards 2 %08x\n"

type savedIndex struct {
	Format string           `json:"format"` // its name
	Schema []byte           `json:"schema"` // description of the columns
	Shards []shardfmt.Shard `json:"shards"`
}

// WriteTo saves the index, for [ReadIndex].
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	text, err := x.encode()
	if err != nil {
		return 0, fmt.Errorf("shards: write index: %w", err)
	}
	n, err := w.Write(text)
	if err != nil {
		return int64(n), fmt.Errorf("shards: write index: %w", err)
	}
	return int64(n), nil
}

// OpenSaved makes a dataset of the shards that names stand for, with the index in a local file.
// If there is no such file, it scans the shards and saves their index there, as [Scan] does; remove
// the file when the shards change.
func OpenSaved(ctx context.Context, s objects.Store, f Format, names []string, file string, fields []Field, options ...Option) (*Dataset, error) {
	text, err := os.ReadFile(file)
	var index *Index
	switch {
	case err == nil:
		if index, err = ReadIndex(bytes.NewReader(text), f); err != nil {
			return nil, fmt.Errorf("%w: %s", err, file)
		}
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("shards: read index: %w", err)
	default:
		if index, err = Scan(ctx, s, f, names, options...); err == nil {
			err = index.save(file)
		}
		if err != nil {
			return nil, err
		}
	}
	return Open(s, index, fields, options...)
}

// save writes the index to a file.
func (x *Index) save(file string) error {
	err := files.WriteWhole(file, func(w io.Writer) error {
		_, err := x.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("shards: write index: %w", err)
	}
	return nil
}

func (x *Index) encode() ([]byte, error) {
	saved := savedIndex{Format: x.format.String(), Schema: x.schema, Shards: make([]shardfmt.Shard, len(x.shards))}
	for k, s := range x.shards {
		if !utf8.ValidString(s.object.Name + s.object.Version) { // JSON would change it
			return nil, fmt.Errorf("the name %q or the version %q is not UTF-8", s.object.Name, s.object.Version)
		}
		saved.Shards[k] = shardfmt.Shard{Object: s.object, Compression: s.compression, Blocks: []shardfmt.Block{}}
	}
	for _, b := range x.blocks {
		s := &saved.Shards[b.shard]
		s.Blocks = append(s.Blocks, b.Block)
	}
	text, err := json.Marshal(saved)
	return append(fmt.Appendf(nil, indexLine, crc32.Checksum(text, castagnoli())), text...), err
}

// ReadIndex reads an index that [Index.WriteTo] wrote. It is an error if it was made
// for another format.
func ReadIndex(r io.Reader, f Format) (*Index, error) {
	data, err := io.ReadAll(r)
	if err == nil {
		var x *Index
		if x, err = parseIndex(data, f); err == nil {
			return x, x.finish()
		}
	}
	return nil, fmt.Errorf("shards: read index: %w", err)
}

func parseIndex(data []byte, f Format) (*Index, error) {
	line, text, _ := bytes.Cut(data, []byte("\n"))
	if !bytes.HasPrefix(line, []byte(indexLine[:len("penstock shards 2")])) {
		return nil, errors.New("it is not an index of shards of this version: scan them again")
	}
	if want := fmt.Sprintf(indexLine, crc32.Checksum(text, castagnoli())); string(line)+"\n" != want {
		return nil, errors.New("it is damaged or cut short: its CRC-32C is wrong")
	}
	var saved savedIndex
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, err
	}
	if saved.Format != f.String() {
		return nil, fmt.Errorf("it is for %.200q, not for %q", saved.Format, f.String())
	}
	x := &Index{format: f}
	for k := range saved.Shards {
		s := &saved.Shards[k]
		if len(saved.Schema) > 0 {
			s.Schema = saved.Schema
		}
		if err := x.add(s); err != nil {
			return nil, fmt.Errorf("%.200q: %w", s.Object.Name, err)
		}
	}
	return x, nil
}
