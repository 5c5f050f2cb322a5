package feed_test

import (
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

// TestTrainingStepsEqualThoseComputedByHand: one weight, y = w·x, squared error, plain
// gradient descent.
func TestTrainingStepsEqualThoseComputedByHand(t *testing.T) {
	const rate = 0.001
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(rows, width), gorgonia.WithName("x"))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(rows), gorgonia.WithName("y"))
	w := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(width), gorgonia.WithName("w"), gorgonia.WithInit(gorgonia.Zeroes()))
	off := gorgonia.Must(gorgonia.Sub(gorgonia.Must(gorgonia.Mul(x, w)), y))
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(off))))
	if _, err := gorgonia.Grad(cost, w); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(w))
	defer vm.Close()
	f := newFeed(t, vm, feed.Bind("x", x), feed.Bind("y", y), feed.Drop())
	solver := gorgonia.NewVanillaSolver(gorgonia.WithLearnRate(rate))
	hand := 0.0
	for b, err := range f.Run(newLoader(t, 3*rows).Epochs(t.Context(), 0, 3)) {
		if err != nil {
			t.Fatal(err)
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(gorgonia.Nodes{w})); err != nil {
			t.Fatal(err)
		}
		gradient := 0.0
		for _, i := range b.Indices() {
			v := float64(i + 1)
			gradient += 2 * (width*hand*v - 2*v) * v
		}
		hand -= rate * gradient
		for k, v := range loader.Values[float64](b, "x") {
			if v != float64(b.Indices()[k/width]+1) {
				t.Fatalf("batch %d: the VM wrote %v to sample %d", b.Number(), v, b.Indices()[k/width])
			}
		}
		for _, got := range w.Value().Data().([]float64) {
			if math.Abs(got-hand) > 1e-9 {
				t.Fatalf("batch %d: weight %v, by hand %v", b.Number(), got, hand)
			}
		}
	}
}
