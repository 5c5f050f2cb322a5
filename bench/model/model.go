// Package model has the nets that the benchmarks run on a loader's batches, in gorgonia:
// convolutional nets of several sizes, an MLP-Mixer and a vision transformer. They only infer.
// Their weights are random, which takes the same time as trained weights.
//
// They are small enough for a processor: an image of 64×64 pixels takes from a few million to some
// tens of millions of multiplications.
package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu/cuda"
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

// A Net is a Kind for batches of one size, with its VM. One goroutine may use it at a time.
type Net struct {
	vm         gorgonia.VM
	image      *gorgonia.Node
	logits     *gorgonia.Node
	padded     []float32 // for short batches
	parameters int
}

// New makes the net of that name for batches of so many rows, of images of size×size pixels. The size is a multiple of
// 8, from 16 to 1024. The device is "cpu", or "cuda" in programs with the tag cuda, which have called [cuda.AddKernels].
// Close frees the net.
func New(name string, rows, size int, device string) (_ *Net, err error) {
	at := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == name })
	if at < 0 || rows < 1 || size < 16 || size > 1024 || size%8 != 0 {
		return nil, fmt.Errorf("model: %s for %d images of %d×%d: want a net's name, 1 or more, 16 to 1024 pixels, a multiple of 8", name, rows, size, size)
	}
	defer func() { // gorgonia's constructors and Must panic
		if p := recover(); p != nil {
			err = fmt.Errorf("model: build %s: %v", name, p)
		}
	}()
	b := &builder{g: gorgonia.NewGraph(), r: rand.New(rand.NewPCG(1, 4))}
	n := &Net{image: gorgonia.NewTensor(b.g, tensor.Float32, 4, gorgonia.WithShape(rows, 3, size, size), gorgonia.WithName("image"))}
	n.logits = Kinds()[at].build(b, n.image)
	n.parameters = b.parameters
	if device != "cuda" {
		n.vm = gorgonia.NewTapeMachine(b.g)
		return n, nil
	}
	if name == "resnet-small" {
		return nil, errors.New("model: resnet-small: the allocator of gorgonia 0.9.18 crashes when it is reset after this net")
	}
	if n.logits, err = cuda.Flush(n.logits); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if n.vm, err = cuda.New(b.g); err != nil {
		return nil, fmt.Errorf("model: %s: %w", name, err)
	}
	return n, nil
}

// Infer runs the net over images of shape (n, 3, size, size), with n up to the net's rows. They must not change until
// Infer returns.
func (n *Net) Infer(images []float32) error {
	shape := n.image.Shape()
	if all := shape.TotalSize(); len(images) == 0 || len(images) > all || len(images)%(all/shape[0]) != 0 {
		return fmt.Errorf("model: %d values for images of shape %v", len(images), shape)
	} else if len(images) < all {
		if n.padded == nil {
			n.padded = make([]float32, all)
		}
		copy(n.padded, images)
		images = n.padded
	}
	if err := gorgonia.Let(n.image, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(images))); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	defer n.vm.Reset()
	if err := n.vm.RunAll(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// Logits returns the logits of the last batch, row by row, [Classes] for every image. They are valid until the next Infer.
func (n *Net) Logits() []float32 { return n.logits.Value().Data().([]float32) }

// Parameters is the number of the net's parameters.
func (n *Net) Parameters() int { return n.parameters }

// Close frees the VM.
func (n *Net) Close() error { return n.vm.Close() }
