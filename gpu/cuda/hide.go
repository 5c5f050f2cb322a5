package cuda

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// inaccessible marks a tensor whose memory the processor cannot read. gorgonia later
// replaces the tensor's engine, but the mark stays.
type inaccessible struct{ tensor.StdEng }

func (inaccessible) AllocAccessible() bool { return false }

// hide replaces the values that the processor cannot read by onDevice values: the Data of
// such a tensor would be a slice of device memory.
func hide(g *gorgonia.ExprGraph) {
	for _, n := range g.AllNodes() {
		if t, ok := n.Value().(*tensor.Dense); ok && !t.IsNativelyAccessible() {
			gorgonia.UnsafeLet(n, onDevice{t, n}) // cannot fail: shape and dtype are the value's own
		}
	}
}

// onDevice is a node's value that only the device can read.
type onDevice struct {
	memory *tensor.Dense
	node   *gorgonia.Node
}

var _ gorgonia.Value = onDevice{}

func (v onDevice) Shape() tensor.Shape { return v.memory.Shape() }
func (v onDevice) Size() int           { return v.memory.Size() }
func (v onDevice) Dtype() tensor.Dtype { return v.memory.Dtype() }
func (v onDevice) Uintptr() uintptr    { return v.memory.Uintptr() }
func (v onDevice) MemSize() uintptr    { return v.memory.MemSize() }
func (v onDevice) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "%v of shape %v on the device", v.Dtype(), v.Shape())
}

// Data panics, because the processor cannot read the value.
func (v onDevice) Data() any {
	panic(fmt.Sprintf("cuda: the value of node %v is in device memory: call gorgonia.Read on the node before New, which copies the value in every run", v.node))
}
