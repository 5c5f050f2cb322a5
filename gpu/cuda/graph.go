package cuda

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// longestQueue is how many calls gorgonia.org/cu v0.9.6 queues before it gives
// them to a second goroutine, which then works on them at the same time as the VM's
// (workBufLen-1 of its batch.go).
const longestQueue = 63

// callsPerOperation are a copy of the operand, the launch and the wait, of an
// elementwise operation. Others queue fewer.
const callsPerOperation = 3

// checkGraph reports the first node that gorgonia would compute wrongly without an
// error: an operation that is wrong in any graph, one that reads its operands before
// the queue's calls have written them, or one at which the queue may be too long. It
// counts in the order in which gorgonia runs a graph.
func checkGraph(g *gorgonia.ExprGraph) error {
	nodes, err := gorgonia.Sort(g)
	if err != nil {
		return fmt.Errorf("sort the graph: %w", err)
	}
	queued := 0
	copied := map[*gorgonia.Node]bool{} // to the device
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		if n.Op() == nil {
			continue
		}
		onDevice := runsOnDevice(n)
		it := g.From(n.ID())
		for it.Next() {
			from := it.Node().(*gorgonia.Node)
			switch {
			case onDevice && !runsOnDevice(from) && !copied[from]:
				copied[from] = true
				queued++
			case !onDevice && runsOnDevice(from):
				queued = 0 // it is copied to the processor, which empties the queue
			}
		}
		if !onDevice {
			continue
		}
		k := conductOf(n.Op())
		switch {
		case k.wrong != "":
			return fmt.Errorf("gorgonia would compute node %v wrongly: it %s", n, k.wrong)
		case k.reads && queued > 0:
			return fmt.Errorf("gorgonia would compute node %v from values that are not there yet: put a Flush before each of its operands", n)
		case k.empties:
			queued = 0
		case !k.reads && !k.none:
			queued += callsPerOperation
		}
		if queued > longestQueue {
			return fmt.Errorf("gorgonia would queue over %d calls and lose some at node %v: put a Flush before it", longestQueue, n)
		}
	}
	return nil
}

// checkKernels reports the first elementwise operation of one operand whose kernel is
// not there: gorgonia would compute it on the processor, from memory that holds other
// values or that the processor cannot read, without an error. Operations of two
// operands fail when they run.
func checkKernels(g *gorgonia.ExprGraph, has func(name string) bool) error {
	for _, n := range g.AllNodes() {
		if n.Op() == nil || fmt.Sprintf("%T", n.Op()) != "gorgonia.elemUnaryOp" {
			continue
		}
		switch dt := n.Dtype(); {
		case dt != tensor.Float32 && dt != tensor.Float64:
			return fmt.Errorf("gorgonia would compute node %v wrongly: its kernels are of float32 and float64, not of %v", n, dt)
		case !has(fmt.Sprintf("elemunaryop.%v_f%d", n.Op(), 8*dt.Size())):
			return fmt.Errorf("node %v: AddKernels has not added a kernel %v_f%d, and gorgonia would compute it from other memory", n, n.Op(), 8*dt.Size())
		}
	}
	return nil
}

func runsOnDevice(n *gorgonia.Node) bool {
	_, ok := n.Op().(gorgonia.CUDADoer)
	return ok
}

// A conduct is what an operation does with the queue.
type conduct struct {
	none    bool   // nothing
	empties bool   // it gives the queue to the device before it does anything
	reads   bool   // it works at once, whatever is in the queue
	wrong   string // why its results are wrong in any graph
}

// conducts are those of gorgonia v0.9.18's operations, most of whose types it does not
// export, as its files operatorLinAlg.go, op_math_cuda.go and ops/nn/*_cuda.go have
// them. All others are elementwise.
var conducts = map[string]conduct{
	"gorgonia.linAlgBinOp":  {empties: true},
	"gorgonia.reshapeOp":    {none: true},
	"*nnops.gpuScratchOp":   {none: true},
	"*nnops.maxpool":        {empties: true},
	"*nnops.maxpoolDiff":    {empties: true},
	"*nnops.activation":     {reads: true},
	"*nnops.activationDiff": {empties: true},
	"*nnops.convolution":    {wrong: "adds to what its memory held before, for beta is 1 in its cudnnConvolutionForward; gorgonia.Conv2d does not"},
	"*nnops.BatchNormOp":    {wrong: "leaves its memory as it was, for alpha is 0 and beta 1 in its cudnnBatchNormalizationForward; gorgonia.BatchNorm does not"},
	"*nnops.dropout":        {wrong: "keeps its state in memory that Reset gives to others; gorgonia.Dropout does not"},
}

func conductOf(op gorgonia.Op) conduct {
	switch op.(type) {
	case flushOp:
		return conduct{empties: true}
	case *inputOp:
		return conduct{none: true}
	}
	return conducts[fmt.Sprintf("%T", op)]
}
