package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/encoding"
)

// A block is a file of consecutive records:
//
//	magic    "penstock stream, block 2\n"
//	records  one after the other, see codec
//	table    for every record its end among the bytes of all, and its CRC-32C
//	mark     of the source, after the last record
//	trailer  the number of the first record (uint64), the number of records, the bytes of
//	         all records, the bytes of the mark, and the CRC-32C (RFC 3720) of the table,
//	         the mark and these numbers
//
// All numbers are little-endian, and uint32 except one.
type block struct {
	first int   // number of the first record in the stream
	count int   // number of records
	size  int64 // of the file
}

func (b block) end() int { return b.first + b.count }

const (
	magic        = "penstock stream, block 2\n"
	entryBytes   = 8
	trailerBytes = 8 + 4*4
	maxMark      = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A draft is a block that is not sealed yet.
type draft struct {
	first         int
	count         int
	before, after []byte // marks
	records       []byte // with the magic before them
	table         []byte
}

// begin makes the draft empty. Its first record will have that number and come after
// that mark.
func (d *draft) begin(first int, mark []byte) {
	if cap(d.records) > 2*len(d.records)+len(magic) && cap(d.records) > 64<<20 {
		d.records = nil // a large record needed it
	}
	*d = draft{first: first, before: append(d.before[:0], mark...), after: append(d.after[:0], mark...),
		records: append(d.records[:0], magic...), table: d.table[:0]}
}

// payload is the number of bytes of all records.
func (d *draft) payload() int { return len(d.records) - len(magic) }

func (d *draft) end() int { return d.first + d.count }

// added notes that records has one more record, from byte start on, with that mark after it.
func (d *draft) added(start int, mark []byte) {
	d.table = binary.LittleEndian.AppendUint32(d.table, uint32(d.payload()))
	d.table = binary.LittleEndian.AppendUint32(d.table, crc32.Checksum(d.records[start:], castagnoli))
	d.after = append(d.after[:0], mark...)
	d.count++
}

// size is the number of bytes of the file.
func (d *draft) size() int64 {
	return int64(len(d.records)) + int64(len(d.table)) + int64(len(d.after)) + trailerBytes
}

// tail is all that follows the records.
func (d *draft) tail() []byte {
	tail := make([]byte, 0, int(d.size())-len(d.records))
	tail = append(append(tail, d.table...), d.after...)
	tail = binary.LittleEndian.AppendUint64(tail, uint64(d.first))
	for _, n := range []int{d.count, d.payload(), len(d.after)} {
		tail = binary.LittleEndian.AppendUint32(tail, uint32(n))
	}
	return binary.LittleEndian.AppendUint32(tail, crc32.Checksum(tail, castagnoli))
}

// contents is what a block has besides the records.
type contents struct {
	block
	table []byte
	after []byte // mark
}

var errDamaged = errors.New("the block is damaged")

// readContents reads a block's table and mark, and compares their checksum. It allocates
// no more memory than the file has bytes.
func readContents(f *os.File) (c contents, err error) {
	info, err := f.Stat()
	if err != nil {
		return c, err
	}
	c.size = info.Size()
	var trailer [trailerBytes]byte
	if c.size < int64(len(magic))+trailerBytes || c.size > math.MaxInt {
		return c, fmt.Errorf("%w: %d bytes", errDamaged, c.size)
	}
	if _, err := f.ReadAt(trailer[:], c.size-trailerBytes); err != nil {
		return c, whole(err)
	}
	first := binary.LittleEndian.Uint64(trailer[:])
	number := func(k int) int64 { return int64(binary.LittleEndian.Uint32(trailer[8+4*k:])) }
	count, payload, after := number(0), number(1), number(2)
	if int64(len(magic))+payload+entryBytes*count+after+trailerBytes != c.size ||
		count == 0 || first > math.MaxInt || uint64(count) > math.MaxInt-first {
		return c, fmt.Errorf("%w: its numbers contradict each other", errDamaged)
	}
	tail := make([]byte, entryBytes*count+after)
	if _, err := f.ReadAt(tail, c.size-trailerBytes-int64(len(tail))); err != nil {
		return c, whole(err)
	}
	sum := crc32.Update(crc32.Checksum(tail, castagnoli), castagnoli, trailer[:trailerBytes-4])
	if sum != binary.LittleEndian.Uint32(trailer[trailerBytes-4:]) {
		return c, fmt.Errorf("%w: the checksum is wrong", errDamaged)
	}
	c.first, c.count = int(first), int(count)
	c.table, c.after = tail[:entryBytes*count:entryBytes*count], tail[entryBytes*count:]
	return c, c.checkTable(payload)
}

// checkTable reports an error if the records do not lie one after the other.
func (c contents) checkTable(payload int64) error {
	last := int64(0)
	for k := range c.count {
		_, end, _ := c.entry(k)
		if end < last {
			return fmt.Errorf("%w: record %d ends before it begins", errDamaged, k)
		}
		last = end
	}
	if last != payload {
		return fmt.Errorf("%w: %d bytes of records, want %d", errDamaged, last, payload)
	}
	return nil
}

// entry is the bytes of record k of the block among all, and its checksum.
func (c contents) entry(k int) (start, end int64, sum uint32) {
	if k > 0 {
		start = int64(binary.LittleEndian.Uint32(c.table[(k-1)*entryBytes:]))
	}
	return start, int64(binary.LittleEndian.Uint32(c.table[k*entryBytes:])), binary.LittleEndian.Uint32(c.table[k*entryBytes+4:])
}

// read reads record k of the block into scratch, which grows if need be.
func (c contents) read(f io.ReaderAt, k int, scratch []byte) ([]byte, error) {
	start, end, sum := c.entry(k)
	if n := int(end - start); n > cap(scratch) {
		scratch = make([]byte, n+n/4)
	}
	scratch = scratch[:end-start]
	if _, err := f.ReadAt(scratch, int64(len(magic))+start); err != nil {
		return scratch, whole(err)
	}
	if crc32.Checksum(scratch, castagnoli) != sum {
		return scratch, fmt.Errorf("%w: the record's checksum is wrong", errDamaged)
	}
	return scratch, nil
}

// whole is the error of a file that is too short, or another one.
func whole(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it ends early", errDamaged)
	}
	return err
}

