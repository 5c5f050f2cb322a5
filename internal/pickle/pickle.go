// Package pickle reads Python's pickles, protocols 2 to 5, without executing
// anything. It reads lists, tuples, dictionaries, numbers, strings, bytes, NumPy
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

	"github.com/penstock-go/penstock/internal/bulk"
)

const (
	maxSteps = 1 << 20 // opcodes, because each may take some memory; CIFAR-100 has 200,000
	maxName  = 256     // bytes of an imported name
)

// Read reads a pickle of at most size bytes. Its values are nil, bool, int64,
// float64, string, []byte, [Tuple], *[List], *[Dict], *[Array], *[Tensor] and
// *[Storage]. A [bufio.Reader] of 64 KiB or more is read up to the pickle's end and
// not further.
func Read(r io.Reader, size int64) (any, error) {
	m := &machine{r: bufio.NewReaderSize(r, 64<<10), size: size, memo: map[uint32]any{}}
	v, err := m.run()
	if err != nil {
		return nil, fmt.Errorf("pickle: byte %d: %w", m.at, err)
	}
	return v, nil
}

// A machine executes the opcodes of a pickle.
type machine struct {
	r    *bufio.Reader
	size int64 // limit of the pickle's bytes
	read int64 // bytes read so far
	at   int64 // offset of the current opcode

	stack   []any
	marks   []int // indices of the marks in stack
	memo    map[uint32]any
	encoded int64 // bytes made by encode so far
}

func (m *machine) run() (any, error) {
	for range maxSteps {
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
	return nil, fmt.Errorf("more than %d steps", maxSteps)
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
		m.marks = append(m.marks, len(m.stack))
		return nil
	case 'N':
		m.push(nil)
		return nil
	case 0x88, 0x89:
		m.push(op == 0x88)
		return nil
	case 'K', 'M', 'J', 0x8a, 'G':
		return m.number(op)
	case 'U', 'T', 'C', 'B', 0x8e, 0x96, 'X', 0x8c, 0x8d:
		return m.text(op)
	case 'q', 'r', 'h', 'j', 0x94:
		return m.remember(op)
	case ')', 0x85, 0x86, 0x87, 't':
		return m.tuple(op)
	case ']':
		m.push(new(List))
		return nil
	case '}':
		m.push(&Dict{})
		return nil
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
	return fmt.Errorf("opcode 0x%02x is not supported", op)
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

var errEmpty = errors.New("nothing on the stack")

func (m *machine) pop() (any, error) {
	least := 0
	if len(m.marks) > 0 {
		least = m.marks[len(m.marks)-1]
	}
	if len(m.stack) <= least {
		return nil, errEmpty
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popMarked pops the last mark and the values above it, and returns these.
func (m *machine) popMarked() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, errors.New("no mark on the stack")
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	values := append([]any(nil), m.stack[at:]...)
	m.stack = m.stack[:at]
	return values, nil
}

func (m *machine) byte() (byte, error) {
	b, err := m.r.ReadByte()
	if err == nil {
		m.read++
	}
	return b, ended(err)
}

// bytes reads n bytes. Memory grows as they are read.
func (m *machine) bytes(n uint64) ([]byte, error) {
	if rest := m.size - m.read; n > uint64(max(rest, 0)) {
		return nil, fmt.Errorf("%d bytes are needed, but only %d are left: %w", n, max(rest, 0), io.ErrUnexpectedEOF)
	}
	b := bulk.Growing(int64(n), 0)
	k, err := b.Fill(m.r, int64(n))
	m.read += k
	if errors.Is(err, bulk.ErrShort) {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), ended(err)
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
	width := map[byte]int{'K': 1, 'M': 2, 'J': 4, 0x8a: 1, 'G': 8}[op]
	word, err := m.unsigned(width)
	if err != nil {
		return err
	}
	switch op {
	case 'J':
		m.push(int64(int32(word)))
	case 'G': // the only big-endian number
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], word)
		m.push(math.Float64frombits(binary.BigEndian.Uint64(b[:])))
	case 0x8a: // LONG1: the word is the number of bytes
		if word > 8 {
			return fmt.Errorf("a number of %d bytes, want at most 8", word)
		}
		v, err := m.unsigned(int(word))
		if err != nil {
			return err
		}
		shift := 64 - 8*word
		m.push(int64(v<<shift) >> shift)
	default:
		m.push(int64(word))
	}
	return nil
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
	if op == 'X' || op == 0x8c || op == 0x8d {
		m.push(string(b))
	} else {
		m.push(b)
	}
	return nil
}

// remember copies the top of the stack to the memo, or pushes a value of the memo.
func (m *machine) remember(op byte) error {
	key := uint64(len(m.memo))
	if op != 0x94 {
		var err error
		if key, err = m.unsigned(map[byte]int{'q': 1, 'h': 1, 'r': 4, 'j': 4}[op]); err != nil {
			return err
		}
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[uint32(key)]
		if !ok {
			return fmt.Errorf("the memo has no entry %d", key)
		}
		m.push(v)
		return nil
	}
	v, err := m.pop()
	if err != nil {
		return err
	}
	m.memo[uint32(key)] = v
	m.push(v)
	return nil
}
