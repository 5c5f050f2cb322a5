package pickle

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
)

// A Tuple is a Python tuple.
type Tuple []any

// A List is a Python list.
type List struct{ Items []any }

// A Dict is a Python dictionary with strings as keys. Python 2 writes them as bytes.
type Dict struct{ items []item }

// item is a key and what it stands for. Of items with the same key the last counts.
type item struct {
	key   string
	value any
}

// Get returns the value of the key, or nil.
func (d *Dict) Get(key string) any {
	for _, item := range slices.Backward(d.items) {
		if item.key == key {
			return item.value
		}
	}
	return nil
}

// All are the keys and what they stand for, in the order of the pickle. A key that was set again
// comes again.
func (d *Dict) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, item := range d.items {
			if !yield(item.key, item.value) {
				return
			}
		}
	}
}

func (m *machine) tuple(op byte) (err error) {
	var values []any
	if op == 't' {
		values, err = m.popMarked()
	} else if op != ')' {
		values, err = m.popped(int(op - 0x84))
	}
	if err != nil {
		return err
	}
	const header = 24
	size := header + wordSize*int64(len(values))
	if err := m.Memory(size); err != nil {
		return err
	}
	return m.push(Tuple(slices.Clone(values)), 0)
}

// append appends one value, or the values above the mark, to the list below them on
// the stack.
func (m *machine) append(op byte) error {
	values, err := m.arguments(op == 'a', 1)
	if err != nil {
		return err
	}
	list, err := top[*List](m)
	if err != nil {
		return err
	}
	list.Items, err = appended(m, list.Items, wordSize, len(values))
	list.Items = append(list.Items, values...)
	return err
}

// set adds one key and its value, or all those above the mark, to the dictionary below
// them on the stack.
func (m *machine) set(op byte) error {
	values, err := m.arguments(op == 's', 2)
	if err != nil {
		return err
	}
	dict, err := top[*Dict](m)
	if err != nil {
		return err
	}
	if len(values)%2 != 0 {
		return errors.New("a key without a value")
	}
	if dict.items, err = appended(m, dict.items, 2*wordSize, len(values)/2); err != nil {
		return err
	}
	for k := 0; k < len(values); k += 2 {
		key, err := textOf(values[k], m.Budget)
		if err != nil {
			return fmt.Errorf("key of a dictionary: %w", err)
		}
		dict.items = append(dict.items, item{key, values[k+1]})
	}
	return nil
}

// appended is a slice with room for n values more, each of size bytes.
func appended[T any](m *machine, s []T, size int64, n int) ([]T, error) {
	if err := m.Memory(size * int64(n)); err != nil {
		return s, err
	}
	if n > cap(s)-len(s) {
		s = slices.Grow(s, max(n, len(s)))
	}
	return s, nil
}

// arguments pops n values if counted, and the values above the mark otherwise. They are valid
// until the next push.
func (m *machine) arguments(counted bool, n int) ([]any, error) {
	if !counted {
		return m.popMarked()
	}
	return m.popped(n)
}

// top returns the top of the stack without popping it. It must be a T.
func top[T any](m *machine) (v T, err error) {
	last, err := m.pop()
	if err != nil {
		return v, err
	}
	m.stack = append(m.stack, last) // where it was
	v, ok := last.(T)
	if !ok {
		return v, fmt.Errorf("%s on the stack", typeOf(last))
	}
	return v, nil
}

// textOf returns a string. Python 2 writes strings as bytes, which are copied.
func textOf(v any, b *budget.Budget) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		if err := b.Memory(int64(len(v))); err != nil {
			return "", err
		}
		return string(v), nil
	}
	return "", fmt.Errorf("%s, want a string", typeOf(v))
}

// typeOf names the type of a value, for errors.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a bool"
	case int64, float64:
		return "a number"
	case string:
		return "a string"
	case []byte:
		return "bytes"
	case Tuple:
		return "a tuple"
	case *List:
		return "a list"
	case *Dict:
		return "a dictionary"
	case *Array:
		return "an array"
	case *dtype:
		return "a dtype"
	case *Tensor:
		return "a tensor"
	case *Storage:
		return "a storage"
	case name:
		return string(v)
	}
	return "a value"
}

// Texts returns the items of a list of strings.
func Texts(v any, b *budget.Budget) ([]string, error) {
	list, ok := v.(*List)
	if !ok {
		return nil, fmt.Errorf("%s, want a list of strings", typeOf(v))
	}
	if err := b.Memory(wordSize * int64(len(list.Items))); err != nil {
		return nil, err
	}
	texts := make([]string, len(list.Items))
	for k, item := range list.Items {
		var err error
		if texts[k], err = textOf(item, b); err != nil {
			return nil, fmt.Errorf("item %d: %w", k, err)
		}
	}
	return texts, nil
}

// Integers returns the items of a list of integers, or of an array of them that has one axis.
func Integers(v any, b *budget.Budget) ([]int64, error) {
	var numbers []int64
	switch v := v.(type) {
	case *List:
		if err := b.Memory(8 * int64(len(v.Items))); err != nil {
			return nil, err
		}
		numbers = make([]int64, len(v.Items))
		for k, item := range v.Items {
			var ok bool
			if numbers[k], ok = item.(int64); !ok {
				return nil, fmt.Errorf("item %d is %s, want an integer", k, typeOf(item))
			}
		}
	case *Array:
		if len(v.Shape) != 1 || !strings.Contains("i1 i2 i4 i8 u1 u2 u4", v.Type) {
			return nil, fmt.Errorf("an array of %s %.100s, want integers on one axis", v.Type, fmt.Sprint(v.Shape))
		}
		if err := b.Memory(8 * int64(v.Shape[0])); err != nil {
			return nil, err
		}
		numbers = make([]int64, v.Shape[0])
		size := len(v.Data) / max(len(numbers), 1)
		for k := range numbers {
			numbers[k] = integer(v.Data[k*size:][:size], v.Order == '>', v.Type[0] == 'i')
		}
	default:
		return nil, fmt.Errorf("%s, want a list of integers", typeOf(v))
	}
	return numbers, nil
}

// integer is the number of 1 to 8 bytes.
func integer(b []byte, big, signed bool) int64 {
	var word uint64
	for k := range b {
		at := k // from the highest byte on
		if !big {
			at = len(b) - 1 - k
		}
		word = word<<8 | uint64(b[at])
	}
	if shift := 64 - 8*len(b); signed {
		return int64(word<<shift) >> shift
	}
	return int64(word)
}
