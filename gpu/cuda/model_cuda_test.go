//go:build cuda

package cuda_test

import (
	"context"
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/loader"
)

// The model is a perceptron with one hidden layer of tanh and the mean squared
// error: float32 on the device, float64 by hand.
const (
	rows, width, hidden, outputs = 8, 6, 5, 2

	steps = 20
	rate  = 0.05
)

// sample is the input and the target of sample i.
func sample(i int) (x [width]float32, y [outputs]float32) {
	for k := range x {
		x[k] = float32(math.Sin(float64(7*i + k)))
	}
	for k := range y {
		y[k] = x[k] - x[k+1]/2
	}
	return x, y
}

func samples(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{width}},
		{Name: "y", Dtype: dataset.Float32, Shape: dataset.Shape{outputs}},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		x, y := sample(i)
		copy(dataset.Row[float32](dst, 0), x[:])
		copy(dataset.Row[float32](dst, 1), y[:])
		return nil
	})
}

func newLoader(t testing.TB, n int, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(samples(n), append([]loader.Option{loader.BatchSize(rows), loader.Workers(2)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	return l
}

// weights start the same everywhere.
func weights() (w1, w2 []float32) {
	w1, w2 = make([]float32, width*hidden), make([]float32, hidden*outputs)
	for i := range w1 {
		w1[i] = float32(math.Cos(float64(3*i))) / 2
	}
	for i := range w2 {
		w2[i] = float32(math.Cos(float64(5*i+1))) / 2
	}
	return w1, w2
}

// A perceptron is the model in gorgonia.
type perceptron struct {
	w1, w2    []float32
	loss      gorgonia.Value
	gradients [2]gorgonia.Value
}

// newPerceptron builds the graph over its inputs.
func newPerceptron(t testing.TB, g *gorgonia.ExprGraph, x, y *gorgonia.Node) *perceptron {
	t.Helper()
	must := gorgonia.Must
	p := &perceptron{}
	p.w1, p.w2 = weights()
	weight := func(name string, values []float32, shape ...int) *gorgonia.Node {
		v := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithValue(v))
	}
	w1, w2 := weight("w1", p.w1, width, hidden), weight("w2", p.w2, hidden, outputs)
	out := must(gorgonia.Mul(must(gorgonia.Tanh(must(gorgonia.Mul(x, w1)))), w2))
	loss := must(gorgonia.Mean(must(gorgonia.Square(must(gorgonia.Sub(out, y))))))
	gradients, err := gorgonia.Grad(loss, w1, w2)
	if err != nil {
		t.Fatal(err)
	}
	gorgonia.Read(loss, &p.loss)
	for i, n := range gradients {
		gorgonia.Read(n, &p.gradients[i])
	}
	return p
}

// step moves the weights by plain gradient descent and returns the loss.
func (p *perceptron) step() float64 {
	for i, w := range [][]float32{p.w1, p.w2} {
		for k, d := range p.gradients[i].Data().([]float32) {
			w[k] -= rate * d
		}
	}
	return float64(p.loss.Data().(float32))
}

// byHand are the losses of the same steps over the samples of each batch.
func byHand(batches [][]int) (losses []float64) {
	a, b := weights()
	w1, w2 := wide(a), wide(b)
	for _, batch := range batches {
		d1, d2, loss := make([]float64, len(w1)), make([]float64, len(w2)), 0.0
		scale := 1 / float64(len(batch)*outputs)
		for _, i := range batch {
			x, y := sample(i)
			var h, dh [hidden]float64
			for j := range h {
				for k := range x {
					h[j] += float64(x[k]) * w1[k*hidden+j]
				}
				h[j] = math.Tanh(h[j])
			}
			for o := range y {
				off := -float64(y[o])
				for j := range h {
					off += h[j] * w2[j*outputs+o]
				}
				loss += scale * off * off
				for j := range h {
					d2[j*outputs+o] += 2 * scale * off * h[j]
					dh[j] += 2 * scale * off * w2[j*outputs+o]
				}
			}
			for j := range h {
				for k := range x {
					d1[k*hidden+j] += dh[j] * (1 - h[j]*h[j]) * float64(x[k])
				}
			}
		}
		for i := range w1 {
			w1[i] -= rate * d1[i]
		}
		for i := range w2 {
			w2[i] -= rate * d2[i]
		}
		losses = append(losses, loss)
	}
	return losses
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = float64(v[i])
	}
	return w
}

// compare reports losses that differ by over 1e-4 from those by hand.
func compare(t *testing.T, got []float64, batches [][]int) {
	t.Helper()
	want := byHand(batches)
	if len(got) != steps {
		t.Errorf("got %d steps, want %d", len(got), steps)
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-4) {
			t.Fatalf("step %d: loss %v, by hand %v", i, got[i], want[i])
		}
	}
	if got[steps-1] > 0.7*got[0] {
		t.Errorf("the loss went from %v to %v only", got[0], got[steps-1])
	}
}

// newVM is a VM that is closed at the end of the test.
func newVM(t testing.TB, g *gorgonia.ExprGraph) *cuda.VM {
	t.Helper()
	vm, err := cuda.New(g)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, vm)
	return vm
}
