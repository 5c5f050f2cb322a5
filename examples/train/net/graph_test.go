package net_test

import (
	"context"
	"math"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/loader"
)

const size, rows = 12, 4

var classes = []string{"a", "b", "c"}

// noise is a dataset of n random images with random classes.
func noise(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, size, size}},
		{Name: "target", Dtype: dataset.Float32, Shape: dataset.Shape{len(classes)}},
	}
	return dataset.Func(n, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		image := dataset.Row[float32](dst, 0)
		for i := range image {
			image[i] = float32(dst.Rand().NormFloat64())
		}
		target := dataset.Row[float32](dst, 1)
		clear(target)
		target[dst.Rand().IntN(len(classes))] = 1
		return nil
	})
}

func newLoader(t testing.TB, n int) *loader.Loader {
	t.Helper()
	l, err := loader.New(noise(n), loader.BatchSize(rows), loader.Workers(2), loader.Poison(true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func newGraph(t testing.TB, build func(*net.Backend, int) (*net.Graph, error)) *net.Graph {
	t.Helper()
	on, err := net.Open("cpu", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { on.Close() })
	g, err := build(on, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func newModel(t testing.TB) *net.Model {
	t.Helper()
	m, err := net.New(size, classes, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// loss is that of the first n samples in one batch.
func loss(t testing.TB, g *net.Graph, l *loader.Loader) float64 {
	t.Helper()
	for _, err := range g.Feed.Run(l.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		return float64(g.Loss())
	}
	panic("no batch")
}

// The short batch shows that padding does not change them.
func TestGradientsAreTheLossesSlopes(t *testing.T) {
	m := newModel(t)
	g := newGraph(t, m.Train)
	l := newLoader(t, rows-1)
	loss(t, g, l) // gradients of a run before are gone
	gradients, err := g.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range gradients {
		clear(v)
	}
	loss(t, g, l)
	got := make([][]float32, len(gradients))
	for i, v := range gradients {
		got[i] = append([]float32(nil), v...)
	}
	const step = 1e-2
	for i, w := range m.Weights {
		values := w.Values
		for k := 0; k < len(values); k += 1 + len(values)/7 {
			at := values[k]
			values[k] = at + step
			above := loss(t, g, l)
			values[k] = at - step
			below := loss(t, g, l)
			values[k] = at
			if want := (above - below) / (2 * step); math.Abs(float64(got[i][k])-want) > 2e-3+0.05*math.Abs(want) {
				t.Errorf("%s[%d]: got %.5f, want %.5f", w.Name, k, got[i][k], want)
			}
		}
	}
}

// Both graphs use the model's own weights: one computes with the updates of the other.
func TestGraphsShareTheWeights(t *testing.T) {
	m := newModel(t)
	train, eval := newGraph(t, m.Train), newGraph(t, m.Eval)
	l := newLoader(t, rows)
	logs := func() float32 {
		for _, err := range eval.Feed.Run(l.Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			return eval.LogProbabilities()[0]
		}
		panic("no batch")
	}
	before, first := logs(), loss(t, train, l)
	for i := range m.Weights {
		clear(m.Weights[i].Values)
	}
	if after := logs(); after == before || math.Abs(float64(after)+math.Log(3)) > 1e-6 {
		t.Errorf("got %v, want -log 3", after)
	}
	if after := loss(t, train, l); after == first || math.Abs(after-math.Log(3)) > 1e-6 {
		t.Errorf("got %v, want log 3", after)
	}
}

// The VM does not write to the weights.
func TestRunsChangeNoWeight(t *testing.T) {
	m, same := newModel(t), newModel(t)
	g := newGraph(t, m.Train)
	for range 3 {
		loss(t, g, newLoader(t, 2*rows))
	}
	for i, w := range m.Weights {
		for k, v := range w.Values {
			if v != same.Weights[i].Values[k] {
				t.Fatalf("%s[%d] went from %v to %v", w.Name, k, same.Weights[i].Values[k], v)
			}
		}
	}
}

func TestNewWeightsDependOnTheSeedAlone(t *testing.T) {
	a, b := newModel(t), newModel(t)
	other, err := net.New(size, classes, 2)
	if err != nil {
		t.Fatal(err)
	}
	if a.Weights[0].Values[5] != b.Weights[0].Values[5] || a.Weights[0].Values[5] == other.Weights[0].Values[5] {
		t.Error("the weights do not depend on the seed alone")
	}
	for _, w := range a.Weights {
		sum := 0.0
		for _, v := range w.Values {
			sum += float64(v) * float64(v)
		}
		inputs := len(w.Values) / w.Shape[0]
		if len(w.Shape) == 2 {
			inputs = w.Shape[0]
		}
		want := 2 / float64(inputs)
		if w.Shape[0] == 1 {
			want = 0
		}
		if got := sum / float64(len(w.Values)); math.Abs(got-want) > 0.3*want {
			t.Errorf("%s: variance %.4f, want %.4f", w.Name, got, want)
		}
	}
	for _, bad := range []struct {
		size    int
		classes []string
	}{{7, classes}, {1025, classes}, {12, classes[:1]}} {
		if _, err := net.New(bad.size, bad.classes, 1); err == nil {
			t.Errorf("no error for %v", bad)
		}
	}
}

func TestLossIsTheMeanOverTheSamplesAlone(t *testing.T) {
	m := newModel(t)
	train, eval := newGraph(t, m.Train), newGraph(t, m.Eval)
	for _, samples := range []int{1, rows - 1, rows} {
		l := newLoader(t, samples)
		got, want := loss(t, train, l), 0.0
		for batch, err := range eval.Feed.Run(l.Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			for i, target := range loader.Values[float32](batch, "target") {
				want -= float64(target*eval.LogProbabilities()[i]) / float64(samples)
			}
		}
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("%d samples: got %v, want %v", samples, got, want)
		}
	}
}
