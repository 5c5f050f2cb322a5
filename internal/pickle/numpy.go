package pickle

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// An Array is a NumPy array.
type Array struct {
	Type    string // NumPy's name of the dtype: "u1", "i8", "f4"
	Order   byte   // byte order: '<', '>' or '|' for none
	Fortran bool   // the first index varies fastest
	Shape   []int
	Data    []byte
}

// A dtype is the type of an array's values.
type dtype struct {
	name  string
	order byte
}

// A name is an imported name.
type name string

// calls are the names that may be called, in NumPy 1 and 2 and in PyTorch.
var calls = map[name]func(*machine, Tuple) (any, error){
	"numpy.core.multiarray._reconstruct":  reconstruct,
	"numpy._core.multiarray._reconstruct": reconstruct,
	"numpy.core.numeric._frombuffer":      fromBuffer,
	"numpy._core.numeric._frombuffer":     fromBuffer,
	"numpy.dtype":                         newDtype,
	"__builtin__.bytes":                   newBytes,
	"_codecs.encode":                      encode,
	"collections.OrderedDict":             orderedDict,
	"torch._utils._rebuild_tensor_v2":     rebuildTensor,
}

// types are the names that may be imported but not called.
var types = map[name]bool{
	"numpy.ndarray": true, torchStorages + "FloatStorage": true, torchStorages + "LongStorage": true,
}

// name pushes a name. Its two parts are lines, or strings on the stack.
func (m *machine) name(op byte) error {
	var parts [2]string
	for k := range parts {
		if op == 'c' {
			line, err := m.line()
			if err != nil {
				return err
			}
			parts[k] = line
			continue
		}
		v, err := m.pop()
		if err != nil {
			return err
		}
		if parts[1-k], err = textOf(v, m.Budget); err != nil {
			return fmt.Errorf("name: %w", err)
		}
		if len(parts[1-k]) > maxName {
			return fmt.Errorf("a name of more than %d bytes", maxName)
		}
	}
	if err := m.Memory(int64(len(parts[0]) + len(parts[1]))); err != nil {
		return err
	}
	full := name(parts[0] + "." + parts[1])
	if calls[full] == nil && !types[full] {
		return fmt.Errorf("%.100q is refused: a pickle can run any program", string(full))
	}
	return m.push(full, wordSize)
}

func (m *machine) line() (string, error) {
	var line []byte
	for len(line) <= maxName {
		b, err := m.byte()
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return string(line), nil
		}
		line = append(line, b)
	}
	return "", fmt.Errorf("a name of more than %d bytes", maxName)
}

// call calls a name with a tuple of arguments, and pushes the result.
func (m *machine) call() error {
	values, err := m.arguments(true, 2)
	if err != nil {
		return err
	}
	callee, _ := values[0].(name)
	args, ok := values[1].(Tuple)
	if calls[callee] == nil || !ok {
		return fmt.Errorf("call of %s with %s", typeOf(values[0]), typeOf(values[1]))
	}
	v, err := calls[callee](m, args)
	if err != nil {
		return fmt.Errorf("%s: %w", callee, err)
	}
	return m.push(v, 0)
}

var errArguments = errors.New("unexpected arguments")

// reconstruct makes an empty array, which build fills.
func reconstruct(m *machine, _ Tuple) (any, error) { return new(Array), m.Memory(arraySize) }

const arraySize = 112 // bytes of an Array

func newDtype(m *machine, args Tuple) (any, error) {
	if len(args) == 0 {
		return nil, errArguments
	}
	text, err := textOf(args[0], m.Budget)
	if err != nil {
		return nil, err
	}
	return &dtype{text, '|'}, m.Memory(24)
}

// newBytes makes the empty bytes of Python 3 in protocol 2.
func newBytes(m *machine, args Tuple) (any, error) {
	if len(args) != 0 {
		return nil, errArguments
	}
	return []byte{}, m.Memory(24)
}

// encode converts a string with one character per byte to bytes. Python 3 writes bytes
// so in protocol 2.
func encode(m *machine, args Tuple) (any, error) {
	if len(args) != 2 {
		return nil, errArguments
	}
	text, ok := args[0].(string)
	codec, isCodec := args[1].(string)
	if !ok || !isCodec || codec != "latin1" {
		return nil, errArguments
	}
	if err := m.Memory(int64(len(text)) + 24); err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, fmt.Errorf("character %q is not in latin1", r)
		}
		b = append(b, byte(r))
	}
	return b, nil
}

// fromBuffer makes an array. The arguments are bytes, a dtype, a shape and "C" or "F".
func fromBuffer(m *machine, args Tuple) (any, error) {
	if len(args) != 4 {
		return nil, errArguments
	}
	order, ok := args[3].(string)
	if !ok || order != "C" && order != "F" {
		return nil, errArguments
	}
	if err := m.Memory(arraySize); err != nil {
		return nil, err
	}
	a := new(Array)
	return a, m.fill(a, args[2], args[1], order == "F", args[0])
}

// build sets the values of an array, or the byte order of a dtype. The attributes
// of a dictionary are left out.
func (m *machine) build() error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	if _, ok := v.(*Dict); ok {
		_, err := top[*Dict](m)
		return err
	}
	state, ok := v.(Tuple)
	if !ok {
		return fmt.Errorf("state of %s", typeOf(v))
	}
	if a, err := top[*Array](m); err == nil {
		if len(state) != 5 {
			return errors.New("an array of an unknown version of NumPy")
		}
		fortran, _ := state[3].(bool)
		return m.fill(a, state[1], state[2], fortran, state[4])
	}
	d, err := top[*dtype](m)
	if err != nil {
		return err
	}
	if len(state) < 2 {
		return errors.New("a dtype of an unknown version of NumPy")
	}
	order, err := textOf(state[1], m.Budget)
	if err != nil || len(order) != 1 || !strings.Contains("<>|=", order) {
		return errors.New("a dtype without a byte order")
	}
	d.order = order[0]
	return nil
}

// fill sets the fields of an array, and checks that the number of bytes fits the
// shape.
func (m *machine) fill(a *Array, shape, dt any, fortran bool, data any) error {
	d, ok := dt.(*dtype)
	if !ok {
		return fmt.Errorf("%s, want a dtype", typeOf(dt))
	}
	dims, ok := shape.(Tuple)
	bytes, isBytes := data.([]byte)
	if !ok || !isBytes {
		return fmt.Errorf("a shape that is %s and values that are %s, want a tuple and bytes", typeOf(shape), typeOf(data))
	}
	if len(d.name) < 2 {
		return fmt.Errorf("values of type %.20q", d.name)
	}
	size, err := strconv.ParseUint(d.name[1:], 10, 16)
	if err != nil || size == 0 {
		return fmt.Errorf("values of type %.20q", d.name)
	}
	if err := m.Memory(8 * int64(len(dims))); err != nil {
		return err
	}
	want := int64(size)
	sides := make([]int, len(dims))
	for k, v := range dims {
		side, ok := v.(int64)
		if !ok || side < 0 || side > 1<<40 || want > 1<<62/max(side, 1) {
			return fmt.Errorf("a shape of %d numbers: number %d is out of range", len(dims), k)
		}
		sides[k] = int(side)
		want *= side
	}
	if want != int64(len(bytes)) {
		return fmt.Errorf("%d bytes for %.100s values of %d bytes: %w", len(bytes), fmt.Sprint(sides), size, io.ErrUnexpectedEOF)
	}
	*a = Array{Type: d.name, Order: d.order, Fortran: fortran, Shape: sides, Data: bytes}
	return nil
}
