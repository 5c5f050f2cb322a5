package model

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A builder adds layers to a graph. Its methods panic, as gorgonia's do.
type builder struct {
	g          *gorgonia.ExprGraph
	r          *rand.Rand
	parameters int
}

var must = gorgonia.Must

// weight adds a weight of normal random numbers with variance 2/inputs (He et al. 2015).
func (b *builder) weight(inputs int, shape ...int) *gorgonia.Node {
	deviation := math.Sqrt(2 / float64(inputs))
	return b.parameter(func() float32 { return float32(deviation * b.r.NormFloat64()) }, shape...)
}

func (b *builder) constant(v float32, shape ...int) *gorgonia.Node {
	return b.parameter(func() float32 { return v }, shape...)
}

func (b *builder) parameter(value func() float32, shape ...int) *gorgonia.Node {
	values := make([]float32, tensor.Shape(shape).TotalSize())
	for i := range values {
		values[i] = value()
	}
	b.parameters += len(values)
	return gorgonia.NewTensor(b.g, tensor.Float32, len(shape), gorgonia.WithShape(shape...),
		gorgonia.WithName(fmt.Sprintf("w%d", b.parameters)), gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))))
}

// conv adds a k×k convolution with a bias.
func (b *builder) conv(x *gorgonia.Node, channels, k, stride, pad int) *gorgonia.Node {
	from := x.Shape()[1]
	w := b.weight(from*k*k, channels, from, k, k)
	x = must(gorgonia.Conv2d(x, w, tensor.Shape{k, k}, []int{pad, pad}, []int{stride, stride}, []int{1, 1}))
	return must(gorgonia.BroadcastAdd(x, b.constant(0.01, 1, channels, 1, 1), nil, []byte{0, 2, 3}))
}

// linear adds a linear layer with a bias, from (rows, inputs) to (rows, outputs).
func (b *builder) linear(x *gorgonia.Node, outputs int) *gorgonia.Node {
	x = must(gorgonia.Mul(x, b.weight(2*x.Shape()[1], x.Shape()[1], outputs)))
	return must(gorgonia.BroadcastAdd(x, b.constant(0.01, 1, outputs), nil, []byte{0}))
}

// norm adds layer normalisation (Ba et al. 2016) of each row of (rows, width).
func (b *builder) norm(x *gorgonia.Node) *gorgonia.Node {
	rows, width := x.Shape()[0], x.Shape()[1]
	column := func(v *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Reshape(v, tensor.Shape{rows, 1})) }
	x = must(gorgonia.BroadcastSub(x, column(must(gorgonia.Mean(x, 1))), nil, []byte{1}))
	variance := column(must(gorgonia.Mean(must(gorgonia.Square(x)), 1)))
	small := gorgonia.NewConstant(float32(1e-5))
	x = must(gorgonia.BroadcastHadamardDiv(x, must(gorgonia.Sqrt(must(gorgonia.Add(variance, small)))), nil, []byte{1}))
	x = must(gorgonia.BroadcastHadamardProd(x, b.constant(1, 1, width), nil, []byte{0}))
	return must(gorgonia.BroadcastAdd(x, b.constant(0, 1, width), nil, []byte{0}))
}

// gelu adds x·σ(1.702x), an approximation of the Gaussian error linear unit (Hendrycks and Gimpel
// 2016, section 2).
func gelu(x *gorgonia.Node) *gorgonia.Node {
	s := must(gorgonia.Sigmoid(must(gorgonia.Mul(x, gorgonia.NewConstant(float32(1.702))))))
	return must(gorgonia.HadamardProd(x, s))
}

// mlp adds two linear layers with a gelu between them.
func (b *builder) mlp(x *gorgonia.Node, hidden int) *gorgonia.Node {
	return b.linear(gelu(b.linear(x, hidden)), x.Shape()[1])
}

// swap exchanges the last two axes of (n·rows, columns), seen as (n, rows,
// columns).
func swap(x *gorgonia.Node, n int) *gorgonia.Node {
	rows, columns := x.Shape()[0]/n, x.Shape()[1]
	x = must(gorgonia.Reshape(x, tensor.Shape{n, rows, columns}))
	x = must(gorgonia.Transpose(x, 0, 2, 1))
	return must(gorgonia.Reshape(x, tensor.Shape{n * columns, rows}))
}

// head adds the mean over each sample's rows of (n·rows, width), and a linear layer.
func (b *builder) head(x *gorgonia.Node, n int) *gorgonia.Node {
	rows, width := x.Shape()[0]/n, x.Shape()[1]
	x = must(gorgonia.Mean(must(gorgonia.Reshape(x, tensor.Shape{n, rows, width})), 1))
	return b.linear(x, Classes)
}

// pooled adds the mean of each channel, (n, channels), and a linear layer.
func (b *builder) pooled(x *gorgonia.Node) *gorgonia.Node {
	s := x.Shape()
	x = must(gorgonia.Mean(must(gorgonia.Reshape(x, tensor.Shape{s[0], s[1], s[2] * s[3]})), 2))
	return b.linear(x, Classes)
}

func float32sqrt(n int) float32 { return float32(math.Sqrt(float64(n))) }
