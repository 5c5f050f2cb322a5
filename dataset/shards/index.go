package shards

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

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
			return fmt.Errorf("block %d: %d samples, %d bytes that are %d in memory: %w", k, b.Rows, b.Len, b.Size, errTooLarge)
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

// A saved index has this layout. Numbers are unsigned varints of package
// encoding/binary. A text is its length and its bytes.
//
//	"\x89shards\n"            8 bytes
//	1                        version of the layout
//	text                     name of the format
//	text                     description of the columns
//	number                   shards, and for each of them:
//	  text, number, text       name, size in bytes, version
//	  number                   compression
//	  number                   blocks, and for each of them:
//	    number                   samples, twice; plus 1 if there is a checksum
//	    number                   bytes from the end of the previous block, or from the
//	                             beginning if the shard is compressed by its format
//	    number                   bytes
//	    number                   bytes after decompression, if the shard is compressed
//	    4 bytes                  CRC-32C, little-endian, if there is one
//	    if the shard is compressed by its format:
//	      number                 further ranges, and for each of them:
//	        number, number         first byte, bytes
//	      text                   what the format has to know of the block
//	4 bytes                  CRC-32C of all that, little-endian
const (
	indexMagic   = "\x89shards\n"
	indexVersion = 1
)

// WriteTo saves the index, for [ReadIndex].
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(x.encode())
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

// save writes the index to a file, which appears as a whole.
func (x *Index) save(file string) error {
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return fmt.Errorf("shards: write index: %w", err)
	}
	_, err = part.Write(x.encode())
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("shards: write index: %w", errors.Join(err, os.Remove(part.Name())))
	}
	return nil
}

func (x *Index) encode() []byte {
	b := binary.AppendUvarint([]byte(indexMagic), indexVersion)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(n int64) { b = binary.AppendUvarint(b, uint64(n)) }
	text(x.format.String())
	text(string(x.schema))
	number(int64(len(x.shards)))
	for k := range x.shards {
		s := &x.shards[k]
		last := len(x.blocks)
		if k+1 < len(x.shards) {
			last = x.shards[k+1].first
		}
		text(s.object.Name)
		number(s.object.Size)
		text(s.object.Version)
		number(int64(s.compression))
		number(int64(last - s.first))
		at := int64(0)
		for i := s.first; i < last; i++ {
			block := &x.blocks[i].Block
			summed := int64(0)
			if block.Summed {
				summed = 1
			}
			number(int64(block.Rows)<<1 | summed)
			if s.compression == shardfmt.ByFormat {
				at = 0 // blocks may overlap
			}
			number(block.Off - at)
			number(block.Len)
			at = block.Off + block.Len
			if s.compression != shardfmt.Plain {
				number(block.Size)
			}
			if block.Summed {
				b = binary.LittleEndian.AppendUint32(b, block.Sum)
			}
			if s.compression == shardfmt.ByFormat {
				number(int64(len(block.More)))
				for _, r := range block.More {
					number(r.Off)
					number(r.Len)
				}
				text(string(block.Meta))
			}
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
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
	p := &indexParser{data: data}
	if !bytes.HasPrefix(data, []byte(indexMagic)) {
		return nil, errors.New("it is not an index of shards")
	}
	if len(data) < len(indexMagic)+4 {
		return nil, io.ErrUnexpectedEOF
	}
	end := len(data) - 4
	if sum, want := crc32.Checksum(data[:end], castagnoli()), binary.LittleEndian.Uint32(data[end:]); sum != want {
		return nil, fmt.Errorf("it is damaged or cut short: its CRC-32C is %08x, want %08x", sum, want)
	}
	p.data, p.at = data[:end], len(indexMagic)
	if version := p.number(); p.err == nil && version != indexVersion {
		return nil, fmt.Errorf("version %d, want %d", version, indexVersion)
	}
	if name := p.text(); p.err == nil && name != f.String() {
		return nil, fmt.Errorf("it is for %.200q, not for %q", name, f.String())
	}
	x := &Index{format: f}
	schema := []byte(p.text())
	for left := p.number(); left > 0 && p.err == nil; left-- {
		s, err := p.shard()
		if err != nil {
			return nil, err
		}
		if len(schema) > 0 {
			s.Schema = schema
		}
		if err := x.add(&s); err != nil {
			return nil, fmt.Errorf("%.200q: %w", s.Object.Name, err)
		}
	}
	if p.err == nil && p.at < len(p.data) {
		p.fail(errors.New("data after the end"))
	}
	return x, p.err
}

// An indexParser reads the parts of an index. After an error all reads give zero.
type indexParser struct {
	data   []byte
	at     int
	err    error
	blocks []shardfmt.Block // memory, of the last shard
}

func (p *indexParser) fail(err error) {
	if p.err == nil {
		p.err = fmt.Errorf("byte %d: %w", p.at, err)
	}
}

func (p *indexParser) number() int64 {
	if p.err != nil {
		return 0
	}
	n, size := binary.Uvarint(p.data[p.at:])
	if size <= 0 || n > math.MaxInt64 {
		p.fail(errors.New("want a number"))
		return 0
	}
	p.at += size
	return int64(n)
}

func (p *indexParser) bytes(n int64) []byte {
	if p.err == nil && n > int64(len(p.data)-p.at) {
		p.fail(fmt.Errorf("%d bytes: %w", n, io.ErrUnexpectedEOF))
	}
	if p.err != nil {
		return nil
	}
	p.at += int(n)
	return p.data[p.at-int(n) : p.at]
}

func (p *indexParser) text() string { return string(p.bytes(p.number())) }

// shard reads a shard. A block takes at least three bytes, so no number promises more
// of them than there are.
func (p *indexParser) shard() (s shardfmt.Shard, err error) {
	s.Object = objects.Object{Name: p.text(), Size: p.number(), Version: p.text()}
	compression := p.number()
	if compression > int64(shardfmt.ByFormat) {
		p.fail(fmt.Errorf("compression %d", compression))
	}
	s.Compression = shardfmt.Compression(compression)
	at := int64(0)
	s.Blocks = p.blocks[:0]
	for left := p.number(); left > 0 && p.err == nil; left-- {
		if s.Compression == shardfmt.ByFormat {
			at = 0
		}
		rows := p.number()
		b := shardfmt.Block{Rows: int(rows >> 1), Off: p.number(), Len: p.number(), Summed: rows&1 == 1}
		if b.Off > math.MaxInt64-at || b.Len > math.MaxInt64-at-b.Off || int64(b.Rows) != rows>>1 {
			p.fail(errors.New("numbers too large"))
			break
		}
		b.Off += at
		at = b.Off + b.Len
		b.Size = b.Len
		if s.Compression != shardfmt.Plain {
			b.Size = p.number()
		}
		if b.Summed {
			if sum := p.bytes(4); sum != nil {
				b.Sum = binary.LittleEndian.Uint32(sum)
			}
		}
		if s.Compression == shardfmt.ByFormat {
			for more := p.number(); more > 0 && p.err == nil; more-- {
				b.More = append(b.More, shardfmt.Range{Off: p.number(), Len: p.number()})
			}
			b.Meta = bytes.Clone(p.bytes(p.number()))
		}
		s.Blocks = append(s.Blocks, b)
	}
	p.blocks = s.Blocks
	return s, p.err
}
