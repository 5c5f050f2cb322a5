package tensors_test

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/tensors"
)

func counting(shape ...int) *tensor.Dense {
	values := make([]float32, dataset.Shape(shape).Elements())
	for i := range values {
		values[i] = float32(i)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
}

func TestStridedTensorsAreCopiedInOrder(t *testing.T) {
	lazy := counting(2, 3)
	if err := lazy.T(); err != nil {
		t.Fatal(err)
	}
	done := counting(2, 3)
	if err := done.T(); err != nil {
		t.Fatal(err)
	}
	if err := done.Transpose(); err != nil {
		t.Fatal(err)
	}
	deep := counting(2, 3, 4)
	if err := deep.T(2, 0, 1); err != nil {
		t.Fatal(err)
	}
	slice := func(d *tensor.Dense, of ...tensor.Slice) *tensor.Dense {
		s, err := d.Slice(of...)
		if err != nil {
			t.Fatal(err)
		}
		return s.(*tensor.Dense)
	}
	for _, c := range []struct {
		name  string
		of    *tensor.Dense
		shape dataset.Shape
		want  []float32
	}{
		{"T", lazy, dataset.Shape{3, 2}, []float32{0, 3, 1, 4, 2, 5}},
		{"Transpose", done, dataset.Shape{3, 2}, []float32{0, 3, 1, 4, 2, 5}},
		{"T of three dimensions", deep, dataset.Shape{4, 2, 3}, []float32{0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23}},
		{"columns", slice(counting(4, 3), nil, tensor.S(1, 3)), dataset.Shape{4, 2}, []float32{1, 2, 4, 5, 7, 8, 10, 11}},
		{"column", slice(counting(4, 3), nil, tensor.S(1)), dataset.Shape{4}, []float32{1, 4, 7, 10}},
		{"rows", slice(counting(5, 2), tensor.S(1, 4)), dataset.Shape{3, 2}, []float32{2, 3, 4, 5, 6, 7}},
		{"column-major", tensor.New(tensor.WithShape(2, 3), tensor.AsFortran([]float32{0, 1, 2, 3, 4, 5})), dataset.Shape{2, 3}, []float32{0, 1, 2, 3, 4, 5}},
		{"scalar", tensor.New(tensor.FromScalar(float32(5))), nil, []float32{5}},
	} {
		got, err := tensors.FromDense(c.of)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(got.Shape(), c.shape) || !slices.Equal(dataset.ValuesOf[float32](got), c.want) {
			t.Errorf("%s: got %v, %v, want %v, %v", c.name, got, got.Data(), c.shape, c.want)
		}
	}
}

func TestEveryDtypeComesBackOverTheSameMemory(t *testing.T) {
	for dt := dataset.Bool; dt <= dataset.Complex128; dt++ {
		memory := make([]uint64, 4)
		b := dataset.TensorOf(memory).Bytes()[:2*dt.Size()]
		d := tensors.Dense(dataset.NewTensor(dt, dataset.Shape{2}, b))
		if d.Dtype() != tensors.Dtype(dt) || d.Shape()[0] != 2 {
			t.Errorf("%v: gorgonia's tensor is %v %v", dt, d.Dtype(), d.Shape())
		}
		b[0] = 1
		if reflect.ValueOf(d.Data()).Index(0).IsZero() {
			t.Errorf("%v: gorgonia's tensor has memory of its own", dt)
		}
		back, err := tensors.FromDense(d)
		if err != nil || back.Dtype() != dt || &back.Bytes()[0] != &b[0] || len(back.Bytes()) != len(b) {
			t.Errorf("%v: came back as %v, %v", dt, back, err)
		}
	}
}

func TestFromDenseSaysWhatIsWrong(t *testing.T) {
	masked := counting(2, 2)
	masked.ResetMask(true)
	for _, c := range []struct {
		of   *tensor.Dense
		want string
	}{
		{nil, "tensors: FromDense: the tensor is nil"},
		{masked, "tensors: FromDense: a masked tensor, or one that is not in main memory"},
		{tensor.New(tensor.WithBacking([]string{"a", "b"})), "tensors: FromDense: values of type string"},
	} {
		if _, err := tensors.FromDense(c.of); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestOnlyThisPackageCompilesGorgonia lists what a program compiles that imports all packages of the module but this one.
func TestOnlyThisPackageCompilesGorgonia(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	list := func(args ...string) []string {
		cmd := exec.Command("go", append([]string{"list"}, args...)...)
		cmd.Dir, cmd.Env = "../..", append(cmd.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	packages := slices.DeleteFunc(list("./..."), func(p string) bool { return strings.HasSuffix(p, "/loader/tensors") })
	foreign := 0
	for _, p := range list(append([]string{"-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)...) {
		if strings.HasPrefix(p, "gorgonia.org/") || strings.Contains(p, "arrow") {
			t.Errorf("a program without this package compiles %s", p)
		}
		if !strings.HasPrefix(p, "github.com/penstock-go/") {
			foreign++
		}
	}
	if foreign == 0 || foreign > 40 {
		t.Errorf("a program without this package compiles %d packages of other modules", foreign)
	}
}
