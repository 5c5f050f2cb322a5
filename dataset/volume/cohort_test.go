package volume_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/loader"
)

// scanOf is an LPS volume of spacing 3×2×1 mm whose voxel k is 10·k + offset.
func scanOf(offset int, shape ...int) *volume.Volume {
	v := placed(shape...)
	values := make([]int16, v.Shape.Elements())
	for i := range values {
		values[i] = int16(10*i + offset)
	}
	v.Dtype, v.Data = dataset.Int16, asBytes(values)
	return v
}

// maskOf is a mask with those voxels set.
func maskOf(shape []int, labels map[int]uint8) *volume.Volume {
	v := placed(shape...)
	v.Dtype, v.Data = dataset.Uint8, make([]byte, v.Shape.Elements())
	for at, label := range labels {
		v.Data[at] = label
	}
	return v
}

func placed(shape ...int) *volume.Volume {
	v := &volume.Volume{Name: "volume", Shape: shape, World: "LPS", Origin: []float64{-5, 6, 7}}
	for k := range shape {
		direction := make([]float64, 3)
		direction[(len(shape)-1-k)%3] = 1
		v.Axes = append(v.Axes, volume.Axis{Spacing: float64(len(shape) - k), Direction: direction})
	}
	return v
}

func asBytes[T dataset.Element](values []T) []byte { return dataset.TensorOf(values).Bytes() }

func nrrdFile(v *volume.Volume, gzip ...bool) *fstest.MapFile {
	var b bytes.Buffer
	if err := volume.WriteNRRD(&b, v, len(gzip) > 0); err != nil {
		panic(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// patients are p0, p1, … of shape (4, 5, 6), with a tumour of labels 1 and 2.
func patients(n int) fstest.MapFS {
	fsys := fstest.MapFS{}
	for p := range n {
		name := fmt.Sprintf("p%d", p)
		fsys[name+"/ct.nrrd"] = nrrdFile(scanOf(p, 4, 5, 6))
		fsys[name+"/tumour.nrrd"] = nrrdFile(maskOf([]int{4, 5, 6}, map[int]uint8{61: 1, 62: 1, 30 + p: 2}))
	}
	return fsys
}

func cohortOf(t testing.TB, fsys fs.FS, options ...volume.Option) *volume.Cohort {
	t.Helper()
	s, err := volume.Open(fsys, append([]volume.Option{
		volume.Scan("ct", "{patient}/ct.nrrd", volume.Fill(-1000)), volume.Mask("tumour", "{patient}/tumour.nrrd")}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A part is a dataset of a cohort.
type part interface {
	dataset.Dataset
	Name(i int) string
}

func cut(t testing.TB) func(dataset.Dataset, error) part {
	return func(ds dataset.Dataset, err error) part {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return ds.(part)
	}
}

func sampleOf(t *testing.T, ds dataset.Dataset, i int) dataset.Sample {
	t.Helper()
	s, err := dataset.At(t.Context(), ds, i)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCutsAreTheSameForAnyNumberOfWorkers loads two epochs.
func TestCutsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	fsys := patients(5)
	hash := func(workers int, cache int64) string {
		h := sha256.New()
		cohort := cohortOf(t, fsys, volume.CacheSize(cache))
		for _, ds := range []dataset.Dataset{
			cut(t)(cohort.Patches([]int{2, 2, 2}, volume.PerPatient(7), volume.Positives("tumour", 0.5))),
			cut(t)(cohort.Slices(t.Context(), volume.Views("sagittal"))),
		} {
			l, err := loader.New(ds, loader.Workers(workers), loader.BatchSize(4), loader.Shuffle(true), loader.Seed(3))
			if err != nil {
				t.Fatal(err)
			}
			for batch, err := range l.Epochs(t.Context(), 0, 2) {
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range ds.Spec() {
					fmt.Fprint(h, batch.Tensor(f.Name).Data())
				}
			}
			l.Close()
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	want := hash(1, 1<<30)
	for _, c := range []struct {
		workers int
		cache   int64
	}{{9, 1 << 30}, {9, 700}, {0, 0}} {
		if got := hash(c.workers, c.cache); got != want {
			t.Errorf("%d workers, %d bytes of cache: other data", c.workers, c.cache)
		}
	}
}

func TestCutsAllocateNothing(t *testing.T) {
	cohort := cohortOf(t, patients(2))
	for _, ds := range []dataset.Dataset{
		cut(t)(cohort.Whole()), cut(t)(cohort.Ragged()), cut(t)(cohort.Slices(t.Context(), volume.Views("sagittal"))),
		cut(t)(cohort.Patches([]int{2, 2, 9}, volume.PerPatient(3), volume.Positives("tumour", 0.5))),
	} {
		r, slot := opened(t, ds)
		i := 0
		place := func() {
			if err := r.Place(t.Context(), i, slot); err != nil {
				t.Fatal(err)
			}
			i = (i + 1) % ds.Len()
		}
		for range ds.Len() {
			place()
		}
		if n := allocs.PerRun(0, 100, place); n != 0 {
			t.Errorf("%v: %v allocations per sample", ds, n)
		}
	}
}

func TestCohortsPrintTheirPlan(t *testing.T) {
	cohort := cohortOf(t, patients(2), volume.CacheSize(1<<20), volume.Scan("pet", "{patient}/pet.nrrd", volume.Optional()),
		volume.Patients(volume.Patient{Name: "p1"}, volume.Patient{Name: "p0", Files: map[string]string{"pet": "p1/ct.nrrd"}}))
	ds := cut(t)(cohort.Patches([]int{2, 3, 4}, volume.PerPatient(5), volume.Positives("tumour", 1./3)))
	want := `
2 patients
  read      ct from {patient}/ct.nrrd
  read      tumour from {patient}/tumour.nrrd
  read      pet from {patient}/pet.nrrd (optional)
  cache     up to 1 MiB of 960 B
  cut       Patches(2, 3, 4), 5 per patient, 33.33 % on tumour: 10 samples
  store     ct float32 (1, 2, 3, 4), tumour uint8 (1, 2, 3, 4), pet float32 (1, 2, 3, 4)`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), fmt.Sprintf("%v", ds)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}