// A codec turns a record into bytes: the values of all fields, in little-endian order. A
// ragged field has its number of bytes before them, as uint32.
type codec struct {
	spec   dataset.Spec
	values []encoding.Encoding
}

func newCodec(spec dataset.Spec) codec {
	c := codec{spec: spec}
	for _, f := range spec {
		c.values = append(c.values, encoding.Of(f.Dtype, false))
	}
	return c
}

// clear makes the fields zeros, or empty if they are ragged.
func (c codec) clear(slot dataset.Slot) {
	for k := range c.spec {
		if cell := slot.Cell(k); cell.Ragged() {
			cell.Grow(0)
		} else {
			clear(cell.Bytes())
		}
	}
}

// size is the number of bytes of a record.
func (c codec) size(slot dataset.Slot) (n int64) {
	for k := range c.spec {
		cell := slot.Cell(k)
		n += int64(len(cell.Bytes()))
		if cell.Ragged() {
			n += lengthBytes
		}
	}
	return n
}

const lengthBytes = 4

// append appends a record, of at most 1 GiB, to dst.
func (c codec) append(dst []byte, slot dataset.Slot) []byte {
	for k := range c.spec {
		cell := slot.Cell(k)
		if cell.Ragged() {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(cell.Bytes())))
		}
		start := len(dst)
		dst = append(dst, cell.Bytes()...)
		c.values[k].Encode(dst[start:])
	}
	return dst
}

// place writes a record into a slot.
func (c codec) place(record []byte, slot dataset.Slot) error {
	for k, f := range c.spec {
		cell := slot.Cell(k)
		n := len(cell.Bytes())
		if cell.Ragged() {
			if len(record) < lengthBytes {
				return fmt.Errorf("field %q: the record ends early", f.Name)
			}
			length := binary.LittleEndian.Uint32(record)
			record = record[lengthBytes:]
			if uint64(length) > uint64(len(record)) || int(length)%f.Bytes() != 0 {
				return fmt.Errorf("field %q: %d bytes, and %d remain of the record", f.Name, length, len(record))
			}
			n = int(length)
			cell.Grow(n)
		}
		if n > len(record) {
			return fmt.Errorf("field %q: the record ends early", f.Name)
		}
		values := cell.Bytes()
		copy(values, record[:n])
		c.values[k].Decode(values)
		record = record[n:]
	}
	if len(record) > 0 {
		return fmt.Errorf("%d bytes after the last field", len(record))
	}
	return nil
}

// oversized reports an error if a record has too many bytes.
func (c codec) oversized(slot dataset.Slot, most int) error {
	if n := c.size(slot); n > int64(most) || n > math.MaxInt32 {
		return fmt.Errorf("%d bytes, more than MaxRecordBytes(%d)", n, most)
	}
	return nil
}

// mostHandles is how many blocks are open at most. With blocks of 4 MiB it is a window of 1 GiB.
const mostHandles = 256

// handles are the blocks that are open for reading.
type handles struct {
	folder *folder

	mu     sync.Mutex
	open   map[int]*handle // by the number of the first record
	closed bool
}

// A handle is an open block. Who reads it holds its lock for reading.
type handle struct {
	sync.RWMutex
	contents
	file *os.File
}

// use returns a handle of the block with that first record, and opens the block if need
// be. RUnlock must be called after it.
func (h *handles) use(first int) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, os.ErrClosed
	}
	one := h.open[first]
	if one == nil {
		c, file, err := h.folder.contents(first)
		if err != nil {
			return nil, err
		}
		if h.open == nil {
			h.open = make(map[int]*handle)
		}
		for other := range h.open { // any
			if len(h.open) < mostHandles {
				break
			}
			_ = h.remove(other) // it was only read
		}
		one = &handle{contents: c, file: file}
		h.open[first] = one
	}
	one.RLock()
	return one, nil
}

// remove closes a block, after its last use. The caller holds the mutex.
func (h *handles) remove(first int) error {
	one := h.open[first]
	if one == nil {
		return nil
	}
	delete(h.open, first)
	one.Lock()
	defer one.Unlock()
	return one.file.Close()
}

// drop closes the block with that first record, if it is open.
func (h *handles) drop(first int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.remove(first)
}

// close closes all blocks.
func (h *handles) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for first := range h.open {
		errs = append(errs, h.remove(first))
	}
	return errors.Join(errs...)
}
