package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
)

// The training: a perceptron of few units learns a function of its inputs.
const (
	rows      = 64 // of a batch
	width     = 16
	units     = 8
	steps     = 100
	rate      = 0.1
	tolerance = 1e-4 // of a loss of 1 or less
)

// A perceptron has one layer of tanh units and a linear one.
type perceptron struct{ w, v []float64 }

func newPerceptron() *perceptron {
	r := rand.New(rand.NewPCG(1, 2))
	p := &perceptron{w: make([]float64, width*units), v: make([]float64, units)}
	for i := range p.w {
		p.w[i] = float64(float32(r.NormFloat64() / 4))
	}
	for i := range p.v {
		p.v[i] = float64(float32(r.NormFloat64() / 4))
	}
	return p
}

// problem is the dataset: x is random, y a function of it.
func problem() dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{width}}, {Name: "y", Dtype: dataset.Float32}}
	return dataset.Func(rows*steps, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		x, y := sample(i)
		copy(dataset.Row[float32](dst, 0), x)
		dataset.Set(dst, 1, y)
		return nil
	})
}

func sample(i int) (x []float32, y float32) {
	r := rand.New(rand.NewPCG(3, uint64(i)))
	x = make([]float32, width)
	for k := range x {
		x[k] = float32(r.Float64()*2 - 1)
	}
	return x, float32(math.Tanh(float64(x[0]+x[1]-x[2])) / 2)
}

// step makes a step of gradient descent with the samples and returns the mean loss before it.
func (p *perceptron) step(indices []int) (loss float64) {
	n := float64(len(indices))
	w, v := make([]float64, len(p.w)), make([]float64, len(p.v))
	for _, i := range indices {
		x, y := sample(i)
		h, out := make([]float64, units), 0.0
		for u := range units {
			sum := 0.0
			for k := range width {
				sum += float64(x[k]) * p.w[k*units+u]
			}
			h[u] = math.Tanh(sum)
			out += h[u] * p.v[u]
		}
		off := out - float64(y)
		loss += off * off / 2 / n
		for u := range units {
			v[u] += off * h[u] / n
			for k := range width {
				w[k*units+u] += off * p.v[u] * (1 - h[u]*h[u]) * float64(x[k]) / n
			}
		}
	}
	for i := range p.w {
		p.w[i] -= rate * w[i]
	}
	for i := range p.v {
		p.v[i] -= rate * v[i]
	}
	return loss
}

// checkTraining trains the same perceptron on the device, over batches that a Stage uploads,
// and on the processor.
func checkTraining(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	stage, err := s.staged(problem(), rows, 2)
	if err != nil {
		return err
	}
	p := newPerceptron()
	w, err := s.parameters(p.w)
	if err != nil {
		return err
	}
	v, err := s.parameters(p.v)
	if err != nil {
		return err
	}
	h, err := s.take(4 * rows * units)
	if err != nil {
		return err
	}
	off, err := s.take(4 * rows)
	if err != nil {
		return err
	}
	s.step("the training")
	var first, last, most float64
	learning := uint64(math.Float32bits(rate))
	for b, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		x, y := uint64(b.Column("x").Pointer), uint64(b.Column("y").Pointer)
		offs := make([]float32, rows)
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&offs[0])), 4*rows)
		err := errors.Join(
			s.launch("hidden", s.stream, x, uint64(w), uint64(h), rows, width, units),
			s.launch("output", s.stream, uint64(h), uint64(v), y, uint64(off), rows, units),
			s.down(raw, off, s.stream),
			s.launch("descend_w", s.stream, x, uint64(h), uint64(v), uint64(off), uint64(w), rows, width, units, learning),
			s.launch("descend_v", s.stream, uint64(h), uint64(off), uint64(v), rows, units, learning),
			s.wait(s.stream),
		)
		if err != nil {
			return err
		}
		last = 0
		for _, o := range offs {
			last += float64(o) * float64(o) / 2 / rows
		}
		want := p.step(b.Indices())
		if b.Number() == 0 {
			first = last
		}
		difference := math.Abs(last - want)
		if !(difference <= tolerance*max(1, want)) {
			return fmt.Errorf("step %d: the loss is %g, want %g", b.Number(), last, want)
		}
		most = max(most, difference)
	}
	s.note("%d steps: loss %.6f to %.6f, at most %.1e from the processor's", steps, first, last, most)
	if !(last < first/2) {
		return fmt.Errorf("the loss went from %g to %g, want less than half", first, last)
	}
	return nil
}

// parameters uploads float32 values.
func (s *subject) parameters(values []float64) (uintptr, error) {
	from := make([]float32, len(values))
	for i, v := range values {
		from[i] = float32(v)
	}
	at, err := s.take(4 * len(values))
	if err != nil {
		return 0, err
	}
	return at, errors.Join(s.up(at, unsafe.Slice((*byte)(unsafe.Pointer(&from[0])), 4*len(from)), s.stream), s.wait(s.stream))
}
