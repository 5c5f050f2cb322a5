package shards

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/inflate"
)

// window is how many bytes of a shard are requested at once while it is scanned.
const window = 4 << 20

// A zstd frame may refer as far back as maxWindow, and sixteen times its size or leastWindow: what
// its header says is allocated at once. leastWindow is what RFC 8878 asks of decoders (section
// 3.1.1.1.2).
const (
	leastWindow = 8 << 20
	maxWindow   = 128 << 20
)

// castagnoli is the table of CRC-32C, which processors compute in hardware.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// An objectReader reads an object from its beginning to its end.
type objectReader struct {
	ctx    context.Context
	store  objects.Store
	object objects.Object
	at     int64
	memory []byte
	left   []byte // of memory
	sum    uint32 // CRC-32C of the bytes that were requested
}

func (r *objectReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		n := min(window, r.object.Size-r.at)
		if n == 0 {
			return 0, io.EOF
		}
		if r.memory == nil {
			r.memory = make([]byte, n)
		}
		if err := r.store.ReadAt(r.ctx, r.object, r.memory[:n], r.at); err != nil {
			return 0, err
		}
		r.left = r.memory[:n]
		r.at += n
		r.sum = crc32.Update(r.sum, castagnoli(), r.left)
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// A source gives the bytes of a shard in sequence. It knows the checksum of the bytes
// since the block's beginning.
type source struct {
	r    *bufio.Reader
	at   int64  // of the next byte
	size int64  // of all bytes, or -1 if they are compressed
	sum  uint32 // of the bytes of the block, without head; 0 if they are compressed
	head []byte // bytes that were taken since the last mark
}

// take returns the next n bytes, which stay valid until the next mark. It returns
// io.EOF if there are none, and io.ErrUnexpectedEOF if there are fewer.
func (s *source) take(n int) ([]byte, error) {
	begin := len(s.head)
	for n > 0 { // a header alone takes little memory
		at, part := len(s.head), min(n, 4<<10)
		s.head = slices.Grow(s.head, part)[:at+part]
		k, err := io.ReadFull(s.r, s.head[at:])
		s.at += int64(k)
		s.head = s.head[:at+k]
		if err == io.EOF && at > begin {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return s.head[begin:], err
		}
		n -= part
	}
	return s.head[begin:], nil
}

// mark begins a new head.
func (s *source) mark() {
	if s.size >= 0 {
		s.sum = crc32.Update(s.sum, castagnoli(), s.head)
	}
	s.head = s.head[:0]
}

// skip skips n bytes.
func (s *source) skip(n int64) error {
	s.mark()
	if s.size >= 0 && n > s.size-s.at {
		return io.ErrUnexpectedEOF
	}
	for n > 0 {
		b, err := s.r.Peek(int(min(n, int64(max(s.r.Buffered(), 1)))))
		if len(b) == 0 {
			return bulk.Unexpected(err)
		}
		if s.size >= 0 {
			s.sum = crc32.Update(s.sum, castagnoli(), b)
		}
		k, _ := s.r.Discard(len(b)) // they are buffered
		s.at += int64(k)
		n -= int64(k)
	}
	return nil
}

// A cutter divides a shard into blocks.
type cutter struct {
	source
	packed int64 // bytes of the object
	least  int64 // bytes of a block
	begin  int64 // of the block
	rows   int   // in it
	blocks []shardfmt.Block
}

// sample notes that a sample begins where the head begins.
func (c *cutter) sample() {
	at := c.at - int64(len(c.head))
	if c.rows > 0 && at-c.begin >= c.least && c.size >= 0 {
		c.cut(at)
	}
	c.rows++
}

func (c *cutter) cut(at int64) {
	c.blocks = append(c.blocks, shardfmt.Block{Rows: c.rows, Off: c.begin, Len: at - c.begin, Size: at - c.begin, Sum: c.sum, Summed: true})
	c.begin, c.rows, c.sum = at, 0, 0
}

// split reads a shard and lets walk call sample for each of its samples. After walk the
// head is what follows the last sample. compressed says how the shard is compressed,
// from its first bytes. limit is how many bytes of memory a block may take.
func split(ctx context.Context, s objects.Store, name string, size, limit int64, compressed func([]byte) shardfmt.Compression, walk func(*cutter) error) (shardfmt.Shard, error) {
	o, err := s.Stat(ctx, name)
	if err != nil {
		return shardfmt.Shard{}, err
	}
	raw := &objectReader{ctx: ctx, store: s, object: o}
	plain := bufio.NewReaderSize(raw, 64<<10)
	first, err := plain.Peek(min(64, int(min(o.Size, 64))))
	if err != nil {
		return shardfmt.Shard{}, err
	}
	shard := shardfmt.Shard{Object: o, Compression: compressed(first)}
	c := &cutter{packed: o.Size, least: size, source: source{r: plain, size: o.Size}}
	if shard.Compression != shardfmt.Plain {
		unpacked, err := decompressor(shard.Compression, plain, o.Size)
		if err != nil {
			return shardfmt.Shard{}, err
		}
		defer unpacked.Close()
		most, tooLarge := unpackedLimit(o.Size, limit)
		c.r, c.size = bufio.NewReaderSize(&bounded{unpacked, most, tooLarge}, 64<<10), -1
	}
	if err := walk(c); err != nil {
		return shardfmt.Shard{}, fmt.Errorf("byte %d%s: %w", c.at, ofDecompressed(shard.Compression), bulk.Unexpected(err))
	}
	if c.rows > 0 {
		c.cut(c.at - int64(len(c.head)))
	}
	shard.Blocks = c.blocks
	if shard.Compression == shardfmt.Plain || len(c.blocks) == 0 {
		return shard, nil
	}
	// What follows the last sample is in the block too, because the block is the object.
	b := &shard.Blocks[0]
	rest, err := io.Copy(io.Discard, c.r)
	if err == nil {
		_, err = io.Copy(io.Discard, plain)
	}
	if err != nil {
		return shardfmt.Shard{}, err
	}
	b.Off, b.Len, b.Size, b.Sum = 0, o.Size, c.at+rest, raw.sum
	return shard, nil
}

func ofDecompressed(c shardfmt.Compression) string {
	if c == shardfmt.Plain {
		return ""
	}
	return " of the decompressed data"
}

// compressedBy tells from the first bytes how a shard is compressed.
func compressedBy(first []byte) shardfmt.Compression {
	switch {
	case bytes.HasPrefix(first, []byte("\x1f\x8b")):
		return shardfmt.Gzip
	case bytes.HasPrefix(first, []byte("\x28\xb5\x2f\xfd")):
		return shardfmt.Zstd
	}
	return shardfmt.Plain
}

// decompressor reads the compressed bytes of r, which are that many.
func decompressor(c shardfmt.Compression, r io.Reader, packed int64) (io.ReadCloser, error) {
	switch c {
	case shardfmt.Gzip:
		z, err := inflate.NewGzip(bufio.NewReader(r))
		return io.NopCloser(z), err
	case shardfmt.Zstd:
		window := uint64(max(leastWindow, min(maxWindow, budget.Memory*min(packed, maxWindow))))
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, errors.New("compression is not known")
}

// maxNames is how many objects the braces of one name may stand for.
const maxNames = 1 << 20

// expandAll finds the names of the objects that names stand for.
func expandAll(ctx context.Context, s objects.Store, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		list, err := expand(name)
		if err != nil {
			return nil, fmt.Errorf("shards: scan %s: %w", name, err)
		}
		for _, n := range list {
			found, err := match(ctx, s, n)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("shards: scan: no names of shards")
	}
	return all, nil
}

// match lists the objects whose names match a pattern. A name without special
// characters is returned itself.
func match(ctx context.Context, s objects.Store, pattern string) ([]string, error) {
	special := strings.IndexAny(pattern, `*?[\`)
	if special < 0 {
		return []string{pattern}, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("shards: scan %s: %w", pattern, err)
	}
	var names []string
	for o, err := range s.List(ctx, pattern[:special]) {
		if err != nil {
			return nil, fmt.Errorf("shards: scan %s: %w", pattern, err)
		}
		if ok, _ := path.Match(pattern, o.Name); ok {
			names = append(names, o.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("shards: scan %s: no object%s has such a name: %w", pattern, in(s), fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, nil
}

// in names a store, if it has a name.
func in(s objects.Store) string {
	if name := s.Identity(); name != "" {
		return " in " + name
	}
	return ""
}

// expand replaces the first braces of a name, and then those of the results: {000..010}
// by the numbers, as wide as the first, and {a,b} by the texts.
func expand(name string) ([]string, error) {
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}, nil
	}
	inside, after, ok := strings.Cut(rest, "}")
	if !ok || strings.Contains(inside, "{") {
		return nil, errors.New("want a } for every {, and none within another")
	}
	tails, err := expand(after)
	if err != nil {
		return nil, err
	}
	texts, err := inBraces(inside)
	if err != nil {
		return nil, err
	}
	if len(texts) > maxNames/len(tails) {
		return nil, fmt.Errorf("more than %d names", maxNames)
	}
	names := make([]string, 0, len(texts)*len(tails))
	for _, text := range texts {
		for _, tail := range tails {
			names = append(names, before+text+tail)
		}
	}
	return names, nil
}

func inBraces(inside string) ([]string, error) {
	from, to, ok := strings.Cut(inside, "..")
	if !ok {
		return strings.Split(inside, ","), nil
	}
	first, err := strconv.ParseUint(from, 10, 62)
	last, err2 := strconv.ParseUint(to, 10, 62)
	if err != nil || err2 != nil || last < first || last-first >= maxNames {
		return nil, fmt.Errorf("{%s}: want a range of at most %d numbers", inside, maxNames)
	}
	var texts []string
	for n := first; n <= last; n++ {
		texts = append(texts, fmt.Sprintf("%0*d", len(from), n))
	}
	return texts, nil
}

// A FormatOption changes what [WebDataset], [TFRecord] and [MDS] make. The zero FormatOption
// sets nothing.
type FormatOption struct{ set func(*formatConfig) }

// formatConfig is what all formats of this package have.
type formatConfig struct {
	limit int64
}

// MaxBlockBytes sets how many bytes of memory a block may take: after decompression, with 16 bytes for
// each of its samples, and as it is stored. A block that takes more is an error of [Scan] and of
// [ReadIndex]. The default is 1 GiB.
func MaxBlockBytes(bytes int64) FormatOption {
	return FormatOption{func(c *formatConfig) { c.limit = bytes }}
}

const defaultLimit = 1 << 30

func formatOf(options []FormatOption) formatConfig {
	c := formatConfig{limit: defaultLimit}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	return c
}

// check is for the options.
func (c *formatConfig) check() error {
	if c.limit < 1 {
		return fmt.Errorf("shards: MaxBlockBytes(%d): want 1 or more", c.limit)
	}
	return nil
}

func (c *formatConfig) blockLimit() int64 { return min(c.limit, mostBlock) }

// limitOf is how many bytes of memory a block of a format may take.
func limitOf(f Format) int64 {
	if l, ok := f.(interface{ blockLimit() int64 }); ok {
		return l.blockLimit()
	}
	return defaultLimit
}

// mostBlock is how many bytes can be addressed, less by how much more their memory is.
const mostBlock = math.MaxInt - 2*more

// fits reports whether a block takes no more memory than that.
func fits(b *shardfmt.Block, limit int64) bool {
	const place = 16 // bytes of a Row
	return max(b.Len, b.Size) <= limit && int64(b.Rows) <= (limit-b.Size)/place
}

// A shard that is compressed as a whole may have so many bytes after decompression, and so many
// times its own ones beside them. That bounds the time: gzip cannot shrink more than 1032 times,
// but zstd 32,000 times, and then decompresses a gigabyte in half a second. Shards of 100 MB with
// nothing but empty masks, which shrink 5,500 times, are read.
const (
	mostBase  = 64 << 20
	mostRatio = 2048
)

// unpackedLimit is how many bytes a shard of packed bytes may have after decompression, and the
// error of one that has more.
func unpackedLimit(packed, limit int64) (int64, error) {
	if packed >= (limit-mostBase)/mostRatio {
		return limit, shardfmt.ErrTooLarge
	}
	return mostBase + mostRatio*packed, fmt.Errorf("%w: %d bytes that are more than %d times as many after decompression", budget.ErrExceeded, packed, mostRatio)
}

// A bounded reader reads at most left bytes. more is the error if there are more.
type bounded struct {
	r    io.Reader
	left int64
	more error
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)])
	if int64(n) > b.left {
		n, err = int(b.left), b.more
	}
	b.left -= int64(n)
	return n, err
}
