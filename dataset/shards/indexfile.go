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

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

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

// OpenSaved makes a dataset of the shards of that names stand for, with the index in a local file.
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
