package csv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// A Column says how a field of the samples is made of columns. [Scalar],
// [Vector], [Category] and [Text] make one.
type Column struct {
	name    string
	columns []string
	kind    fieldKind
	dtype   dataset.Dtype
	classes []string // of a category, if given
	err     error    // found when the field was made
}

type fieldKind uint8

const (
	scalarField fieldKind = iota
	vectorField
	categoryField
	textField
)

// Scalar makes a field of one column: a number or bool of type T.
//
// Floats are read as Go, C and Python write them, including NaN and Inf.
// Integers are decimal. They may end in ".0", which pandas writes where a
// column has missing values. Bools are 1, t, true, 0, f or false, in lower or
// upper case or capitalised. Spaces around a value are ignored. A value that T
// cannot hold is an error. Complex types, [dataset.F16] and [dataset.BF16] are an error.
func Scalar[T dataset.Element](field, column string) Column {
	return numbers[T](scalarField, field, []string{column})
}

// Vector makes a field of several columns, of shape (len(columns)): the
// features of tabular data. Values are read as [Scalar] reads them.
func Vector[T dataset.Element](field string, columns ...string) Column {
	return numbers[T](vectorField, field, columns)
}

func numbers[T dataset.Element](kind fieldKind, field string, columns []string) Column {
	dtype, err := dataset.DtypeOf[T](), error(nil)
	switch dtype {
	case dataset.Complex64, dataset.Complex128, dataset.Float16, dataset.BFloat16:
		err = fmt.Errorf("values of %s: want bool, an integer, float32 or float64", dtype)
	}
	return Column{name: field, columns: columns, kind: kind, dtype: dtype, err: err}
}

// Category makes an int64 field of one column of text. The value is the index
// of the text in classes; any other text is an error. Without classes, the
// classes are the texts found in the column, sorted; [Table.Classes] returns
// them.
func Category(field, column string, classes ...string) Column {
	return Column{name: field, columns: []string{column}, kind: categoryField, dtype: dataset.Int64, classes: classes}
}

// Text makes a ragged uint8 field of one column. It holds the bytes of the text
// as they are in the file, usually UTF-8.
func Text(field, column string) Column {
	return Column{name: field, columns: []string{column}, kind: textField, dtype: dataset.Uint8}
}

func (f Column) spec() dataset.Field {
	s := dataset.Field{Name: f.name, Dtype: f.dtype, Ragged: f.kind == textField}
	if f.kind == vectorField {
		s.Shape = dataset.Shape{len(f.columns)}
	}
	return s
}

// check reports what is wrong with the field before any file is read.
func (f Column) check() error {
	err := f.err
	seen := map[string]bool{}
	for _, c := range f.classes {
		if seen[c] {
			err = fmt.Errorf("class %q twice", c)
		}
		seen[c] = true
	}
	if len(f.columns) == 0 {
		err = errors.New("no columns")
	}
	if err != nil {
		return fmt.Errorf("csv: field %q: %w", f.name, err)
	}
	return nil
}

// appendValue appends the value that text says, in the machine's byte order.
func appendValue(to []byte, dtype dataset.Dtype, text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	size := dtype.Size()
	var word uint64
	var err error
	switch dtype {
	case dataset.Float32, dataset.Float64:
		var v float64
		v, err = strconv.ParseFloat(text, 8*size)
		if len(text) == 4 && strings.EqualFold(text[1:], "nan") && (text[0] == '-' || text[0] == '+') {
			v, err = math.NaN(), nil // as C prints one whose sign bit is set
		}
		return appendFloat(to, size, v), numberError(text, dtype, err)
	case dataset.Bool:
		// pandas writes columns of 0 and 1 that have gaps as 0.0 and 1.0.
		if digit := whole(text); digit == "0" || digit == "1" {
			text = digit
		}
		var v bool
		if v, err = strconv.ParseBool(text); v {
			word = 1
		}
	case dataset.Uint, dataset.Uint8, dataset.Uint16, dataset.Uint32, dataset.Uint64:
		word, err = strconv.ParseUint(whole(text), 10, 8*size)
	default:
		var v int64
		v, err = strconv.ParseInt(whole(text), 10, 8*size)
		word = uint64(v)
	}
	return appendWord(to, size, word), numberError(text, dtype, err)
}

// whole cuts off a decimal point that only zeros follow.
func whole(text string) string {
	number, zeros, _ := strings.Cut(text, ".")
	if strings.Trim(zeros, "0") != "" {
		return text
	}
	return number
}

func numberError(text string, dtype dataset.Dtype, err error) error {
	if err == nil {
		return nil
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		err = number.Err
	}
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Errorf("%q as %v: %w", text, dtype, err)
}

func appendFloat(to []byte, size int, v float64) []byte {
	if size == 4 {
		return appendWord(to, 4, uint64(math.Float32bits(float32(v))))
	}
	return appendWord(to, 8, math.Float64bits(v))
}

func appendWord(to []byte, size int, v uint64) []byte {
	switch size {
	case 1:
		return append(to, byte(v))
	case 2:
		return binary.NativeEndian.AppendUint16(to, uint16(v))
	case 4:
		return binary.NativeEndian.AppendUint32(to, uint32(v))
	}
	return binary.NativeEndian.AppendUint64(to, v)
}
