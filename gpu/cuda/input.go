package cuda

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"iter"
	"slices"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader/tensors"
)

// An Input is a node of a graph whose value is a batch that a [gpu.Stage] has uploaded.
// To gorgonia it is an operation without operands, because gorgonia copies the values of
// its own input nodes from host memory in every run.
type Input struct {
	field string
	node  *gorgonia.Node
	op    *inputOp
}

// NewInput adds a node for a field to the graph. dtype is the field's, and shape is (batch
// size, the field's shape…). If [Available] returns an error, NewInput returns it.
func NewInput(g *gorgonia.ExprGraph, field string, dtype tensor.Dtype, shape ...int) (*Input, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if len(shape) == 0 || slices.Min(shape) < 1 {
		return nil, fmt.Errorf("cuda: input %q: shape %v: want one or more dimensions above 0", field, shape)
	}
	op := &inputOp{field: field, dtype: dtype, shape: slices.Clone(shape)}
	node := gorgonia.NewTensor(g, dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(field), gorgonia.WithOp(op))
	return &Input{field: field, node: node, op: op}, nil
}

// Node returns the node, for use in the graph's operations. An operation may overwrite the
// batch in device memory, so run only one VM over a batch, once. The processor cannot read
// the node's value, nor that of an operation that overwrites it: their Data panics. To copy
// such a value, call [gorgonia.Read] on the node before [New].
func (in *Input) Node() *gorgonia.Node { return in.node }

// Set makes a column of a batch the node's value for the next run. The column must have the
// node's shape and dtype. Its memory must not change until [VM.RunAll] has returned.
func (in *Input) Set(c gpu.Column) error {
	if err := in.set(c); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	return nil
}

func (in *Input) set(c gpu.Column) error {
	if tensors.Dtype(c.Dtype) != in.op.dtype || !slices.Equal(c.Shape, []int(in.op.shape)) {
		return fmt.Errorf("input %q: %v of shape %v, want %v of shape %v", in.field, c.Dtype, c.Shape, in.op.dtype, in.op.shape)
	}
	in.op.memory, in.op.bytes = c.Pointer, c.Bytes
	return nil
}

// Run sets the inputs to each batch, runs the VM over it and then yields the batch. In the
// loop body the graph's values are those of the batch. After the loop body Run resets the
// VM.
//
// An error comes in the place of its batch. An error of an input, such as one for a short
// batch, or of the VM ends the loop. Run passes on an error of batches, and goes on if they
// do; a Stage's loop ends with its first error. Only one loop may run at a time. Run panics
// if the stage does not upload the field of an input.
func (v *VM) Run(batches iter.Seq2[*gpu.Batch, error], inputs ...*Input) iter.Seq2[*gpu.Batch, error] {
	return func(yield func(*gpu.Batch, error) bool) {
		if err := v.enter(); err != nil {
			yield(nil, err)
			return
		}
		defer v.leave()
		defer clearAll(inputs)
		v.Reset()
		for b, err := range batches {
			if err != nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			if err := v.step(b, inputs); err != nil {
				v.Reset()
				yield(nil, fmt.Errorf("cuda: batch %d of epoch %d: %w", b.Number(), b.Epoch(), err))
				return
			}
			if !v.body(b, yield) {
				return
			}
		}
	}
}

func (v *VM) enter() error {
	if err := v.made(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy {
		return errors.New("cuda: another loop runs over the VM")
	}
	v.busy = true
	return nil
}

func (v *VM) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy = false
}

// step sets the inputs to a batch and runs the VM.
func (v *VM) step(b *gpu.Batch, inputs []*Input) error {
	for _, in := range inputs {
		if err := in.set(b.Column(in.field)); err != nil {
			return err
		}
	}
	if err := v.execute(); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

func (v *VM) body(b *gpu.Batch, yield func(*gpu.Batch, error) bool) bool {
	defer v.Reset()
	return yield(b, nil)
}

// clearAll takes the batch's memory from all inputs, because the stage may free it.
func clearAll(inputs []*Input) {
	for _, in := range inputs {
		in.op.memory, in.op.bytes = 0, 0
	}
}

// An inputOp is an Input's operation. Its ReturnsPtr and CallsExtern return false, so that
// gorgonia allocates no memory for its result.
type inputOp struct {
	field  string
	dtype  tensor.Dtype
	shape  tensor.Shape
	memory uintptr // on the device
	bytes  int
}

var (
	_ gorgonia.Op       = (*inputOp)(nil)
	_ gorgonia.CUDADoer = (*inputOp)(nil)
)

func (op *inputOp) Arity() int { return 0 }

func (op *inputOp) Type() hm.Type {
	return gorgonia.TensorType{Dims: op.shape.Dims(), Of: op.dtype}
}

func (op *inputOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return op.shape, nil }

// Do is called by VMs without a device, which cannot access the batch.
func (op *inputOp) Do(...gorgonia.Value) (gorgonia.Value, error) {
	return nil, fmt.Errorf("cuda: input %q: the VM does not run on a device: want a VM of cuda.New", op.field)
}

// CUDADo makes a tensor over the batch. It makes a new one for every run, because gorgonia
// reuses tensors after a Reset.
func (op *inputOp) CUDADo(extern gorgonia.External, dev gorgonia.Device, _ gorgonia.Value, _ ...gorgonia.Value) (gorgonia.Value, error) {
	if op.memory == 0 {
		return nil, fmt.Errorf("cuda: input %q has no value: call Set before RunAll", op.field)
	}
	if err := bind(extern, dev); err != nil {
		return nil, err
	}
	return tensor.New(tensor.Of(op.dtype), tensor.WithShape(op.shape.Clone()...),
		tensor.FromMemory(op.memory, uintptr(op.bytes)), tensor.WithEngine(inaccessible{})), nil
}

func (op *inputOp) ReturnsPtr() bool      { return false }
func (op *inputOp) CallsExtern() bool     { return false }
func (op *inputOp) OverwritesInput() int  { return -1 }
func (op *inputOp) WriteHash(h hash.Hash) { fmt.Fprint(h, op) }
func (op *inputOp) Hashcode() uint32      { return hashcode(op) }
func (op *inputOp) String() string {
	return fmt.Sprintf("input %q of %v %v", op.field, op.dtype, op.shape)
}

func hashcode(op gorgonia.Op) uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}
