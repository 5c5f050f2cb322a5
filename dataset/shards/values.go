package shards

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/npy"
)

// An array is elements in a shard.
type array struct {
	encoding encoding.Encoding
	shape    []int // {-1} for a list, whose length is that of data
	data     []byte
	fortran  bool // the first index is the fastest
}

// count is the number of elements. It is an error if data has another length.
func (a *array) count() (int, error) {
	n := len(a.data) / a.encoding.Size
	want, ok := 1, true
	for _, d := range a.shape {
		if d < 0 {
			want = n
			break
		}
		if d == 0 {
			want = 0
			break
		}
		if ok = ok && want <= len(a.data)/d; ok {
			want *= d
		}
	}
	if !ok || want != n || len(a.data)%a.encoding.Size != 0 {
		return 0, fmt.Errorf("%d bytes of data for shape %v of %v", len(a.data), a.shape, a.encoding.Dtype)
	}
	return n, nil
}

// describe says what the array is, for errors.
func (a *array) describe(n int) string {
	if len(a.shape) == 1 && a.shape[0] < 0 {
		return fmt.Sprintf("%d values", n)
	}
	return fmt.Sprintf("shape %v", a.shape)
}

// numPy is how a file of numpy.save begins.
var numPy = []byte("\x93NUMPY")

func isNumPy(data []byte) bool { return bytes.HasPrefix(data, numPy) }

// An arrayParser reads arrays, for one Reader. It keeps the headers that it has read,
// because the files of a dataset have few different ones.
type arrayParser struct {
	headers map[string]*parsedHeader
	reorder *arrays.Reorder // of the array that was read last
	values  []byte          // memory for values before they are converted
}

type parsedHeader struct {
	npy.Header
	reorder arrays.Reorder // for Fortran order
}

const maxHeaders = 1024 // that a parser keeps

// parse reads a file of numpy.save.
func (p *arrayParser) parse(data []byte) (array, error) {
	n, err := headLength(data)
	if err != nil {
		return array{}, err
	}
	h := p.headers[string(data[:n])]
	if h == nil {
		header, err := npy.ReadHeader(files.NewInput(bytes.NewReader(data), int64(len(data))))
		if err != nil {
			return array{}, err
		}
		h = &parsedHeader{Header: header}
		if h.Fortran {
			h.reorder = arrays.NewReorder(h.Shape)
		}
		if len(p.headers) >= maxHeaders {
			clear(p.headers)
		}
		if p.headers == nil {
			p.headers = make(map[string]*parsedHeader)
		}
		p.headers[string(data[:n])] = h
	}
	p.reorder = &h.reorder
	return array{h.Encoding, h.Shape, data[n:], h.Fortran && len(h.Shape) > 1}, nil
}

// headLength is the length of what precedes the elements of a file of numpy.save.
func headLength(data []byte) (int, error) {
	if len(data) < 12 {
		return 0, io.ErrUnexpectedEOF
	}
	n := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if data[6] > 1 {
		size := binary.LittleEndian.Uint32(data[8:])
		if size > npy.MaxHeader {
			return 0, fmt.Errorf("header of %d bytes", size)
		}
		n = 12 + int(size)
	}
	if n > len(data) {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

// store writes the elements to a cell of that dtype.
func (p *arrayParser) store(to []byte, dtype dataset.Dtype, a array) error {
	same := a.encoding.Dtype == dtype
	values := to
	if !same {
		p.values = grow(p.values, len(a.data)/a.encoding.Size*a.encoding.Dtype.Size())
		values = p.values
	}
	if a.fortran {
		stored := a.encoding.Raw(values)
		p.reorder.Copy(stored, a.data, a.encoding.Size)
	} else {
		copy(a.encoding.Raw(values), a.data)
	}
	a.encoding.Decode(values)
	if same {
		return nil
	}
	return convert(to, dtype, values, a.encoding.Dtype)
}

// grow is memory of n bytes, which is that of b if it is large enough.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return bulk.Make(n)
	}
	return b[:n]
}

// convertible is an error if values of one dtype do not become those of another one.
func convertible(from, to dataset.Dtype) error {
	if from == to || from.IsInteger() && to.IsInteger() || from == dataset.Float32 && to == dataset.Float64 {
		return nil
	}
	return fmt.Errorf("values of %s, want %s", from, to)
}

// convert writes the elements of values, in the machine's byte order, as elements of
// another dtype. They must be convertible.
func convert(to []byte, dtype dataset.Dtype, values []byte, from dataset.Dtype) error {
	size, fromSize := dtype.Size(), int(from.Size())
	for len(values) > 0 {
		if from == dataset.Float32 {
			v := math.Float32frombits(binary.NativeEndian.Uint32(values))
			binary.NativeEndian.PutUint64(to, math.Float64bits(float64(v)))
		} else if err := setInteger(to[:size], dtype, values[:fromSize], from); err != nil {
			return err
		}
		to, values = to[size:], values[fromSize:]
	}
	return nil
}

func isSigned(dt dataset.Dtype) bool {
	switch dt {
	case dataset.Int, dataset.Int8, dataset.Int16, dataset.Int32, dataset.Int64:
		return true
	}
	return false
}

// setInteger converts one integer.
func setInteger(to []byte, dtype dataset.Dtype, value []byte, from dataset.Dtype) error {
	word := loadWord(value)
	if isSigned(from) {
		word = uint64(signed(word, len(value)))
	}
	negative := isSigned(from) && int64(word) < 0
	bits := 8 * len(to)
	fits := !negative && word>>(bits-1) == 0
	switch {
	case isSigned(dtype) && negative:
		fits = int64(word)>>(bits-1) == -1
	case !isSigned(dtype) && !negative:
		fits = bits == 64 || word>>bits == 0
	}
	if !fits {
		if negative {
			return fmt.Errorf("%s cannot hold %d", dtype, int64(word))
		}
		return fmt.Errorf("%s cannot hold %d", dtype, word)
	}
	bulk.Put(to, word)
	return nil
}

// signed is the number in a word of that many bytes.
func signed(word uint64, bytes int) int64 {
	shift := 64 - 8*bytes
	return int64(word<<shift) >> shift
}

func loadWord(p []byte) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(p))
	case 4:
		return uint64(binary.NativeEndian.Uint32(p))
	}
	return binary.NativeEndian.Uint64(p)
}

// setText writes the number that a text says.
func setText(to []byte, dtype dataset.Dtype, text []byte) error {
	text = bytes.TrimSpace(text)
	bits := 8 * len(to)
	var word uint64
	var err error
	switch {
	case dtype == dataset.Bool:
		var v bool
		if v, err = strconv.ParseBool(string(text)); v {
			word = 1
		}
	case dtype == dataset.Float32:
		var v float64
		v, err = strconv.ParseFloat(string(text), 32)
		word = uint64(math.Float32bits(float32(v)))
	case dtype == dataset.Float64:
		var v float64
		v, err = strconv.ParseFloat(string(text), 64)
		word = math.Float64bits(v)
	case isSigned(dtype):
		var v int64
		v, err = strconv.ParseInt(string(text), 10, bits)
		word = uint64(v)
	case dtype.IsInteger():
		word, err = strconv.ParseUint(string(text), 10, bits)
	default:
		return fmt.Errorf("a text, want %s", dtype)
	}
	if err != nil {
		return fmt.Errorf("%.40q is not a number that %s can hold", text, dtype)
	}
	bulk.Put(to, word)
	return nil
}
