package feed_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The tests of this file test gorgonia v0.9.18 alone. Each shows one behaviour that the
// package comment lists. If one fails with a new version of gorgonia, remove it from the
// comment, and remove the code that works around it.

// plain is a model whose sum counts every row.
func plain(t testing.TB) *model {
	t.Helper()
	m := newModel(t)
	let(t, m.mask, tensor.Ones(tensor.Float64, rows))
	return m
}

func let(t testing.TB, n *gorgonia.Node, v any) {
	t.Helper()
	if err := gorgonia.Let(n, v); err != nil {
		t.Fatal(err)
	}
}

func runAll(t testing.TB, vm gorgonia.VM) {
	t.Helper()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
}

// filled is an input of equal values, for which the sum is rows·width·(v+1)².
func filled(v float64) *tensor.Dense {
	t := tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(rows, width))
	t.Memset(v)
	return t
}

func (m *model) result() float64 { return m.sum.Value().Data().(float64) }

func sumOf(v float64) float64 { return rows * width * (v + 1) * (v + 1) }

func TestGorgoniaWithoutResetKeepsTheOldResult(t *testing.T) {
	m := plain(t)
	let(t, m.x, filled(1))
	runAll(t, m.vm)
	let(t, m.x, filled(2))
	runAll(t, m.vm)
	if got := m.result(); got != sumOf(1) {
		t.Errorf("without Reset: got %v, want the old %v", got, sumOf(1))
	}
	m.vm.Reset()
	runAll(t, m.vm)
	if got := m.result(); got != sumOf(2) {
		t.Errorf("after Reset: got %v, want %v", got, sumOf(2))
	}
}

func TestGorgoniaRefusesAnotherShapeAndKeepsTheOldValue(t *testing.T) {
	m := plain(t)
	let(t, m.x, filled(1))
	if gorgonia.Let(m.x, tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(rows-1, width))) == nil {
		t.Error("a short batch was bound")
	}
	runAll(t, m.vm)
	if got := m.result(); got != sumOf(1) {
		t.Errorf("got %v, want the old %v", got, sumOf(1))
	}
}

func TestGorgoniaReadsTheBoundMemoryItself(t *testing.T) {
	m := plain(t)
	x := filled(1)
	let(t, m.x, x)
	x.Memset(2.0)
	runAll(t, m.vm)
	if got := m.result(); got != sumOf(2) {
		t.Errorf("got %v, want %v, of what was written after Let", got, sumOf(2))
	}
}

// TestGorgoniaKeepsValuesInTheGraph: what a goroutine has bound, and what it is
// about to read, another one that runs the same graph replaces.
func TestGorgoniaKeepsValuesInTheGraph(t *testing.T) {
	m := plain(t)
	other := gorgonia.NewTapeMachine(m.x.Graph())
	defer other.Close()
	let(t, m.x, filled(1))
	runAll(t, m.vm)
	let(t, m.x, filled(2))
	runAll(t, other)
	if got := m.result(); got != sumOf(2) {
		t.Errorf("the first VM's result is %v, want the second one's %v", got, sumOf(2))
	}
}

// panics reports that f did not.
func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic any more", what)
		}
	}()
	f()
}

func image(name string) *gorgonia.Node {
	g := gorgonia.NewGraph()
	return gorgonia.NewTensor(g, tensor.Float64, 4, gorgonia.WithShape(2, 3, 4, 4), gorgonia.WithName(name), gorgonia.WithInit(gorgonia.Gaussian(3, 1)))
}

func TestGorgoniaCannotDifferentiateGlobalAveragePooling(t *testing.T) {
	x := image("x")
	pooled := gorgonia.Must(gorgonia.GlobalAveragePool2D(x))
	panics(t, "Grad of GlobalAveragePool2D", func() { gorgonia.Grad(gorgonia.Must(gorgonia.Sum(pooled)), x) })

	other := image("x")
	let(t, other, x.Value())
	mean := gorgonia.Must(gorgonia.Mean(gorgonia.Must(gorgonia.Reshape(other, tensor.Shape{2, 3, 16})), 2))
	var means gorgonia.Value
	gorgonia.Read(mean, &means)
	if _, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(mean)), other); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(other.Graph(), gorgonia.BindDualValues(other))
	defer vm.Close()
	runAll(t, vm)
	gradient, err := other.Grad()
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range gradient.Data().([]float64) {
		if got != 1.0/16 {
			t.Fatalf("Reshape and Mean: a gradient of %v, want 1/16", got)
		}
	}
	values := x.Value().Data().([]float64)
	for k, got := range means.Data().([]float64) {
		want := 0.0
		for _, v := range values[16*k : 16*k+16] {
			want += v / 16
		}
		if d := got - want; d > 1e-12 || d < -1e-12 {
			t.Errorf("Reshape and Mean: mean %d is %v, want %v", k, got, want)
		}
	}
}

