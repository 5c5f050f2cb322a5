// Package net is the small convolutional net that train and infer
// share, with its checkpoints.
//
// It has three 3×3 convolutions with stride 2, each followed by a bias and ReLU, and
// one linear layer. The weights are stored outside gorgonia's graphs: the graphs for
// training and for evaluation share their memory, and a checkpoint holds its bytes.
//
// There is no batch normalisation, because the padding of a short last batch would
// change the statistics.
package net

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/transform"
)

// MinSize and MaxSize bound the side of an image in pixels.
const MinSize, MaxSize = 8, 1024

// channels are those of the image and after every convolution.
var channels = [...]int{3, 12, 20, 40}

// A Model is a net's weights and what is needed to use them.
type Model struct {
	Size    int      // of the images, in pixels on each side
	Classes []string // in the order of the net's outputs
	Weights []Array
}

// An Array is a named tensor, with its values in row-major order.
type Array struct {
	Name   string
	Shape  []int
	Values []float32
}

// New makes a model with random weights, which depend on seed alone. They are normally
// distributed with variance 2/inputs (He et al. 2015). Biases are 0.
func New(size int, classes []string, seed uint64) (*Model, error) {
	weights, err := layout(size, len(classes))
	if err != nil {
		return nil, fmt.Errorf("net: %w", err)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range weights {
		w := &weights[i]
		w.Values = make([]float32, volume(w.Shape))
		if w.Shape[0] == 1 {
			continue // a bias
		}
		inputs := w.Shape[0] // of the linear layer, which is (inputs, outputs)
		if len(w.Shape) == 4 {
			inputs = volume(w.Shape[1:])
		}
		deviation := math.Sqrt(2 / float64(inputs))
		for k := range w.Values {
			w.Values[k] = float32(deviation * r.NormFloat64())
		}
	}
	return &Model{Size: size, Classes: classes, Weights: weights}, nil
}

// layout makes the weights' names and shapes.
func layout(size, classes int) (weights []Array, err error) {
	if size < MinSize || size > MaxSize {
		return nil, fmt.Errorf("size is %d, want %d to %d", size, MinSize, MaxSize)
	}
	if classes < 2 {
		return nil, errors.New("there are fewer than two classes")
	}
	add := func(name string, shape ...int) { weights = append(weights, Array{Name: name, Shape: shape}) }
	for i, from := range channels[:len(channels)-1] {
		to := channels[i+1]
		add(fmt.Sprintf("conv%d.weight", i+1), to, from, 3, 3)
		add(fmt.Sprintf("conv%d.bias", i+1), 1, to, 1, 1)
		size = (size + 1) / 2
	}
	add("linear.weight", channels[len(channels)-1]*size*size, classes)
	add("linear.bias", 1, classes)
	return weights, nil
}

// Check returns an error if a file's model is not one that New can make.
func (m *Model) Check() error {
	if m == nil {
		return errors.New("there is no model")
	}
	want, err := layout(m.Size, len(m.Classes))
	if err != nil {
		return err
	}
	same := func(a, b Array) bool {
		return a.Name == b.Name && slices.Equal(a.Shape, b.Shape) && len(a.Values) == volume(b.Shape)
	}
	if !slices.EqualFunc(m.Weights, want, same) {
		return fmt.Errorf("the weights are not those of images of %d pixels in %d classes", m.Size, len(m.Classes))
	}
	return nil
}

// Parameters is the number of values in all weights.
func (m *Model) Parameters() (n int) {
	for _, w := range m.Weights {
		n += len(w.Values)
	}
	return n
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Augmented prepares a training image: a random part of it, flipped or not.
func Augmented(size int) transform.Step {
	return transform.Compose(transform.Resize(size+size/8), transform.RandomCrop(size),
		transform.RandomHorizontalFlip(0.5), normal())
}

// Plain prepares an image for evaluation.
func Plain(size int) transform.Step {
	return transform.Compose(transform.Resize(size+size/8), transform.CenterCrop(size), normal())
}

func normal() transform.Step {
	return transform.Compose(transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
}
