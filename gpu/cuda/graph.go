package cuda

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// longestQueue is how many calls gorgonia.org/cu v0.9.6 queues before it passes them to a
// second goroutine, which then runs them at the same time as the VM's own goroutine. Source:
// workBufLen-1 in its batch.go.
const longestQueue = 63

// callsPerOperation is the number of calls that an elementwise operation queues: a copy of
// the operand, the launch and the wait. Other operations queue fewer.
const callsPerOperation = 3

// checkGraph reports the first node that gorgonia would compute wrongly without an error: an
// operation that is wrong in any graph, one that reads its operands before the queued calls
// have written them, or one at which the queue may be too long. It counts calls in the order
// in which gorgonia runs the graph.
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
			return fmt.Errorf("gorgonia would compute node %v before its operands are complete: add a Flush to each of its operands", n)
		case k.empties:
			queued = 0
		case !k.reads && !k.none:
			queued += callsPerOperation
		}
		if queued > longestQueue {
			return fmt.Errorf("gorgonia would queue more than %d calls at node %v and lose some: add a Flush before it", longestQueue, n)
		}
	}
	return nil
}

// checkKernels reports the first elementwise operation of one operand whose kernel is
// missing. Without an error, gorgonia would compute it on the processor, from memory that
// holds other values or that the processor cannot read. For a missing kernel of two
// operands, gorgonia itself returns an error when it runs.
func checkKernels(g *gorgonia.ExprGraph, has func(name string) bool) error {
	for _, n := range g.AllNodes() {
		if n.Op() == nil || fmt.Sprintf("%T", n.Op()) != "gorgonia.elemUnaryOp" {
			continue
		}
		switch dt := n.Dtype(); {
		case dt != tensor.Float32 && dt != tensor.Float64:
			return fmt.Errorf("gorgonia would compute node %v wrongly: its dtype is %v, and there are kernels only for float32 and float64", n, dt)
		case !has(fmt.Sprintf("elemunaryop.%v_f%d", n.Op(), 8*dt.Size())):
			return fmt.Errorf("gorgonia would compute node %v wrongly: AddKernels has added no kernel %v_f%d", n, n.Op(), 8*dt.Size())
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
	none    bool   // it does not use the queue
	empties bool   // it submits the queued calls before its own work
	reads   bool   // it reads its operands at once, before queued calls have written them
	wrong   string // why its results are wrong in any graph
}

// conducts holds the operations of gorgonia v0.9.18 that are not elementwise, by the name of
// their type, because gorgonia does not export most of these types. Source: operatorLinAlg.go,
// op_math_cuda.go and ops/nn/*_cuda.go.
var conducts = map[string]conduct{
	"gorgonia.linAlgBinOp":  {empties: true},
	"gorgonia.reshapeOp":    {none: true},
	"*nnops.gpuScratchOp":   {none: true},
	"*nnops.maxpool":        {empties: true},
	"*nnops.maxpoolDiff":    {empties: true},
	"*nnops.activation":     {reads: true},
	"*nnops.activationDiff": {empties: true},
	"*nnops.convolution":    {wrong: "adds to the old content of its memory, because it calls cudnnConvolutionForward with beta 1; use gorgonia.Conv2d"},
	"*nnops.BatchNormOp":    {wrong: "does not change its memory, because it calls cudnnBatchNormalizationForward with alpha 0 and beta 1; use gorgonia.BatchNorm"},
	"*nnops.dropout":        {wrong: "keeps its state in memory that Reset frees for other operations; use gorgonia.Dropout"},
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
