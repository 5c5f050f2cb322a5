package net

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu/feed"
)

// A Graph is a model in gorgonia for batches of one size, with its VM. One
// goroutine may use it at a time.
type Graph struct {
	// Feed runs batches through the net. They have the field "image", float32
	// (3, size, size). For training they also have "target", float32 (classes): 1
	// for the sample's class, 0 for the others.
	Feed *feed.Feed

	vm      gorgonia.VM
	logits  *gorgonia.Node // log-probabilities (rows, classes)
	loss    *gorgonia.Node // nil if the graph is only for evaluation
	weights gorgonia.Nodes
	read    *readings // nil if values are read from their nodes
}

// readings are copies of values that gorgonia makes during a run. On a device it
// reuses the memory of a node later, and the gradients from BindDualValues are wrong.
type readings struct {
	logits, loss gorgonia.Value
	gradients    []gorgonia.Value
}

// Eval makes a graph that computes the log-probabilities of the classes.
func (m *Model) Eval(on *Backend, rows int) (*Graph, error) { return m.graph(on, rows, false) }

// Train makes a graph that also computes the loss of a batch and the gradients of the
// weights.
func (m *Model) Train(on *Backend, rows int) (*Graph, error) { return m.graph(on, rows, true) }

func (m *Model) graph(on *Backend, rows int, train bool) (_ *Graph, err error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("net: %w", err)
	}
	defer func() { // gorgonia.Must and its constructors panic
		if p := recover(); p != nil {
			err = fmt.Errorf("net: build the graph: %v", p)
		}
	}()
	g := gorgonia.NewGraph()
	image := gorgonia.NewTensor(g, tensor.Float32, 4, gorgonia.WithShape(rows, channels[0], m.Size, m.Size), gorgonia.WithName("image"))
	mask := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(rows), gorgonia.WithName("mask"))
	net := &Graph{}
	for _, w := range m.Weights {
		value := tensor.New(tensor.WithShape(w.Shape...), tensor.WithBacking(w.Values)) // no copy
		net.weights = append(net.weights, gorgonia.NewTensor(g, tensor.Float32, len(w.Shape),
			gorgonia.WithShape(w.Shape...), gorgonia.WithName(w.Name), gorgonia.WithValue(value)))
	}
	net.forward(image)
	if on.onDevice {
		net.read = &readings{gradients: make([]gorgonia.Value, len(net.weights))}
		gorgonia.Read(net.logits, &net.read.logits)
	}
	bind := []feed.Option{feed.Bind("image", image), feed.Pad(mask)}
	if train {
		target := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(rows, len(m.Classes)), gorgonia.WithName("target"))
		bind = append(bind, feed.Bind("target", target))
		if err := net.criterion(target, mask); err != nil {
			return nil, fmt.Errorf("net: differentiate: %w", err)
		}
	}
	if net.vm, err = on.machine(g, net.weights, train); err != nil {
		return nil, err
	}
	if net.Feed, err = feed.New(net.vm, bind...); err != nil {
		net.vm.Close()
		return nil, err
	}
	return net, nil
}

// forward is the net up to the log-probabilities.
func (n *Graph) forward(x *gorgonia.Node) {
	must := gorgonia.Must
	layers := len(channels) - 1
	for i := range layers {
		w, b := n.weights[2*i], n.weights[2*i+1]
		x = must(gorgonia.Conv2d(x, w, tensor.Shape{3, 3}, []int{1, 1}, []int{2, 2}, []int{1, 1}))
		x = must(gorgonia.Rectify(must(gorgonia.BroadcastAdd(x, b, nil, []byte{0, 2, 3}))))
	}
	s := x.Shape()
	x = must(gorgonia.Reshape(x, tensor.Shape{s[0], s[1] * s[2] * s[3]}))
	x = must(gorgonia.Mul(x, n.weights[2*layers]))
	x = must(gorgonia.BroadcastAdd(x, n.weights[2*layers+1], nil, []byte{0}))
	n.logits = must(gorgonia.LogSoftMax(x, 1))
}

// criterion is the mean cross-entropy, in nats, of the rows that are not padding.
func (n *Graph) criterion(target, mask *gorgonia.Node) error {
	must := gorgonia.Must
	right := must(gorgonia.Sum(must(gorgonia.HadamardProd(n.logits, target)), 1))
	sum := must(gorgonia.Sum(must(gorgonia.HadamardProd(right, mask))))
	n.loss = must(gorgonia.Neg(must(gorgonia.Div(sum, must(gorgonia.Sum(mask))))))
	gradients, err := gorgonia.Grad(n.loss, n.weights...)
	if err != nil || n.read == nil {
		return err
	}
	gorgonia.Read(n.loss, &n.read.loss)
	for i, g := range gradients {
		gorgonia.Read(g, &n.read.gradients[i])
	}
	return nil
}

// LogProbabilities are those of the last batch: natural logarithms, (rows, classes) in
// row-major order. They are valid in the loop body. Rows of padding are undefined.
func (n *Graph) LogProbabilities() []float32 {
	if n.read != nil {
		return n.read.logits.Data().([]float32)
	}
	return n.logits.Value().Data().([]float32)
}

// Loss is the last batch's mean cross-entropy in nats.
func (n *Graph) Loss() float32 {
	if n.read != nil {
		return n.read.loss.Data().(float32)
	}
	return n.loss.Value().Data().(float32)
}

// Gradients are those of the weights, in the model's order. The caller must set them
// to 0 after use.
func (n *Graph) Gradients() ([][]float32, error) {
	all := make([][]float32, len(n.weights))
	for i, w := range n.weights {
		if n.read != nil {
			all[i] = n.read.gradients[i].Data().([]float32)
			continue
		}
		g, err := w.Grad()
		if err != nil {
			return nil, fmt.Errorf("net: gradient of %s: %w", w.Name(), err)
		}
		all[i] = g.Data().([]float32)
	}
	return all, nil
}

// Close frees the VM.
func (n *Graph) Close() error { return n.vm.Close() }

// Best is the index of the greatest value, the first of equal ones.
func Best(row []float32) int {
	best := 0
	for i, v := range row {
		if v > row[best] {
			best = i
		}
	}
	return best
}
