package main

import (
	"math"

	"github.com/penstock-go/penstock/examples/train/net"
)

// adam is the optimiser of Kingma and Ba 2015 with the authors' constants. The state
// of gorgonia's own Adam is not accessible, so a checkpoint could not hold it.
type adam struct {
	Steps int
	// The running means of the gradients and of their squares, per weight.
	Mean, Square [][]float32
}

const (
	meanDecay, squareDecay = 0.9, 0.999
	epsilon                = 1e-8
)

func newAdam(m *net.Model) (a adam) {
	for _, w := range m.Weights {
		a.Mean = append(a.Mean, make([]float32, len(w.Values)))
		a.Square = append(a.Square, make([]float32, len(w.Values)))
	}
	return a
}

// update applies the gradients to the weights, and sets the gradients to 0.
func (a *adam) update(model *net.Model, gradients [][]float32, rate float64) {
	a.Steps++
	meanBias := 1 - math.Pow(meanDecay, float64(a.Steps))
	squareBias := 1 - math.Pow(squareDecay, float64(a.Steps))
	stride := float32(rate * math.Sqrt(squareBias) / meanBias)
	tiny := float32(epsilon * math.Sqrt(squareBias))
	for i, g := range gradients {
		w, m, s := model.Weights[i].Values, a.Mean[i], a.Square[i]
		for k, v := range g {
			m[k] = meanDecay*m[k] + (1-meanDecay)*v
			s[k] = squareDecay*s[k] + (1-squareDecay)*v*v
			w[k] -= stride * m[k] / (float32(math.Sqrt(float64(s[k]))) + tiny)
		}
		clear(g)
	}
}
