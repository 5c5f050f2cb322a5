package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/bench/model"
)

const size = 32

func images(n int) []float32 {
	r := rand.New(rand.NewPCG(7, 0))
	x := make([]float32, n*3*size*size)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func logits(t *testing.T, k model.Kind, rows int, x []float32) []float32 {
	t.Helper()
	n, err := model.New(k.Name, rows, size, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for range 2 { // the second must not be the first's leftover
		if err := n.Infer(x); err != nil {
			t.Fatal(err)
		}
	}
	return n.Logits()
}

func TestAnImageGivesTheSameInAnyBatch(t *testing.T) {
	x := images(3)
	one := len(x) / 3
	for _, k := range model.Kinds() {
		all := logits(t, k, 3, x)
		if len(all) != 3*model.Classes {
			t.Fatalf("%s: %d logits", k.Name, len(all))
		}
		differs := false
		for i := range 3 {
			alone := logits(t, k, 1, x[i*one:][:one])
			for c, want := range alone {
				got := all[i*model.Classes+c]
				if math.IsNaN(float64(got)) || math.Abs(float64(got-want)) > 1e-3*(1+math.Abs(float64(want))) {
					t.Fatalf("%s: image %d, class %d: %v in a batch, %v alone", k.Name, i, c, got, want)
				}
				differs = differs || math.Abs(float64(all[c]-want)) > 1e-3
			}
		}
		if !differs {
			t.Errorf("%s: all images give the same", k.Name)
		}
	}
}

func TestPatchesMatterByTheirPlaceToTransformers(t *testing.T) {
	x := images(1)
	moved := make([]float32, len(x))
	for c := range 3 { // the lower half above
		plane := x[c*size*size:][:size*size]
		copy(moved[c*size*size:], plane[size*size/2:])
		copy(moved[c*size*size+size*size/2:], plane[:size*size/2])
	}
	for _, k := range model.Kinds() {
		if !k.Transformer {
			continue
		}
		far := 0.0
		a, b := logits(t, k, 1, x), logits(t, k, 1, moved)
		for i := range a {
			far = max(far, math.Abs(float64(a[i]-b[i])))
		}
		if far < 1e-3 {
			t.Errorf("%s: moving patches changes nothing", k.Name)
		}
	}
}

func TestWhatCannotBeBuiltIsAnError(t *testing.T) {
	const net = "conv-small"
	for _, c := range [][2]int{{0, 32}, {-1, 32}, {1, 8}, {1, 30}, {1, 1 << 20}} {
		if _, err := model.New(net, c[0], c[1], "cpu"); err == nil {
			t.Errorf("New(%d, %d): no error", c[0], c[1])
		}
	}
	n, err := model.New(net, 1, size, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Infer(make([]float32, 5)); err == nil {
		t.Error("five values for an image: no error")
	}
	if n.Parameters() < 1000 {
		t.Errorf("%d parameters", n.Parameters())
	}
}

func TestAShortBatchGivesTheSame(t *testing.T) {
	n, err := model.New("conv-small", 3, size, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	x := images(3)
	if err := n.Infer(x); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(n.Logits()[:model.Classes])
	if err := n.Infer(x[:len(x)/3]); err != nil {
		t.Fatal(err)
	}
	if got := n.Logits()[:model.Classes]; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got[:3], want[:3])
	}
}
