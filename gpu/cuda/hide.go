package cuda

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// inaccessible marks a tensor as one that the processor cannot read. gorgonia gives
// it an engine of its own afterwards, which leaves the mark.
type inaccessible struct{ tensor.StdEng }

func (inaccessible) AllocAccessible() bool { return false }

// hide puts values that say so in the place of those that the processor cannot read:
// a tensor's Data would be a slice of the device's memory.
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

// Data panics.
func (v onDevice) Data() any {
	panic(fmt.Sprintf("cuda: the value of node %v is in the device's memory: gorgonia.Read the node before New, which copies it", v.node))
}
