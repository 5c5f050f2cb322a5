package volume_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/loader"
)

// scanOf is an LPS volume of spacing 3×2×1 mm whose voxel k is 10·k + offset.
func scanOf(offset int, shape ...int) *volume.Volume {
	v := placed(shape...)
	values := make([]int16, v.Elements())
	for i := range values {
		values[i] = int16(10*i + offset)
	}
	v.Dtype, v.Data = tensor.Int16, asBytes(values)
	return v
}

// maskOf is a mask with those voxels set.
func maskOf(shape []int, labels map[int]uint8) *volume.Volume {
	v := placed(shape...)
	v.Dtype, v.Data = tensor.Uint8, make([]byte, v.Elements())
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

func asBytes(values any) []byte {
	d := tensor.New(tensor.WithBacking(values))
	f := dataset.Field{Name: "x", Dtype: d.Dtype(), Shape: d.Shape()}
	slot := dataset.NewSlot(f)
	ds, err := dataset.Tensors(dataset.Named("x", tensor.New(tensor.WithShape(append([]int{1}, d.Shape()...)...), tensor.WithBacking(values))))
	if err != nil {
		panic(err)
	}
	r, err := ds.Open()
	if err != nil {
		panic(err)
	}
	if err := r.Place(context.Background(), 0, slot); err != nil {
		panic(err)
	}
	return slot.Cell(0).Bytes()
}

func nrrdFile(v *volume.Volume, options ...volume.WriteOption) *fstest.MapFile {
	var b bytes.Buffer
	if err := volume.WriteNRRD(&b, v, options...); err != nil {
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

func cut(t testing.TB) func(*volume.Cut, error) *volume.Cut {
	return func(c *volume.Cut, err error) *volume.Cut {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
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
		for _, ds := range []*volume.Cut{
			cut(t)(cohort.Patches([]int{2, 2, 2}, volume.PerPatient(7), volume.Positives("tumour", 0.5))),
			cut(t)(cohort.Slices(t.Context(), volume.Views(volume.Sagittal))),
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

// openCounter counts how often files are opened.
type openCounter struct {
	fs.FS
	mu    sync.Mutex
	opens map[string]int
}

func (c *openCounter) Open(name string) (fs.File, error) {
	c.mu.Lock()
	c.opens[name]++
	c.mu.Unlock()
	return c.FS.Open(name)
}

func TestVolumesAreDecodedOnce(t *testing.T) {
	fsys := &openCounter{FS: patients(3), opens: map[string]int{}}
	cohort := cohortOf(t, fsys)
	headers := maps.Clone(fsys.opens)
	_, release, err := cohort.Load(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	release()
	once := fsys.opens["p0/ct.nrrd"] - headers["p0/ct.nrrd"]
	if once < 1 {
		t.Fatal("Load opened nothing")
	}
	ds := cut(t)(cohort.Slices(t.Context()))
	var group sync.WaitGroup
	for range 9 {
		r, slot := opened(t, ds)
		group.Go(func() {
			for i := range ds.Len() {
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for p := range 3 {
		name := fmt.Sprintf("p%d/ct.nrrd", p)
		if got := fsys.opens[name] - headers[name]; got != once {
			t.Errorf("%s was opened %d times for its values, want %d", name, got, once)
		}
	}
	got := cohort.Stats()
	want := volume.CacheStats{Hits: 9*12 - 2, Misses: 3, Patients: 3, Bytes: 3 * 120 * 3, Limit: 2 << 30}
	if got, line := want.String(), "3 patients in 1.1 KiB, limit 2 GiB, 106 hits, 3 misses, 0 evictions"; got != line {
		t.Errorf("stats print as %s, want %s", got, line)
	}
	if got != want || cohort.Bytes() != got.Bytes {
		t.Errorf("got %#v, want %#v; the cohort has %d bytes", got, want, cohort.Bytes())
	}
}

func TestCutsAllocateNothing(t *testing.T) {
	cohort := cohortOf(t, patients(2))
	for _, ds := range []*volume.Cut{
		cut(t)(cohort.Whole()), cut(t)(cohort.Ragged()), cut(t)(cohort.Slices(t.Context(), volume.Views(volume.Sagittal))),
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

func TestCanceledPlaceReturns(t *testing.T) {
	ds := cut(t)(cohortOf(t, patients(1)).Whole())
	r, slot := opened(t, ds)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Place(ctx, 0, slot); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCorruptVolumeNamesPatientAndFile(t *testing.T) {
	fsys := patients(2)
	file := fsys["p1/ct.nrrd"]
	file.Data = file.Data[:len(file.Data)-7]
	ds := cut(t)(cohortOf(t, fsys).Slices(t.Context()))
	l, err := loader.New(ds, loader.Workers(3), loader.BatchSize(8))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, err = range l.Epoch(t.Context(), 0) {
		if err != nil {
			break
		}
	}
	for _, part := range []string{"p1, axial slice 0", "volume: patient p1, ct (p1/ct.nrrd)"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q in it", err, part)
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

// halting cancels its context with the third read and counts what follows.
type halting struct {
	fs.FS
	cancel context.CancelFunc
	reads  int
}

func (h *halting) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	if err != nil || name == "." {
		return f, err
	}
	return haltingFile{f, h}, nil
}

type haltingFile struct {
	fs.File
	*halting
}

func (f haltingFile) Read(p []byte) (int, error) {
	if f.reads++; f.reads == 3 {
		f.cancel()
	}
	return f.File.Read(p[:min(len(p), 1000)])
}

func (f haltingFile) Open(string) (fs.File, error) { panic("not used") }

func TestDecodingEndsSoonAfterItIsCanceled(t *testing.T) {
	for _, options := range [][]volume.WriteOption{nil, {volume.Gzip()}} {
		fsys := &halting{FS: fstest.MapFS{"p.nrrd": nrrdFile(scanOf(0, 20, 50, 50), options...)}, cancel: func() {}}
		s, err := volume.Open(fsys, volume.Scan("ct", "{patient}.nrrd"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		fsys.cancel, fsys.reads = cancel, 0
		if _, _, err := s.Load(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if fsys.reads != 3 {
			t.Errorf("%d reads, cancelled at the third", fsys.reads)
		}
	}
}
