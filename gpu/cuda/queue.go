package cuda

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// longestQueue is how many calls gorgonia.org/cu v0.9.6 queues before it gives
// them to a second goroutine, which then works on them beside the VM's
// (workBufLen-1 of its batch.go).
const longestQueue = 63

// callsPerOperation are a copy of the operand, the launch and the wait, of an
// elementwise operation. Others queue fewer.
const callsPerOperation = 3

// checkQueue reports the first node at which a run may have too many calls in the
// queue. It counts in the order in which gorgonia runs a graph.
func checkQueue(g *gorgonia.ExprGraph) error {
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
		switch {
		case !onDevice:
			continue
		case empties(n.Op()):
			queued = 0
		default:
			queued += callsPerOperation
		}
		if queued > longestQueue {
			return fmt.Errorf("gorgonia would queue over %d calls and lose some at node %v: put a Flush before it", longestQueue, n)
		}
	}
	return nil
}

func runsOnDevice(n *gorgonia.Node) bool {
	_, ok := n.Op().(gorgonia.CUDADoer)
	return ok
}

// empties says whether an operation gives the queue to the device before it does
// anything. gorgonia does not export the type of its matrix products.
func empties(op gorgonia.Op) bool {
	if _, ok := op.(flushOp); ok {
		return true
	}
	return fmt.Sprintf("%T", op) == "gorgonia.linAlgBinOp"
}
