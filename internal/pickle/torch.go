package pickle

import (
	"errors"
	"fmt"
	"strings"
)

// A Storage is where PyTorch keeps the values of tensors: outside of the pickle.
type Storage struct {
	Type string // as PyTorch names it: "FloatStorage", "LongStorage"
	Key  string // which one
	Len  int64  // in values
}

// A Tensor is one of PyTorch's. Its shape and strides are as the pickle has them;
// nothing says that the storage is as large.
type Tensor struct {
	Storage *Storage
	Offset  int64 // of the first value, in values
	Shape   []int64
	Strides []int64 // in values
}

const torchStorages = "torch."

// orderedDict makes an empty dictionary.
func orderedDict(m *machine, args Tuple) (any, error) {
	if len(args) != 0 {
		return nil, errors.New("values at once")
	}
	return &Dict{}, m.Memory(24)
}

// storage pushes what a persistent identifier of PyTorch's stands for:
// ("storage", type, key, device, length) and, in old files, None.
func (m *machine) storage() error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	id, ok := v.(Tuple)
	if !ok || len(id) < 5 {
		return fmt.Errorf("persistent identifier of %s", typeOf(v))
	}
	what, err1 := textOf(id[0], m.Budget)
	key, err2 := textOf(id[2], m.Budget)
	kind, isName := id[1].(name)
	length, isLength := id[4].(int64)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("a persistent identifier that is not a storage of PyTorch's: %w", err)
	}
	if what != "storage" || !isName || !isLength || length < 0 || len(id) > 5 && id[5] != nil {
		return errors.New("a persistent identifier that is not a storage of PyTorch's")
	}
	return m.push(&Storage{Type: strings.TrimPrefix(string(kind), torchStorages), Key: key, Len: length}, 48)
}

// rebuildTensor makes a tensor of a storage, an offset, a shape and strides. What
// follows is of training.
func rebuildTensor(m *machine, args Tuple) (any, error) {
	if len(args) < 4 {
		return nil, errors.New("other arguments than PyTorch's")
	}
	s, isStorage := args[0].(*Storage)
	offset, isOffset := args[1].(int64)
	shape, err1 := m.sides(args[2])
	strides, err2 := m.sides(args[3])
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("other arguments than PyTorch's: %w", err)
	}
	if !isStorage || !isOffset || offset < 0 || len(shape) != len(strides) {
		return nil, errors.New("other arguments than PyTorch's")
	}
	return &Tensor{Storage: s, Offset: offset, Shape: shape, Strides: strides}, m.Memory(64)
}

func (m *machine) sides(v any) ([]int64, error) {
	t, ok := v.(Tuple)
	if !ok {
		return nil, fmt.Errorf("%s, want a tuple", typeOf(v))
	}
	if err := m.Memory(8 * int64(len(t))); err != nil {
		return nil, err
	}
	sides := make([]int64, len(t))
	for k, v := range t {
		if sides[k], ok = v.(int64); !ok || sides[k] < 0 {
			return nil, fmt.Errorf("%s, want a side", typeOf(v))
		}
	}
	return sides, nil
}
