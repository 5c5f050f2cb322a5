package pickle

import (
	"errors"
	"fmt"
)

// A Tuple is a tuple.
type Tuple []any

// A List is a list.
type List struct{ Items []any }

// A Dict is a dictionary whose keys are texts or, as Python 2 has them, bytes.
type Dict struct{ items map[string]any }

// Get is what the key stands for, or nil.
func (d *Dict) Get(key string) any { return d.items[key] }

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

// append adds one value, or those above the mark, to the list before them.
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

// set adds one key and its value, or those above the mark, to the dictionary
// before them.
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

// arguments are n values from the stack, or those above the mark.
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

// top is the top of the stack, which stays there.
func top[T any](m *machine) (v T, err error) {
	any, err := m.pop()
	if err != nil {
		return v, err
	}
	m.push(any)
	v, ok := any.(T)
	if !ok {
		return v, fmt.Errorf("%s on the stack", kindOf(any))
	}
	return v, nil
}

// textOf is a text, which Python 2 wrote as bytes.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return "", fmt.Errorf("%s, want a text", kindOf(v))
}

// kindOf says what a value is, for errors.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a bool"
	case int64, float64:
		return "a number"
	case string:
		return "a text"
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
	case name:
		return string(v)
	}
	return "a value"
}

// Texts are the items of a list of texts.
func Texts(v any) ([]string, error) {
	list, ok := v.(*List)
	if !ok {
		return nil, fmt.Errorf("%s, want a list of texts", kindOf(v))
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

// Integers are the items of a list of whole numbers.
func Integers(v any) ([]int64, error) {
	list, ok := v.(*List)
	if !ok {
		return nil, fmt.Errorf("%s, want a list of whole numbers", kindOf(v))
	}
	numbers := make([]int64, len(list.Items))
	for k, item := range list.Items {
		if numbers[k], ok = item.(int64); !ok {
			return nil, fmt.Errorf("item %d is %s, want a whole number", k, kindOf(item))
		}
	}
	return numbers, nil
}
