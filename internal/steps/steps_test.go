package steps_test

import (
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/steps"
)

type plain struct{}

type named struct{}

func (named) String() string { return "Named(1)" }

func TestStepsPrintAsTheCallThatMadeThem(t *testing.T) {
	for got, want := range map[string]string{
		steps.Call("None"): "None()",
		steps.Call("Crop", steps.Anys([]int{1, 2})...):  "Crop(1, 2)",
		steps.Call("Normalize", []float32{0.5}, "text"): "Normalize([0.5], text)",
		steps.Join([]named{{}, {}}):                     "Named(1), Named(1)",
		steps.Name(named{}):                             "Named(1)",
		steps.Name(&plain{}):                            "steps_test.plain",
		steps.Name(nil):                                 "Apply(nil)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProbabilityIsFrom0To1(t *testing.T) {
	for p, ok := range map[float64]bool{0: true, 1: true, 0.5: true, -0.1: false, 1.1: false} {
		if err := steps.CheckProbability(p); (err == nil) != ok {
			t.Errorf("%v: error %v", p, err)
		}
	}
	if steps.CheckProbability(math.NaN()) == nil {
		t.Error("NaN is a probability")
	}
}
