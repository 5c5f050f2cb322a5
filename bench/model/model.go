// Package model has the nets that the benchmarks run on a loader's batches, in gorgonia:
// convolutional nets of several sizes, an MLP-Mixer and a vision transformer. They only infer.
// Their weights are random, which takes the same time as trained weights.
//
// They are small enough for a processor: an image of 64×64 pixels takes from a few million to some
// tens of millions of multiplications.
package model

import (
	"fmt"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu/feed"
)

// Classes is the number of logits that a net computes for an image.
const Classes = 100

// A Kind is one of the nets.
type Kind struct {
	Name        string
	Transformer bool // a transformer or mixer, whose only convolution is that of the patches
	build       func(b *builder, x *gorgonia.Node) *gorgonia.Node
}

// Kinds lists all nets: convolutional nets first, then the others, each group sorted by cost.
func Kinds() []Kind {
	return []Kind{
		{"conv-small", false, plain(8, 16, 32)},
		{"conv-medium", false, plain(16, 32, 64)},
		{"resnet-small", false, residual(2, 16, 32, 64)},
		{"mixer", true, mixer(8, 64, 4)},
		{"vit", true, transformer(8, 64, 4, 4)},
	}
}

// A Net is a Kind for batches of one size, with its VM. One goroutine may use it
// at a time.
type Net struct {
	// Feed runs the net over batches with a field "image" of dtype float32 and shape
	// (3, size, size). It pads short batches.
	Feed *feed.Feed

	vm         gorgonia.VM
	image      *gorgonia.Node
	logits     *gorgonia.Node
	parameters int
}

// New makes a net for batches of so many rows, of images of size×size pixels. The size is a
// multiple of 8, from 16 to 1024. Close frees the net.
func (k Kind) New(rows, size int) (_ *Net, err error) {
	if rows < 1 || size < 16 || size > 1024 || size%8 != 0 {
		return nil, fmt.Errorf("model: %s for %d images of %d×%d: want 1 or more, 16 to 1024 pixels, a multiple of 8", k.Name, rows, size, size)
	}
	defer func() { // gorgonia's constructors and Must panic
		if p := recover(); p != nil {
			err = fmt.Errorf("model: build %s: %v", k.Name, p)
		}
	}()
	b := &builder{g: gorgonia.NewGraph(), r: rand.New(rand.NewPCG(1, 4))}
	image := gorgonia.NewTensor(b.g, tensor.Float32, 4, gorgonia.WithShape(rows, 3, size, size), gorgonia.WithName("image"))
	mask := gorgonia.NewVector(b.g, tensor.Float32, gorgonia.WithShape(rows), gorgonia.WithName("mask"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(rows), tensor.Of(tensor.Float32)))) // that Infer needs none
	n := &Net{image: image}
	n.logits = k.build(b, image)
	n.parameters = b.parameters
	n.vm = gorgonia.NewTapeMachine(b.g)
	if n.Feed, err = feed.New(n.vm, feed.Bind("image", image), feed.Pad(mask)); err != nil {
		n.vm.Close()
		return nil, fmt.Errorf("model: %w", err)
	}
	return n, nil
}

// Infer runs the net over images of shape (rows, 3, size, size) without a loader. They must not
// change until Infer returns.
func (n *Net) Infer(images []float32) error {
	shape := n.image.Shape()
	if len(images) != shape.TotalSize() {
		return fmt.Errorf("model: %d values for images of shape %v", len(images), shape)
	}
	x := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(images))
	if err := gorgonia.Let(n.image, x); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	n.vm.Reset()
	if err := n.vm.RunAll(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// Logits returns the logits of the last batch, row by row, [Classes] for every image. In a loop
// over Feed they are valid in the loop body. After Infer they are valid until the next Infer.
func (n *Net) Logits() []float32 { return n.logits.Value().Data().([]float32) }

// Parameters is the number of the net's parameters.
func (n *Net) Parameters() int { return n.parameters }

// Close frees the VM.
func (n *Net) Close() error { return n.vm.Close() }
