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
)

// An Input is a node whose values a [gpu.Stage] has brought to the device. It is
// no input node of gorgonia's, which are always copied from the host's memory, but
// an operation without operands.
type Input struct {
	field string
	node  *gorgonia.Node
	op    *inputOp
}

// NewInput adds a node for a field to the graph, of shape (batch size, the field's
// shape…). It fails with [gpu.ErrNoDevice] where [Available] does.
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

// Node is where the values enter the graph. An operation over it may change the
// batch on the device: one loop body, one VM. The processor cannot read the values,
// nor those of an operation that writes its result over them: [gorgonia.Read] copies
// them. Their Data panics.
func (in *Input) Node() *gorgonia.Node { return in.node }

// Set makes a column of a batch the next run's values. It must have the node's
// shape and dtype and stay as it is until [VM.RunAll] has returned.
func (in *Input) Set(c gpu.Column) error {
	if err := in.set(c); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	return nil
}

func (in *Input) set(c gpu.Column) error {
	if c.Dtype != in.op.dtype || !c.Shape.Eq(in.op.shape) {
		return fmt.Errorf("input %q: %v of shape %v, want %v of shape %v", in.field, c.Dtype, c.Shape, in.op.dtype, in.op.shape)
	}
	in.op.memory, in.op.bytes = c.Pointer, c.Bytes
	return nil
}

// Run loops over the batches that the VM has run over, each in the inputs whose
// fields it has. In the loop body the graph's values are those of the batch; after
// it the VM is reset. Errors come in the place of their batch. One of an input,
// which refuses a short batch, or of the VM ends the loop. One loop at a time may
// run. It panics if the stage does not upload an input's field.
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
		return errors.New("cuda: a loop runs over the VM already")
	}
	v.busy = true
	return nil
}

func (v *VM) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy = false
}

// step runs the VM over a batch.
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

// clearAll leaves no input over memory that the stage may free.
func clearAll(inputs []*Input) {
	for _, in := range inputs {
		in.op.memory, in.op.bytes = 0, 0
	}
}

// An inputOp is an Input's operation. That it says it returns no pointer
// and calls nothing keeps gorgonia from setting memory apart for it.
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

// Do is for VMs without a device, which have no way to the values.
func (op *inputOp) Do(...gorgonia.Value) (gorgonia.Value, error) {
	return nil, fmt.Errorf("cuda: input %q: the VM is not on a device: make it by cuda.New", op.field)
}

// CUDADo makes a tensor over the batch, a new one for every run: gorgonia uses
// tensors again after a Reset.
func (op *inputOp) CUDADo(extern gorgonia.External, dev gorgonia.Device, _ gorgonia.Value, _ ...gorgonia.Value) (gorgonia.Value, error) {
	if op.memory == 0 {
		return nil, fmt.Errorf("cuda: input %q has no values: call Set", op.field)
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
