package gomlx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"
	"go.uber.org/goleak"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/half"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func goBackend(t testing.TB) compute.Backend {
	t.Helper()
	b, err := gobackend.New("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

var errBroken = errors.New("broken")

// numbers is a dataset with a name for every sample.
type numbers struct{ dataset.Dataset }

func (n numbers) Name(i int) string { return fmt.Sprintf("%d.jpg", i) }

// numbered has n samples that are made of their number, one of which may be broken.
func numbered(n, broken int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: tensor.Uint8, Shape: tensor.Shape{3, 2, 2}},
		{Name: "label", Dtype: tensor.Int64},
		{Name: "truth", Dtype: tensor.Bool},
		{Name: "half", Dtype: half.Float16Dtype, Shape: tensor.Shape{2}},
		{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{1}},
		{Name: "text", Dtype: tensor.Uint8, Ragged: true},
		{Name: "uint", Dtype: tensor.Uint},
	}
	return numbers{dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == broken {
			return errBroken
		}
		for k := range dataset.Row[uint8](dst, 0) {
			dataset.Row[uint8](dst, 0)[k] = uint8(i + k)
		}
		dataset.Row[int64](dst, 1)[0] = int64(i)
		dataset.Row[bool](dst, 2)[0] = i%2 == 1
		h := dataset.Row[half.Float16](dst, 3)
		h[0], h[1] = half.ToFloat16(float32(i)), half.ToFloat16(0.5)
		dataset.Row[float32](dst, 4)[0] = float32(i)
		dataset.Grow[uint8](dst, 5, 1)[0] = 'x'
		dataset.Row[uint](dst, 6)[0] = 0
		return nil
	})}
}

func newLoader(t testing.TB, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func newDataset(t testing.TB, b compute.Backend, l *loader.Loader, options ...gomlx.Option) *gomlx.Dataset {
	t.Helper()
	ds, err := gomlx.New(b, l, options...)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// labels are those of a batch, which it frees.
func labels(t testing.TB, b train.Batch) []int64 {
	t.Helper()
	got, err := tensors.CopyFlatData[int64](b.Labels[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Finalize(); err != nil {
		t.Fatal(err)
	}
	return got
}

// loop is the labels of one loop, at most some batches of it.
func loop(t testing.TB, ds *gomlx.Dataset, most int) (got []int64) {
	t.Helper()
	for b, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, labels(t, b)...)
		if most--; most == 0 {
			break
		}
	}
	return got
}

// checkTensors compares a dataset's tensors with what its samples are made of.
func checkTensors(t *testing.T, backend compute.Backend) {
	t.Helper()
	l := newLoader(t, numbered(10, -1), loader.BatchSize(4), loader.Workers(2), loader.Memory(loader.Poison(loader.Heap{})))
	ds := newDataset(t, backend, l, gomlx.Inputs("image", "half"), gomlx.Labels("label", "truth"))
	var batches []train.Batch
	for b, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b) // they outlive the loop body
	}
	i := 0
	for k, b := range batches {
		rows := []int{4, 4, 2}[k]
		for _, c := range []struct {
			t     *tensors.Tensor
			dtype dtypes.DType
			dims  []int
		}{
			{b.Inputs[0], dtypes.Uint8, []int{rows, 3, 2, 2}}, {b.Inputs[1], dtypes.Float16, []int{rows, 2}},
			{b.Labels[0], dtypes.Int64, []int{rows, 1}}, {b.Labels[1], dtypes.Bool, []int{rows, 1}},
		} {
			if got := c.t.Shape(); got.DType != c.dtype || !slices.Equal(got.Dimensions, c.dims) {
				t.Errorf("batch %d: %v, want %v %v", k, got, c.dtype, c.dims)
			}
		}
		image := tensors.MustCopyFlatData[uint8](b.Inputs[0])
		truth := tensors.MustCopyFlatData[bool](b.Labels[1])
		var halves []byte
		if err := b.Inputs[1].ConstBytes(func(data []byte) { halves = slices.Clone(data) }); err != nil {
			t.Fatal(err)
		}
		for row, label := range labels(t, b) {
			want := half.ToFloat16(float32(i))
			if label != int64(i) || truth[row] != (i%2 == 1) || image[12*row] != uint8(i) || image[12*row+11] != uint8(i+11) || halves[4*row] != byte(want) || halves[4*row+1] != byte(want>>8) {
				t.Errorf("batch %d, row %d: label %d, %v, image %v, halves %v, want those of sample %d", k, row, label, truth[row], image[12*row:][:12], halves[4*row:][:4], i)
			}
			i++
		}
	}
	if i != 10 {
		t.Errorf("%d samples, want 10", i)
	}
}