// TestGorgoniaOverwritesValuesWithGradients: the mean of 2 is 2 where Read has put
// it, and something else in the node.
func TestGorgoniaOverwritesValuesWithGradients(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(rows, width), gorgonia.WithName("x"), gorgonia.WithValue(filled(2)))
	mean := gorgonia.Must(gorgonia.Mean(x, 1))
	var read gorgonia.Value
	gorgonia.Read(mean, &read)
	if _, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(mean)), x); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(x))
	defer vm.Close()
	runAll(t, vm)
	for k, v := range mean.Value().Data().([]float64) {
		if got := read.Data().([]float64)[k]; got != 2 {
			t.Errorf("row %d: Read has %v, want 2", k, got)
		}
		if v == 2 {
			t.Errorf("row %d: the node has its value still", k)
		}
	}
}

func TestGorgoniaHasHeInitialisationOnlyForFloat64(t *testing.T) {
	matrix := func(dt tensor.Dtype, f gorgonia.InitWFn) {
		gorgonia.NewMatrix(gorgonia.NewGraph(), dt, gorgonia.WithShape(4, 3), gorgonia.WithInit(f))
	}
	panics(t, "HeN of float32", func() { matrix(tensor.Float32, gorgonia.HeN(1)) })
	panics(t, "HeU of float32", func() { matrix(tensor.Float32, gorgonia.HeU(1)) })
	matrix(tensor.Float32, gorgonia.Gaussian(0, 1))
	matrix(tensor.Float64, gorgonia.HeN(1))
}

func TestGorgoniaBatchNormMakesScalesOfAWholeBatch(t *testing.T) {
	x := image("x")
	_, scale, bias, _, err := gorgonia.BatchNorm(x, nil, nil, 0.9, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if !scale.Shape().Eq(x.Shape()) || !bias.Shape().Eq(x.Shape()) {
		t.Errorf("nil makes shapes %v and %v, want %v", scale.Shape(), bias.Shape(), x.Shape())
	}
}

func TestGorgoniaResetsRunningStatistics(t *testing.T) {
	for name, wipe := range map[string]func(*gorgonia.BatchNormOp, *gorgonia.ExprGraph){
		"SetTraining(true)": func(op *gorgonia.BatchNormOp, _ *gorgonia.ExprGraph) { op.SetTraining(true) },
		"a new VM":          func(_ *gorgonia.BatchNormOp, g *gorgonia.ExprGraph) { gorgonia.NewTapeMachine(g).Close() },
	} {
		x := image("x")
		shape := gorgonia.WithShape(1, 3, 1, 1)
		scale := gorgonia.NewTensor(x.Graph(), tensor.Float64, 4, shape, gorgonia.WithName("scale"), gorgonia.WithInit(gorgonia.Ones()))
		bias := gorgonia.NewTensor(x.Graph(), tensor.Float64, 4, shape, gorgonia.WithName("bias"), gorgonia.WithInit(gorgonia.Zeroes()))
		_, _, _, op, err := gorgonia.BatchNorm(x, scale, bias, 0.9, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		vm := gorgonia.NewTapeMachine(x.Graph())
		runAll(t, vm)
		mean := func() float64 {
			m, _ := op.Stats()
			return m.Data().([]float64)[0]
		}
		op.SetTraining(false)
		gorgonia.NewTapeMachine(x.Graph(), gorgonia.EvalMode()).Close()
		if mean() == 0 {
			t.Errorf("%s: no statistics before it", name)
		}
		if wipe(op, x.Graph()); mean() != 0 {
			t.Errorf("%s leaves a mean of %v", name, mean())
		}
		vm.Close()
	}
}

// exploding is an operation that panics when it runs.
type exploding struct{ gorgonia.Op }

func (exploding) Do(...gorgonia.Value) (gorgonia.Value, error) { panic("exploded") }

// TestGorgoniaPanicsWhereTheCallerCannotRecover runs itself once more, to die there.
func TestGorgoniaPanicsWhereTheCallerCannotRecover(t *testing.T) {
	const variable = "PENSTOCK_TEST_EXPLODE"
	if os.Getenv(variable) == "" {
		command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		command.Env = append(os.Environ(), variable+"=1")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: exploded") {
			t.Errorf("got %v, want a panic that ends the program\n%s", err, out)
		}
		return
	}
	defer func() { recover() }()
	x := gorgonia.NewMatrix(gorgonia.NewGraph(), tensor.Float64, gorgonia.WithShape(rows, width), gorgonia.WithInit(gorgonia.Ones()))
	square := gorgonia.Must(gorgonia.Square(image("elsewhere"))).Op()
	gorgonia.Must(gorgonia.ApplyOp(exploding{square}, x))
	gorgonia.NewTapeMachine(x.Graph()).RunAll()
}
