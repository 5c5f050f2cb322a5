package pickle

import (
	"errors"
	"fmt"
	"iter"
	"maps"
)

// A Tuple is a Python tuple.
type Tuple []any

// A List is a Python list.
type List struct{ Items []any }

// A Dict is a Python dictionary with strings as keys. Python 2 writes them as bytes.
type Dict struct{ items map[string]any }

// Get returns the value of the key, or nil.
func (d *Dict) Get(key string) any { return d.items[key] }

// All are the keys and what they stand for, in no order.
func (d *Dict) All() iter.Seq2[string, any] { return maps.All(d.items) }

func (m *machine) tuple(op byte) error {
	if op == 't' {
		values, err := m.popMarked()
		m.push(Tuple(values))
		return err
	}
	n := map[byte]int{')': 0, 0x85: 1, 0x86: 2, 0x87: 3}[op]
	values := make(Tuple, n)
	for k := n - 1; k >= 0; k-- {
		var err error
		if values[k], err = m.pop(); err != nil {
			return err
		}
	}
	m.push(values)
	return nil
}

// append appends one value, or the values above the mark, to the list below them on
// the stack.
func (m *machine) append(op byte) error {
	values, err := m.arguments(op == 'a', 1)
	if err != nil {
		return err
	}
	list, err := top[*List](m)
	if err == nil {
		list.Items = append(list.Items, values...)
	}
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
	if dict.items == nil {
		dict.items = map[string]any{}
	}
	for k := 0; k < len(values); k += 2 {
		key, err := textOf(values[k])
		if err != nil {
			return fmt.Errorf("key of a dictionary: %w", err)
		}
		dict.items[key] = values[k+1]
	}
	return nil
}

// arguments pops n values if counted, and the values above the mark otherwise.
func (m *machine) arguments(counted bool, n int) ([]any, error) {
	if !counted {
		return m.popMarked()
	}
	values := make([]any, n)
	for k := n - 1; k >= 0; k-- {
		var err error
		if values[k], err = m.pop(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// top returns the top of the stack without popping it. It must be a T.
func top[T any](m *machine) (v T, err error) {
	any, err := m.pop()
	if err != nil {
		return v, err
	}
	m.push(any)
	v, ok := any.(T)
	if !ok {
		return v, fmt.Errorf("%s on the stack", typeOf(any))
	}
	return v, nil
}

// textOf returns a string. Python 2 writes strings as bytes.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
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
func Texts(v any) ([]string, error) {
	list, ok := v.(*List)
	if !ok {
		return nil, fmt.Errorf("%s, want a list of strings", typeOf(v))
	}
	texts := make([]string, len(list.Items))
	for k, item := range list.Items {
		var err error
		if texts[k], err = textOf(item); err != nil {
			return nil, fmt.Errorf("item %d is %w", k, err)
		}
	}
	return texts, nil
}

// Integers returns the items of a list of integers.
func Integers(v any) ([]int64, error) {
	list, ok := v.(*List)
	if !ok {
		return nil, fmt.Errorf("%s, want a list of integers", typeOf(v))
	}
	numbers := make([]int64, len(list.Items))
	for k, item := range list.Items {
		if numbers[k], ok = item.(int64); !ok {
			return nil, fmt.Errorf("item %d is %s, want an integer", k, typeOf(item))
		}
	}
	return numbers, nil
}
