package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/budget"
)

// The kinds of messages, as the specification numbers them.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// A message of a stream is 4 bytes that are 0xff, the length of its metadata in 4 bytes, the metadata, and its body.
type message struct {
	meta []byte
	kind byte
	rows int64 // of a record batch
	body int64 // bytes
	size int64 // bytes of all
}

const (
	prefix   = 8
	maxMeta  = 64 << 20
	firstGet = 4 << 10 // bytes that are read at once, in which most metadata is
)

// begins reads the prefix of a message: how many bytes its metadata has, or 0 at the end of the stream.
func begins(data []byte, left int64) (int64, error) {
	n := int64(int32(binary.LittleEndian.Uint32(data[4:])))
	switch {
	case string(data[:6]) == "ARROW1":
		return 0, errors.New("want an Arrow stream: this is a file of Arrow IPC, also known as Feather")
	case binary.LittleEndian.Uint32(data) != 0xffffffff:
		return 0, errors.New("want an Arrow stream: no message begins here")
	case n < 0 || n > left-prefix || n > maxMeta:
		return 0, fmt.Errorf("metadata of %d bytes, and %d bytes are left", n, left-prefix)
	}
	return n, nil
}

// readMessage reads all of a message but its body. It is nil at the end of the stream.
func readMessage(ctx context.Context, s objects.Store, o objects.Object, at int64) (*message, error) {
	left := o.Size - at
	if left < prefix {
		return nil, fmt.Errorf("want a message, and %d bytes are left", left)
	}
	data := make([]byte, min(left, firstGet))
	if err := s.ReadAt(ctx, o, data, at); err != nil {
		return nil, err
	}
	n, err := begins(data, left)
	if n == 0 || err != nil {
		return nil, err
	}
	if have := int64(len(data)); prefix+n > have {
		data = append(data, make([]byte, prefix+n-have)...)
		if err := s.ReadAt(ctx, o, data[have:], at+have); err != nil {
			return nil, err
		}
	}
	return parse(data[prefix:prefix+n], left-prefix-n)
}

// take cuts a message and its body off data.
func take(data *[]byte) (m *message, body []byte, err error) {
	left := int64(len(*data))
	if left < prefix {
		return nil, nil, errors.New("the block ends in a message")
	}
	n, err := begins(*data, left)
	if err != nil {
		return nil, nil, err
	}
	if m, err = parse((*data)[prefix:prefix+n], left-prefix-n); err != nil {
		return nil, nil, err
	}
	body = (*data)[m.size-m.body : m.size : m.size]
	*data = (*data)[m.size:]
	return m, body, nil
}

// A checker goes through metadata before arrow-go does, which trusts it: parts of it may be shared, so that little
// metadata describes very much.
type checker struct {
	budget budget.Budget
	body   int64
}

// parse reads and checks the metadata of a message whose body has at most left bytes.
func parse(meta []byte, left int64) (m *message, err error) {
	defer recovered(&err)
	c := checker{budget: budget.For(int64(len(meta)))}
	t := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	c.body = t.GetInt64Slot(10, 0)
	m = &message{meta: meta, kind: t.GetByteSlot(6, 0), body: c.body}
	header := t.Offset(8)
	if c.body < 0 || header == 0 {
		return nil, fmt.Errorf("damaged metadata: a message of the kind %d with %d bytes", m.kind, c.body)
	}
	if err := c.pairs(t, 12); err != nil {
		return nil, err
	}
	var h flatbuffers.Table
	t.Union(&h, flatbuffers.UOffsetT(header))
	switch m.kind {
	case schemaMessage:
		err = c.schema(h)
	case batchMessage:
		m.rows, err = c.batch(h)
	case dictionaryMessage:
		err = errors.New("dictionaries are not supported")
	default:
		err = fmt.Errorf("a message of the kind %d: want a record batch", m.kind)
	}
	if err == nil && m.body > left {
		err = fmt.Errorf("a message with %d bytes, and %d bytes are left", m.body, left)
	}
	m.size = prefix + int64(len(meta)) + m.body
	return m, err
}

// recovered makes an error of a panic: flatbuffers and arrow-go panic where data is damaged.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("damaged metadata: %v", v)
	}
}

// each calls do for the places of a vector's elements, of so many bytes each.
func each(t flatbuffers.Table, slot flatbuffers.VOffsetT, bytes int, do func(flatbuffers.UOffsetT) error) error {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	at := t.Vector(o)
	for range t.VectorLen(o) {
		if err := do(at); err != nil {
			return err
		}
		at += flatbuffers.UOffsetT(bytes)
	}
	return nil
}

