// Package pickle reads Python's pickles, protocols 2 to 5, without executing
// anything, for dataset/classic and examples/onnx. It reads lists, tuples, dictionaries, numbers, strings, bytes, NumPy
// arrays and PyTorch tensors. All other names that a pickle imports or calls are
// errors.
//
// The opcodes are those of Python's pickletools. See PEP 307, 3154 and 574.
package pickle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
)

const (
	maxName  = 256      // bytes of an imported name
	atOnce   = 64 << 10 // bytes of a text that is read in one piece
	wordSize = 16       // bytes of a value in a list, a tuple or on the stack
)

// Read reads a pickle of at most size bytes. Its values are nil, bool, int64,
// float64, string, []byte, [Tuple], *[List], *[Dict], *[Array], *[Tensor] and
// *[Storage]. A [bufio.Reader] of 64 KiB or more is read up to the pickle's end and
// not further. The budget grows with every byte that is read.
func Read(r io.Reader, size int64, b *budget.Budget) (any, error) {
	m := &machine{r: bufio.NewReaderSize(r, 64<<10), size: size, Budget: b}
	v, err := m.run()
	if err != nil {
		return nil, fmt.Errorf("pickle: byte %d: %w", m.at, err)
	}
	return v, nil
}

// A machine executes the opcodes of a pickle. Every opcode takes a byte at least, so that the
// bytes bound the steps; what an opcode allocates, copies or converts is taken from the budget.
type machine struct {
	*budget.Budget
	r    *bufio.Reader
	size int64 // limit of the pickle's bytes
	read int64 // bytes read so far
	at   int64 // offset of the current opcode

	stack []any
	marks []int // indices of the marks in stack
	memo  []any // nil where there is no value
}

func (m *machine) run() (any, error) {
	for {
		m.at = m.read
		op, err := m.byte()
		if err != nil {
			return nil, err
		}
		if op == '.' {
			return m.pop()
		}
		if err := m.step(op); err != nil {
			return nil, err
		}
	}
}

// step executes one opcode.
func (m *machine) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		version, err := m.byte()
		if err == nil && (version < 2 || version > 5) {
			err = fmt.Errorf("protocol %d, want 2 to 5", version)
		}
		return err
	case 0x95: // FRAME
		_, err := m.bytes(8)
		return err
	case '(':
		err := m.Memory(wordSize)
		m.marks = append(m.marks, len(m.stack))
		return err
	case 'N':
		return m.push(nil, 0)
	case 0x88, 0x89:
		return m.push(op == 0x88, 0)
	case 'K', 'M', 'J', 0x8a, 'G':
		return m.number(op)
	case 'U', 'T', 'C', 'B', 0x8e, 0x96, 'X', 0x8c, 0x8d:
		return m.text(op)
	case 'q', 'r', 'h', 'j', 0x94:
		return m.remember(op)
	case ')', 0x85, 0x86, 0x87, 't':
		return m.tuple(op)
	case ']':
		return m.push(new(List), 24)
	case '}':
		return m.push(&Dict{}, 24)
	case 'a', 'e':
		return m.append(op)
	case 's', 'u':
		return m.set(op)
	case 'c', 0x93:
		return m.name(op)
	case 'Q':
		return m.storage()
	case 'R':
		return m.call()
	case 'b':
		return m.build()
	}
	if strings.IndexByte(oldOpcodes, op) >= 0 {
		return fmt.Errorf("opcode %q is of protocol 0 or 1, want 2 to 5: pickle.dump(value, file, 2) writes such a file", op)
	}
	return fmt.Errorf("opcode 0x%02x is not supported", op)
}

// oldOpcodes are those that only protocols 0 and 1 have.
const oldOpcodes = "dlpgSVIFLP"

// push pushes a value that takes size bytes of memory, beside its place on the stack.
func (m *machine) push(v any, size int64) error {
	if len(m.stack) == cap(m.stack) {
		size += wordSize * int64(max(len(m.stack), 64))
		if err := m.Memory(size); err != nil {
			return err
		}
		m.stack = slices.Grow(m.stack, max(len(m.stack), 64))
	} else if err := m.Memory(size); err != nil {
		return err
	}
	m.stack = append(m.stack, v)
	return nil
}

var errEmpty = errors.New("nothing on the stack")