func TestTensorsAreTheBatchesCopies(t *testing.T) {
	onBackends(t, checkTensors)
	t.Run("without a backend", func(t *testing.T) { checkTensors(t, nil) })
}

func TestInputsAreAllFieldsButTheLabels(t *testing.T) {
	ds, err := dataset.Select(numbered(3, -1), "label", "x", "image")
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range newDataset(t, goBackend(t), newLoader(t, ds), gomlx.Labels("label")).Iter() {
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Inputs) != 2 || b.Inputs[0].DType() != dtypes.Float32 || b.Inputs[1].DType() != dtypes.Uint8 || len(b.Labels) != 1 || b.Spec != nil {
			t.Errorf("inputs %v, labels %v, spec %v", b.Inputs, b.Labels, b.Spec)
		}
	}
}

func TestEveryLoopIsTheNextEpoch(t *testing.T) {
	l := newLoader(t, numbered(10, -1), loader.BatchSize(4), loader.Shuffle(true))
	var want [3][]int64
	for epoch := range want {
		for b, err := range l.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			want[epoch] = append(want[epoch], loader.Values[int64](b, "label")...)
		}
	}
	ds := newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Labels("label"))
	if got := loop(t, ds, -1); !slices.Equal(got, want[0]) {
		t.Errorf("first loop: %v, want epoch 0, %v", got, want[0])
	}
	if got := loop(t, ds, 1); !slices.Equal(got, want[1][:4]) {
		t.Errorf("second loop: %v, want the beginning of epoch 1, %v", got, want[1])
	}
	if got := loop(t, ds, -1); !slices.Equal(got, want[2]) {
		t.Errorf("third loop, after one that was left: %v, want epoch 2, %v", got, want[2])
	}

	ds = newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Labels("label"), gomlx.Infinite(true))
	if got := loop(t, ds, 2); !slices.Equal(got, want[0][:8]) {
		t.Errorf("first infinite loop: %v, want %v", got, want[0][:8])
	}
	if got := loop(t, ds, 5); !slices.Equal(got, slices.Concat(want[0][8:], want[1], want[2][:4])) {
		t.Errorf("second infinite loop: %v, want the rest of epoch 0 %v, then %v and %v", got, want[0], want[1], want[2])
	}
}

func TestPositionsResume(t *testing.T) {
	for _, infinite := range []bool{false, true} {
		options := []gomlx.Option{gomlx.Inputs("x"), gomlx.Labels("label"), gomlx.Infinite(infinite)}
		for batches := range 4 {
			l := newLoader(t, numbered(10, -1), loader.BatchSize(4), loader.Shuffle(true), loader.Seed(5))
			whole := loop(t, newDataset(t, nil, l, append(options, gomlx.Infinite(true))...), 6)
			ds := newDataset(t, nil, l, options...)
			taken := 0
			if batches > 0 {
				taken = len(loop(t, ds, batches))
			}
			at := ds.Position()
			other := newLoader(t, numbered(10, -1), loader.BatchSize(4), loader.Shuffle(true), loader.Seed(5), loader.Workers(3))
			resumed := newDataset(t, nil, other, append(options, gomlx.From(at))...)
			if got := resumed.Position(); fmt.Sprint(got) != fmt.Sprint(at) {
				t.Errorf("the position is %v, want that of From, %v", got, at)
			}
			var got []int64
			for len(got) < len(whole)-taken {
				got = append(got, loop(t, resumed, 6-batches)...)
			}
			if want := whole[taken:]; !slices.Equal(got[:len(want)], want) {
				t.Errorf("infinite %v, after %d batches: %v, want %v", infinite, batches, got, want)
			}
		}
	}
}

