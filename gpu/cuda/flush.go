package cuda

import (
	"errors"
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Flush returns a node with the value of x, of any shape. When the VM reaches the node, it
// submits all queued calls to the device. gorgonia queues calls and loses some if more than
// 63 are in the queue. An elementwise operation adds three calls. A matrix product empties
// the queue, and so does a copy from the device to the processor.
//
// The gradient of a Flush is a Flush too. If [Available] returns an error, Flush returns x
// itself.
func Flush(x *gorgonia.Node) (*gorgonia.Node, error) {
	if Available() != nil {
		return x, nil
	}
	n, err := gorgonia.ApplyOp(flushOp{}, x)
	if err != nil {
		return nil, fmt.Errorf("cuda: flush: %w", err)
	}
	return n, nil
}

// A flushOp is the identity.
type flushOp struct{}

var (
	_ gorgonia.SDOp     = flushOp{}
	_ gorgonia.CUDADoer = flushOp{}
)

func (flushOp) Arity() int { return 1 }

func (flushOp) Type() hm.Type {
	a := hm.TypeVariable('a')
	return hm.NewFnType(a, a)
}

func (flushOp) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	shape, ok := in[0].(tensor.Shape)
	if !ok {
		return nil, fmt.Errorf("cuda: flush: the operand's shape is %v", in[0])
	}
	return shape.Clone(), nil
}

func (flushOp) Do(x ...gorgonia.Value) (gorgonia.Value, error) { return x[0], nil }

func (flushOp) CUDADo(extern gorgonia.External, dev gorgonia.Device, into gorgonia.Value, x ...gorgonia.Value) (gorgonia.Value, error) {
	if len(x) != 1 || x[0] == nil {
		return nil, errors.New("cuda: flush: want an operand")
	}
	return flush(extern, dev, into, x[0])
}

func (flushOp) DiffWRT(int) []bool { return []bool{true} }

// SymDiff returns the gradient unchanged, after a flush.
func (op flushOp) SymDiff(_ gorgonia.Nodes, _, gradient *gorgonia.Node) (gorgonia.Nodes, error) {
	n, err := gorgonia.ApplyOp(op, gradient)
	return gorgonia.Nodes{n}, err
}

func (flushOp) ReturnsPtr() bool      { return true }
func (flushOp) CallsExtern() bool     { return true }
func (flushOp) OverwritesInput() int  { return 0 }
func (flushOp) WriteHash(h hash.Hash) { fmt.Fprint(h, "flush") }
func (op flushOp) Hashcode() uint32   { return hashcode(op) }
func (flushOp) String() string        { return "flush" }
