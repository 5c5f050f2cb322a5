package volume_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/loader"
)

// cohort has three patients with scans (4, 6, 6) of values 0, 1, 2, …, and a mask
// with the remainders of 7.
func cohort(t testing.TB, options ...volume.Option) *volume.Cohort {
	t.Helper()
	fsys := fstest.MapFS{}
	for p := range 3 {
		for _, name := range []string{"ct", "mask"} {
			v := made(name, false, []int{4, 6, 6}, []float64{3, 1, 1}, func(i int) int16 {
				if name == "mask" {
					return int16(i % 7)
				}
				return int16(i)
			})
			var b bytes.Buffer
			if err := volume.WriteNRRD(&b, v, false); err != nil {
				t.Fatal(err)
			}
			fsys[fmt.Sprintf("p%d/%s.nrrd", p, name)] = &fstest.MapFile{Data: b.Bytes()}
		}
	}
	s, err := volume.Open(fsys, append([]volume.Option{
		volume.Scan("ct", "{patient}/ct.nrrd"), volume.Mask("mask", "{patient}/mask.nrrd")}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func whole(t testing.TB, options ...volume.Option) dataset.Dataset {
	t.Helper()
	ds, err := cohort(t, options...).Whole()
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func samples(t testing.TB, ds dataset.Dataset, steps ...volume.Step) dataset.Dataset {
	t.Helper()
	x, err := volume.Augment(ds, steps...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// draws places sample 0 for n draws and passes its fields to a function.
func draws(t *testing.T, ds dataset.Dataset, n int, use func(ct []float32, mask []uint8)) {
	t.Helper()
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := dataset.NewSlot(ds.Spec()...)
	for i := range n {
		datatest.Reset(s, 9, 0, i)
		if err := r.Place(t.Context(), 0, s); err != nil {
			t.Fatal(err)
		}
		use(dataset.Row[float32](s, 0), dataset.Row[uint8](s, 1))
	}
}

func TestRandomStepsMoveImageAndMaskTogether(t *testing.T) {
	ds := whole(t)
	for _, c := range []struct {
		steps  []volume.Step
		places int // different results of 3000 draws
	}{
		{[]volume.Step{volume.RandomFlip(0.5)}, 8},
		{[]volume.Step{volume.RandomFlip(0.5, 0, -1)}, 4},
		{[]volume.Step{volume.RandomFlip(1, 1)}, 1},
		{[]volume.Step{volume.RandomRotate90(0.75, 1, 2)}, 4},
		{[]volume.Step{volume.RandomRotate90(1, 1, 2)}, 3},
		{[]volume.Step{volume.RandomFlip(0.5, 0), volume.RandomRotate90(0.75, 2, 1)}, 2 * 4},
	} {
		x := samples(t, ds, c.steps...)
		seen := map[string]int{}
		draws(t, x, 3000, func(ct []float32, mask []uint8) {
			seen[fmt.Sprint(ct)]++
			used := map[float32]bool{}
			for i, v := range ct {
				if uint8(int(v)%7) != mask[i] || used[v] {
					t.Fatalf("%v: voxel %v has label %d, or comes twice", x, v, mask[i])
				}
				used[v] = true
			}
		})
		if len(seen) != c.places {
			t.Errorf("%v: %d different results, want %d", c.steps, len(seen), c.places)
		}
		for _, n := range seen {
			if p := float64(3000 / c.places); c.places < 10 && (float64(n) < p/2 || float64(n) > 2*p) {
				t.Errorf("%v: results %d times of 3000, want each about %v", c.steps, n, p)
			}
		}
	}
}

// TestRotationsAreThoseOfNumPy rotates a square: numpy.rot90 of [[1, 2], [3, 4]] with k from 1 to 3.
func TestRotationsAreThoseOfNumPy(t *testing.T) {
	ds, err := dataset.Tensors(dataset.Named("x", dataset.TensorOf([]float32{1, 2, 3, 4}, 1, 1, 2, 2)), dataset.Named("y", dataset.TensorOf([]uint8{1, 2, 3, 4}, 1, 1, 2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	draws(t, samples(t, ds, volume.ScanFields("x"), volume.MaskFields("y"), volume.RandomRotate90(1, 0, 1)), 50, func(x []float32, y []uint8) { seen[fmt.Sprint(x, y)] = true })
	want := map[string]bool{"[2 4 1 3] [2 4 1 3]": true, "[4 3 2 1] [4 3 2 1]": true, "[3 1 4 2] [3 1 4 2]": true}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestPreparationRunsOncePerPatient(t *testing.T) {
	s := cohort(t, volume.Prepare(volume.Resample(1.5, 0, 0), volume.Window(72, 144), volume.PadOrCrop(8, 4, 4)))
	patches, err := s.Patches([]int{8, 2, 2}, volume.PerPatient(30))
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(patches, loader.Workers(5), loader.BatchSize(7), loader.Shuffle(true))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range dataset.ValuesOf[float32](batch.Tensor("ct")) {
			if x < 0 || x > 1 {
				t.Fatalf("value %v", x)
			}
		}
	}
	if got := s.Stats(); got.Misses != 3 || got.Bytes != 3*8*4*4*(4+1) {
		t.Errorf("got %+v", got)
	}
}

func TestSamplesAllocateNothing(t *testing.T) {
	x := samples(t, whole(t), volume.Window(40, 400), volume.RandomFlip(0.5), volume.ZScore(), volume.MinMax().Nonzero(), volume.RandomRotate90(0.5, 1, 2))
	r, err := x.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(x.Spec()...)
	i := 0
	place := func() {
		datatest.Reset(slot, 1, 0, i)
		if err := r.Place(t.Context(), 0, slot); err != nil {
			t.Fatal(err)
		}
		i++
	}
	place()
	if n := allocs.PerRun(0, 200, place); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
}

func TestPlanShowsTheSteps(t *testing.T) {
	ds := whole(t, volume.Prepare(volume.Resample(3, 2, 2), volume.Window(40, 400)))
	x := samples(t, ds, volume.RandomFlip(0.5, 0), volume.RandomRotate90(0.5, 1, 2), volume.MinMax())
	want := `
3 patients
  read      ct from {patient}/ct.nrrd
  read      mask from {patient}/mask.nrrd
  prepare   Resample(3, 2, 2), Window(40, 400), once per patient
  cache     up to 2 GiB of 648 B
  cut       Whole(): 3 samples
  store     ct float32 (1, 4, 3, 3), mask uint8 (1, 4, 3, 3)
  augment   RandomFlip(0.5, 0)
  augment   RandomRotate90(0.5, 1, 2)
  augment   MinMax()`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), fmt.Sprintf("%v", x)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// TestFieldsOfAnyDatasetCanBeNamed augments a dataset of tensors.
func TestFieldsOfAnyDatasetCanBeNamed(t *testing.T) {
	ds, err := dataset.Tensors(
		dataset.Named("x", dataset.TensorOf([]float32{1, 2, 3, 4}, 1, 1, 2, 2)),
		dataset.Named("y", dataset.TensorOf([]uint16{5, 6, 7, 8}, 1, 1, 2, 2)),
		dataset.Named("v", dataset.TensorOf([]float32{1, 2, 3, 4}, 1, 1, 1, 4)),
		dataset.Named("z", []uint8{9}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), samples(t, ds, volume.ScanFields("x"), volume.MaskFields("y"), volume.RandomFlip(1, 1), volume.MinMax()), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(s["x"].Data(), s["y"].Data(), s["z"].Data()), "[0.33333334 0 1 0.6666667] [6 5 8 7] 9"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct {
		steps []volume.Step
		want  string
	}{
		{nil, "hold volumes? Name them with ScanFields and MaskFields"},
		{[]volume.Step{volume.ScanFields("w")}, `no field "w"`},
		{[]volume.Step{volume.ScanFields("z")}, "want (channels, z, y, x)"},
		{[]volume.Step{volume.ScanFields("x", "x")}, "want it named once"},
		{[]volume.Step{volume.ScanFields("y"), volume.ZScore()}, "the steps make float32 of field y uint16 (1, 2, 2)"},
		{[]volume.Step{volume.ScanFields("x"), volume.Resample(1)}, "it is for whole volumes: use it in Prepare"},
		{[]volume.Step{volume.ScanFields("x"), volume.PadOrCrop(3)}, "it is for whole volumes: use it in Prepare"},
		{[]volume.Step{volume.ScanFields("x"), volume.RandomRotate90(1, 1, -1)}, "want two different axes"},
		{[]volume.Step{volume.ScanFields("v"), volume.RandomRotate90(1, 0, 1)}, "axes of 1 and 4 voxels"},
		{[]volume.Step{volume.ScanFields("x"), volume.RandomFlip(2), volume.RandomFlip(1, 2)}, "want a probability from 0 to 1"},
		{[]volume.Step{volume.ScanFields("x"), volume.RandomFlip(1, 2)}, "axis 2 is out of range: there are 2"},
		{[]volume.Step{volume.ScanFields("x"), volume.MinMax().Only("y")}, `no volume is named "y"`},
	} {
		if _, err := volume.Augment(ds, c.steps...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q in it", c.steps, err, c.want)
		}
	}
	if _, err := volume.Augment(nil, volume.MinMax()); fmt.Sprint(err) != "volume: Augment: the dataset is nil" {
		t.Errorf("no dataset: got %v", err)
	}
}

// noise adds normal noise to scans.
func noise(vs []*volume.Volume, r *rand.Rand) error {
	for _, v := range vs {
		if v.Mask {
			continue
		}
		for i, values := 0, dense.Values[float32](v.Data); i < len(values); i++ {
			values[i] += float32(0.1 * r.NormFloat64())
		}
	}
	return nil
}

func TestSamplesAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	patches, err := cohort(t).Patches([]int{3, 4, 4}, volume.PerPatient(8), volume.Positives("mask", 0.5, 3))
	if err != nil {
		t.Fatal(err)
	}
	x := samples(t, patches, volume.RandomFlip(0.5), volume.RandomRotate90(0.5, 1, 2), volume.Apply("noise", noise))
	load := func(workers int) (text string) {
		l, err := loader.New(x, loader.Workers(workers), loader.BatchSize(5), loader.Shuffle(true), loader.Seed(1))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for batch, err := range l.Epochs(t.Context(), 0, 2) {
			if err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprint(batch.Tensor("ct").Data(), batch.Tensor("mask").Data())
		}
		return text
	}
	if load(1) != load(9) {
		t.Error("1 and 9 workers: other data")
	}
}

func TestSamplesOfAStreamAreAwaited(t *testing.T) {
	ds := samples(t, datatest.Unknown{Dataset: whole(t)}, volume.ScanFields("ct"), volume.MaskFields("mask"), volume.RandomFlip(0.5))
	if have, ended, err := dataset.Await(t.Context(), ds, 99, nil); have != 3 || !ended || err != nil {
		t.Errorf("got %d, %v, %v", have, ended, err)
	}
}

func TestFieldsOfAnyDtypeAreFlipped(t *testing.T) {
	ds, err := dataset.Tensors(dataset.Named("bool", dataset.TensorOf([]bool{true, false, false}, 1, 1, 1, 3)),
		dataset.Named("complex64", dataset.TensorOf([]complex64{1, 2i, 3}, 1, 1, 1, 3)), dataset.Named("complex128", dataset.TensorOf([]complex128{1, 2i, 3}, 1, 1, 1, 3)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), samples(t, ds, volume.ScanFields("bool", "complex64", "complex128"), volume.RandomFlip(1, -1)), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(s["bool"].Data(), s["complex64"].Data(), s["complex128"].Data()), "[false false true] [(3+0i) (0+2i) (1+0i)] [(3+0i) (0+2i) (1+0i)]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