func TestShortBatchesAreFilledUp(t *testing.T) {
	l := newLoader(t, numbered(6, -1), loader.BatchSize(4))
	ds := newDataset(t, goBackend(t), l, gomlx.Inputs("x"), gomlx.Labels("label"), gomlx.PadTo(4))
	var masks [][]bool
	var got [][]int64
	for b, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		if dims := b.Inputs[0].Shape().Dimensions; !slices.Equal(dims, []int{4, 1}) || !slices.Equal(b.Labels[1].Shape().Dimensions, []int{4}) {
			t.Errorf("input %v, mask %v", dims, b.Labels[1].Shape())
		}
		masks = append(masks, tensors.MustCopyFlatData[bool](b.Labels[1]))
		got = append(got, labels(t, b))
	}
	if want := "[[true true true true] [true true false false]]"; fmt.Sprint(masks) != want {
		t.Errorf("masks %v, want %s", masks, want)
	}
	if want := "[[0 1 2 3] [4 5 0 0]]"; fmt.Sprint(got) != want {
		t.Errorf("labels %v, want %s", got, want)
	}
	for _, err := range newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.PadTo(3)).Iter() {
		if want := "gomlx: batch 0 of epoch 0: 4 samples are more than PadTo(3)"; fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestErrorsNameTheirSample(t *testing.T) {
	ds := newDataset(t, nil, newLoader(t, numbered(6, 5), loader.BatchSize(2)), gomlx.Inputs("x"), gomlx.Labels("label"))
	var got []int64
	var failed error
	for b, err := range ds.Iter() {
		if failed = err; err == nil {
			got = append(got, labels(t, b)...)
		}
	}
	var sample *loader.SampleError
	if !errors.As(failed, &sample) || sample.Name != "5.jpg" || !errors.Is(failed, errBroken) || len(got) != 4 {
		t.Errorf("error %v after %v, want that of sample 5 after 4", failed, got)
	}
	if got, want := ds.Position().Draw, 4; got != want {
		t.Errorf("position at %d, want %d", got, want)
	}
}

func TestDoneContextEndsTheLoop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ds := newDataset(t, nil, newLoader(t, numbered(6, -1)), gomlx.Inputs("x"), gomlx.Context(ctx))
	n := 0
	for _, err := range ds.Iter() {
		if n++; n == 2 && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		cancel()
	}
	if n != 2 {
		t.Errorf("%d rounds of the loop, want 2", n)
	}
}

func TestLoopsWithoutDataEnd(t *testing.T) {
	l := newLoader(t, numbered(3, -1), loader.BatchSize(4), loader.DropLast(true))
	for range newDataset(t, nil, l, gomlx.Inputs("x")).Iter() {
		t.Error("a batch of no samples")
	}
	for _, err := range newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Infinite(true)).Iter() {
		if want := "gomlx: Infinite: the loader has no batches"; fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	l.Close()
	for _, err := range newDataset(t, nil, l, gomlx.Inputs("x")).Iter() {
		if !errors.Is(err, loader.ErrClosed) {
			t.Errorf("error %v, want %v", err, loader.ErrClosed)
		}
	}
}

func TestWrongOptionsAreReportedTogether(t *testing.T) {
	l := newLoader(t, numbered(3, -1))
	var none context.Context
	_, err := gomlx.New(nil, l, gomlx.Inputs("image", "text", "none"), gomlx.Labels("uint"), gomlx.PadTo(0), gomlx.Context(none), gomlx.Option{})
	for _, want := range []string{
		`gomlx: Inputs("text"): the field is ragged: want samples of one shape`,
		`gomlx: Inputs("none"): no such field in image uint8 (3, 2, 2), label`,
		`gomlx: Labels("uint"): GoMLX has no dtype uint`,
		"gomlx: PadTo(0): want 1 or more",
		"gomlx: Context: the context is nil",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
	only, err := dataset.Select(numbered(3, -1), "label")
	if err != nil {
		t.Fatal(err)
	}
	for want, make := range map[string]func() (*gomlx.Dataset, error){
		"gomlx: New: the loader is nil":                               func() (*gomlx.Dataset, error) { return gomlx.New(nil, nil) },
		"gomlx: Inputs: want one field or more of label int64 ()":     func() (*gomlx.Dataset, error) { return gomlx.New(nil, newLoader(t, only), gomlx.Labels("label")) },
		`gomlx: Inputs("text"): the field is ragged: want samples of`: func() (*gomlx.Dataset, error) { return gomlx.New(nil, l, gomlx.Labels("uint")) },
	} {
		if ds, err := make(); err == nil || !strings.Contains(err.Error(), want) || ds != nil {
			t.Errorf("got %v, %v, want %s", ds, err, want)
		}
	}
}

func TestNameIsTheOptions(t *testing.T) {
	l := newLoader(t, numbered(3, -1))
	var ds train.Dataset = newDataset(t, nil, l, gomlx.Inputs("x"))
	if got := ds.Name(); got != "penstock" {
		t.Errorf("name %q, want penstock", got)
	}
	if got := newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.Name("train")).Name(); got != "train" {
		t.Errorf("name %q, want train", got)
	}
}