func (m *machine) pop() (any, error) {
	values, err := m.popped(1)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// popped pops n values, which are valid until the next push.
func (m *machine) popped(n int) ([]any, error) {
	least := 0
	if len(m.marks) > 0 {
		least = m.marks[len(m.marks)-1]
	}
	at := len(m.stack) - n
	if at < least {
		return nil, errEmpty
	}
	values := m.stack[at:]
	m.stack = m.stack[:at]
	return values, nil
}

// popMarked pops the last mark and the values above it, which are valid until the next push.
func (m *machine) popMarked() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, errors.New("no mark on the stack")
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	values := m.stack[at:]
	m.stack = m.stack[:at]
	return values, nil
}

func (m *machine) byte() (byte, error) {
	b, err := m.r.ReadByte()
	if err == nil {
		m.read++
		m.Budget.Read(1)
	}
	return b, ended(err)
}

// bytes reads n bytes. Memory grows as they are read.
func (m *machine) bytes(n uint64) ([]byte, error) {
	if rest := m.size - m.read; n > uint64(max(rest, 0)) {
		return nil, fmt.Errorf("%d bytes are needed, but only %d are left: %w", n, max(rest, 0), io.ErrUnexpectedEOF)
	}
	var b []byte
	var k int64
	var err error
	if n <= atOnce {
		b = make([]byte, n)
		var read int
		read, err = io.ReadFull(m.r, b)
		k = int64(read)
	} else {
		large := bulk.Growing(int64(n), 0)
		k, err = large.Fill(m.r, int64(n))
		b = large.Bytes()
	}
	m.read += k
	m.Budget.Read(k)
	if errors.Is(err, bulk.ErrShort) {
		err = io.ErrUnexpectedEOF
	}
	return b, ended(err)
}

// unsigned reads a little-endian number of n bytes.
func (m *machine) unsigned(n int) (uint64, error) {
	var word [8]byte
	for k := range n {
		var err error
		if word[k], err = m.byte(); err != nil {
			return 0, err
		}
	}
	return binary.LittleEndian.Uint64(word[:]), nil
}

func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (m *machine) number(op byte) error {
	width, size := 1, int64(8)
	switch op {
	case 'K':
		size = 0 // Go keeps small numbers
	case 'M':
		width = 2
	case 'J':
		width = 4
	case 'G':
		width = 8
	}
	word, err := m.unsigned(width)
	if err != nil {
		return err
	}
	switch op {
	case 'J':
		return m.push(int64(int32(word)), 8)
	case 'G': // the only big-endian number
		return m.push(math.Float64frombits(bits.ReverseBytes64(word)), 8)
	case 0x8a: // LONG1: the word is the number of bytes
		if word > 8 {
			return fmt.Errorf("a number of %d bytes, want at most 8", word)
		}
		v, err := m.unsigned(int(word))
		if err != nil {
			return err
		}
		shift := 64 - 8*word
		return m.push(int64(v<<shift)>>shift, 8)
	}
	return m.push(int64(word), size)
}

// text reads a string or bytes, which follow their length.
func (m *machine) text(op byte) error {
	width := 4
	switch op {
	case 'U', 'C', 0x8c:
		width = 1
	case 0x8e, 0x96, 0x8d:
		width = 8
	}
	n, err := m.unsigned(width)
	if err != nil {
		return err
	}
	b, err := m.bytes(n)
	if err != nil {
		return err
	}
	const header = 24
	if op == 'X' || op == 0x8c || op == 0x8d {
		return m.push(string(b), int64(n)+header)
	}
	return m.push(b, int64(n)+header)
}

// remember copies the top of the stack to the memo, or pushes a value of the memo.
func (m *machine) remember(op byte) (err error) {
	key := uint64(len(m.memo))
	switch op {
	case 'q', 'h':
		key, err = m.unsigned(1)
	case 'r', 'j':
		key, err = m.unsigned(4)
	}
	if err != nil {
		return err
	}
	if op == 'h' || op == 'j' {
		if key >= uint64(len(m.memo)) || m.memo[key] == nil {
			return fmt.Errorf("the memo has no entry %d", key)
		}
		return m.push(m.memo[key], 0)
	}
	v, err := top[any](m)
	if err != nil {
		return err
	}
	// Python counts the values, and each of them takes a byte.
	if key > uint64(m.read) {
		return fmt.Errorf("entry %d of the memo after %d bytes", key, m.read)
	}
	if more := int(key) + 1 - len(m.memo); more > 0 {
		if err := m.Memory(wordSize * int64(more)); err != nil {
			return err
		}
		if int(key) >= cap(m.memo) {
			m.memo = slices.Grow(m.memo, max(more, len(m.memo)))
		}
		m.memo = m.memo[:key+1]
	}
	m.memo[key] = v
	return nil
}
