package dataset

import (
	"bytes"
	"fmt"
	"io/fs"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An ArrayOption changes what [Npy], [NpyItems] and [IDX] do.
type ArrayOption interface{ array(*arrayConfig) }

type arrayConfig struct {
	limit MemoryLimit
}

func (m MemoryLimit) array(c *arrayConfig) { c.limit = m }

func newArrayConfig(options []ArrayOption) (arrayConfig, error) {
	c := arrayConfig{limit: defaultMemoryLimit}
	for _, option := range options {
		option.array(&c)
	}
	return c, c.limit.check()
}

// An array is one field of all samples, which a file holds in one piece.
type array struct {
	field   Field
	n       int
	codec   codec
	fortran bool // the first index varies fastest
	must    bool // be in memory

	fsys   fs.FS
	file   string // of fsys
	name   string // for errors
	offset int64  // of the first sample in the file
	record int64  // bytes of a sample in the file
	data   []byte // rows as in memory, one after the other; nil if they are read at need
}

// newArray makes an array of that shape, whose first dimension counts the samples.
func newArray(field string, kind kind, shape []int, fortran bool) (array, error) {
	f := Field{Name: field, Dtype: kind.dtype, Shape: tensor.Shape(shape[1:])}
	a := array{field: f, n: shape[0], codec: kind.codec, fortran: fortran && len(shape) > 1}
	if err := (Spec{f}).Validate(); err != nil {
		return a, err
	}
	a.record = a.codec.stored(int64(f.Bytes()))
	if int64(a.n) > (1<<62)/(2*a.record) {
		return a, fmt.Errorf("shape %v is larger than any file", shape)
	}
	return a, nil
}

// attach takes the samples from in, whose header was read: into memory where
// they cannot be read one by one, or where they are small and fit. It takes
// what it holds from the limit.
func (a *array) attach(in *input, limit *MemoryLimit) error {
	if err := in.holds(int64(a.n) * a.record); err != nil {
		return err
	}
	a.offset = in.start + in.offset
	rows := int64(a.n) * int64(a.field.Bytes())
	must := a.must || in.packed || a.fortran
	if !must && (a.record > files.Small || rows > int64(*limit)) {
		return nil
	}
	if rows > int64(*limit) {
		return in.fail("%d bytes of samples to be held in memory%s, MemoryLimit leaves %d", rows, a.why(in), int64(*limit))
	}
	data, err := a.load(in, rows)
	if err == nil {
		err = in.finish()
	}
	if err != nil {
		return err
	}
	a.codec.decode(data)
	a.data = data
	*limit -= MemoryLimit(rows)
	return nil
}

// load reads all samples: what the file holds lies at the end of the bytes that
// rows take in memory.
func (a *array) load(in *input, rows int64) ([]byte, error) {
	stored := a.codec.stored(rows)
	if in.packed {
		raw, err := in.unpack(stored)
		if err != nil || stored == rows && !a.fortran {
			return raw, err
		}
		in = &input{name: in.name, r: bytes.NewReader(raw)}
	}
	data := bulk.Make(int(rows))
	raw := data[rows-stored:]
	if a.fortran {
		return data, fillFromFortran(raw, in, append([]int{a.n}, a.field.Shape...))
	}
	return data, in.fill(raw)
}

func (a *array) why(in *input) string {
	switch {
	case in.packed:
		return " because they are compressed"
	case a.fortran:
		return " because they are in Fortran order"
	}
	return ""
}

// kind is how values of a file's kind lie in memory.
type kind struct {
	dtype tensor.Dtype
	codec codec
	bytes int // of a value in the file
}

// kindOf is the kind of values of dtype in a file of that byte order.
func kindOf(dt tensor.Dtype, big bool) kind {
	k := kind{dtype: dt, bytes: int(dt.Size())}
	k.codec = codec{size: k.bytes, boolean: dt == tensor.Bool}
	if dt == tensor.Complex64 || dt == tensor.Complex128 {
		k.codec.size /= 2
	}
	k.codec.swap = k.codec.size > 1 && big != bigEndian()
	return k
}

// halves is the kind of float16 values, which become float32.
func halves(big bool) kind {
	return kind{tensor.Float32, codec{size: 2, swap: big != bigEndian(), half: true}, 2}
}