// text counts the bytes of a text.
func (c *checker) text(t flatbuffers.Table, slot flatbuffers.VOffsetT) (n int, err error) {
	if o := t.Offset(slot); o != 0 {
		n = len(t.ByteVector(t.Pos + flatbuffers.UOffsetT(o)))
	}
	return n, c.budget.Memory(int64(n))
}

// pairs counts the keys and values of a table.
func (c *checker) pairs(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	return each(t, slot, 4, func(at flatbuffers.UOffsetT) error {
		pair := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}
		_, err1 := c.text(pair, 4)
		_, err2 := c.text(pair, 6)
		return errors.Join(c.budget.Memory(64), err1, err2)
	})
}

func (c *checker) schema(t flatbuffers.Table) error {
	if t.GetInt16Slot(4, 0) != 0 {
		return errors.New("big-endian numbers are not supported")
	}
	if err := c.pairs(t, 8); err != nil {
		return err
	}
	return each(t, 6, 4, func(at flatbuffers.UOffsetT) error {
		return c.field(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}, 0)
	})
}

// perField is about how many bytes of memory a field takes, beside its texts.
const perField = 256

// unsupported are types for which arrow-go needs more than a record batch, or trusts its numbers, by number.
var unsupported = map[byte]string{14: "unions", 22: "runs", 23: "views", 24: "views", 25: "views of lists", 26: "views of lists"}

// field checks a field and those below it. path is how many bytes the names above it have.
func (c *checker) field(t flatbuffers.Table, path int) error {
	if err := c.budget.Enter(); err != nil {
		return err
	}
	defer c.budget.Leave()
	n, err := c.text(t, 4)
	if err != nil {
		return err
	}
	path += n + 1
	if err := c.budget.Memory(perField + 4*int64(path)); err != nil {
		return err
	}
	kind := t.GetByteSlot(8, 0)
	what := unsupported[kind]
	if t.Offset(12) != 0 {
		what = "dictionaries"
	}
	if what != "" {
		return fmt.Errorf("column %.100q: %s are not supported", t.ByteVector(t.Pos+flatbuffers.UOffsetT(t.Offset(4))), what)
	}
	if o := t.Offset(10); kind == 10 && o != 0 { // timestamps have the name of a zone
		var stamp flatbuffers.Table
		t.Union(&stamp, flatbuffers.UOffsetT(o))
		if _, err := c.text(stamp, 6); err != nil {
			return err
		}
	}
	if err := c.pairs(t, 16); err != nil {
		return err
	}
	return each(t, 14, 4, func(at flatbuffers.UOffsetT) error {
		return c.field(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}, path)
	})
}

// batch checks a record batch, and returns its number of rows.
func (c *checker) batch(t flatbuffers.Table) (rows int64, err error) {
	rows = t.GetInt64Slot(4, 0)
	if rows < 0 || rows/8 > c.body {
		return 0, fmt.Errorf("%d rows in %d bytes", rows, c.body)
	}
	if t.Offset(10) != 0 {
		return 0, errors.New("compressed record batches are not supported")
	}
	pair := func(at flatbuffers.UOffsetT) (a, b int64) { return t.GetInt64(at), t.GetInt64(at + 8) }
	err = each(t, 6, 16, func(at flatbuffers.UOffsetT) error {
		if n, nulls := pair(at); n < 0 || nulls < 0 || nulls > n {
			return fmt.Errorf("damaged metadata: %d nulls among %d values", nulls, n)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return rows, each(t, 8, 16, func(at flatbuffers.UOffsetT) error {
		if off, n := pair(at); off < 0 || n < 0 || off > c.body-n {
			return fmt.Errorf("damaged metadata: %d bytes from byte %d of %d", n, off, c.body)
		}
		return nil
	})
}

// messages are messages in memory, for arrow-go.
type messages []*ipc.Message

func (m *messages) Message() (*ipc.Message, error) {
	if len(*m) == 0 {
		return nil, errors.New("no more messages")
	}
	first := (*m)[0]
	*m = (*m)[1:]
	return first, nil
}

func (m *messages) Retain()  {}
func (m *messages) Release() {}

// newReader makes arrow-go's reader of a schema, and of a record batch if there is one.
func newReader(schema, meta, body []byte) (*ipc.Reader, error) {
	list := messages{ipc.NewMessage(memory.NewBufferBytes(schema), memory.NewBufferBytes(nil))}
	if meta != nil {
		list = append(list, ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)))
	}
	return ipc.NewReaderFromMessageReader(&list)
}
