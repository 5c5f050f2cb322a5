package figures_test

import (
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/figures"
)

type plain struct{}

type named struct{}

func (named) String() string { return "Named(1)" }

func TestStepsPrintAsTheCallThatMadeThem(t *testing.T) {
	for got, want := range map[string]string{
		figures.Call("None"): "None()",
		figures.Call("Crop", figures.Anys([]int{1, 2})...): "Crop(1, 2)",
		figures.Call("Normalize", []float32{0.5}, "text"):  "Normalize([0.5], text)",
		figures.Join([]named{{}, {}}):                      "Named(1), Named(1)",
		figures.Name(named{}):                              "Named(1)",
		figures.Name(&plain{}):                             "figures_test.plain",
		figures.Name(nil):                                  "Apply(nil)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProbabilityIsFrom0To1(t *testing.T) {
	for p, ok := range map[float64]bool{0: true, 1: true, 0.5: true, -0.1: false, 1.1: false} {
		if err := figures.CheckProbability(p); (err == nil) != ok {
			t.Errorf("%v: error %v", p, err)
		}
	}
	if figures.CheckProbability(math.NaN()) == nil {
		t.Error("NaN is a probability")
	}
}
