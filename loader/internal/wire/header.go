package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/penstock-go/penstock/internal/budget"
)

// A Tensor is an entry of a safetensors header.
type Tensor struct {
	Name  string
	Dtype string
	Shape []int
	Bytes int // length of its data
}

// A Header begins a batch: the tensors in the order of their data, and texts.
type Header struct {
	Tensors []Tensor
	Texts   map[string]string
}

// Bytes is the length of all data.
func (h *Header) Bytes() (n int) {
	for _, t := range h.Tensors {
		n += t.Bytes
	}
	return n
}

// entry is a tensor in JSON.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Marshal is the header as it is sent, with its length before it. The data that follows
// begins at a multiple of 8 bytes.
func (h *Header) Marshal() ([]byte, error) {
	text := append(make([]byte, 8), '{')
	add := func(name string, value any) error {
		n, err := json.Marshal(name)
		if err != nil {
			return err
		}
		v, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if len(text) > 9 {
			text = append(text, ',')
		}
		text = append(append(append(text, n...), ':'), v...)
		return nil
	}
	err := add(metadata, h.Texts)
	at := 0
	for _, t := range h.Tensors {
		err = errors.Join(err, add(t.Name, entry{t.Dtype, t.Shape, [2]int{at, at + t.Bytes}}))
		at += t.Bytes
	}
	text = append(text, '}')
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	binary.LittleEndian.PutUint64(text, uint64(len(text)-8))
	return text, err
}

// maxHeader is the largest length of a header. One of a thousand fields has a tenth of it.
const maxHeader = 1 << 20

// ReadHeader reads a header. The data of the tensors lies without gaps, in their order.
func ReadHeader(r io.Reader) (*Header, error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, Unexpected(err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes: want %d at most", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, Unexpected(err)
	}
	return parse(text)
}

// Unexpected is the error of a read in the middle of a batch, where io.EOF is io.ErrUnexpectedEOF.
func Unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func parse(text []byte) (*Header, error) {
	h := &Header{}
	b := budget.For(int64(len(text)))
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the header is not a JSON object")
	}
	at := 0
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		if name == metadata {
			if err := d.Decode(&h.Texts); err != nil {
				return nil, fmt.Errorf("header: metadata: %w", err)
			}
			continue
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("header: tensor %q: %w", name, err)
		}
		if e.Offsets[0] != at || e.Offsets[1] < at || e.Offsets[1] > math.MaxInt/2 {
			return nil, fmt.Errorf("header: tensor %q lies at %v, want it at %d", name, e.Offsets, at)
		}
		t := Tensor{name.(string), e.Dtype, e.Shape, e.Offsets[1] - at}
		if err := b.Memory(decoded + int64(len(t.Name)+len(t.Dtype)+8*len(t.Shape))); err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		h.Tensors = append(h.Tensors, t)
		at = e.Offsets[1]
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return h, nil
}
