package transform_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/transform"
)

// slotsOf are the samples of a dataset.
func slotsOf(t testing.TB, ds dataset.Dataset) (all []dataset.Slot) {
	t.Helper()
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range ds.Len() {
		slot := dataset.NewSlot(ds.Spec()...)
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		all = append(all, slot)
	}
	return all
}

func TestSingleSamplesAreThoseOfImages(t *testing.T) {
	for _, list := range [][]transform.Item{
		parts(transform.Resize([2]int{60, 80}), transform.RandomHorizontalFlip(0.5), transform.RandomRotation(-30, 30), transform.SanitizeBoundingBoxes(), transform.ToTensor()),
		parts(transform.RandomShortestSize([]int{40, 50}), transform.RandomIoUCrop(), transform.Ragged(), transform.Sizes("size")),
		parts(transform.Views(2, transform.RandomResizedCrop(32), transform.ToTensor())),
	} {
		ds := scenes(t, 8)
		x, err := transform.Images(ds, list...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := transform.Compile(append([]transform.Item{transform.Inputs(ds.Spec())}, list...)...)
		if err != nil {
			t.Fatal(err)
		}
		want := slotsOf(t, x)
		given := slotsOf(t, ds)
		var several sync.WaitGroup
		for i, from := range given {
			several.Go(func() {
				got := dataset.NewSlot(c.Spec()...)
				for range 3 { // nothing is left of the sample before
					if err := c.IntoSample(got, from, 0); err != nil {
						t.Error(err)
						return
					}
				}
				for k, f := range c.Spec() {
					if !bytes.Equal(got.Cell(k).Bytes(), want[i].Cell(k).Bytes()) {
						t.Errorf("sample %d: field %v differs from that of Images", i, f)
					}
				}
			})
		}
		several.Wait()
	}
}

func TestSeedsOfSingleSamplesMatter(t *testing.T) {
	ds := scenes(t, 1)
	c, err := transform.Compile(append([]transform.Item{transform.Inputs(ds.Spec())}, parts(transform.RandomResizedCrop(16))...)...)
	if err != nil {
		t.Fatal(err)
	}
	from, seen := slotsOf(t, ds)[0], map[string]bool{}
	for seed := range uint64(4) {
		dst := dataset.NewSlot(c.Spec()...)
		if err := c.IntoSample(dst, from, seed); err != nil {
			t.Fatal(err)
		}
		seen[string(dst.Cell(0).Bytes())] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d results of 4 seeds", len(seen))
	}
}

func TestSingleSamplesAllocateNothing(t *testing.T) {
	ds := scenes(t, 1)
	c, err := transform.Compile(append([]transform.Item{transform.Inputs(ds.Spec())}, parts(transform.Resize([2]int{40, 40}), transform.RandomHorizontalFlip(0.5), transform.ToTensor())...)...)
	if err != nil {
		t.Fatal(err)
	}
	from, dst := slotsOf(t, ds)[0], dataset.NewSlot(c.Spec()...)
	apply := func() {
		if err := c.IntoSample(dst, from, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 * runtime.GOMAXPROCS(0) {
		apply() // twice for every goroutine that may work
	}
	if n := allocs.PerRun(0, 50, apply); n > 0 {
		t.Errorf("%v allocations per sample", n)
	}
}

func TestWrongSingleSamplesAreErrors(t *testing.T) {
	ds := scenes(t, 1)
	spec := ds.Spec()
	failing := step(func(*transform.Sample, *rand.Rand) error { panic("own") })
	c, err := transform.Compile(append([]transform.Item{transform.Inputs(spec)}, parts(transform.CenterCrop(16))...)...)
	if err != nil {
		t.Fatal(err)
	}
	from, dst := slotsOf(t, ds)[0], dataset.NewSlot(c.Spec()...)
	for want, call := range map[string]func() error{
		"transform: the result has 1 fields":                       func() error { return c.IntoSample(dst.Fields(0, 1), from, 0) },
		"transform: the sample has a cell of 768 bytes for field ": func() error { return c.IntoSample(dst, dst, 0) },
		"mask \"mask\": the file is empty": func() error {
			empty := slotsOf(t, ds)[0]
			dataset.Grow[uint8](empty, 4, 0)
			return c.IntoSample(dst, empty, 0)
		},
		"no fields": func() error {
			_, err := transform.Compile(transform.Inputs(nil), transform.CenterCrop(16))
			return err
		},
		`the dataset has no field "masks"`: func() error {
			_, err := transform.Compile(transform.Inputs(spec), transform.Mask("masks"), transform.CenterCrop(16))
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// A panic of an own step does not take a reader away.
	panics, err := transform.Compile(transform.Inputs(dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 2, 3}}}), transform.Apply(failing), transform.CenterCrop(1))
	if err != nil {
		t.Fatal(err)
	}
	for range 1 + runtime.GOMAXPROCS(0) { // more than there are readers
		one, out := dataset.NewSlot(dataset.Field{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 2, 3}}), dataset.NewSlot(panics.Spec()...)
		if err := panics.IntoSample(out, one, 0); err == nil || !strings.Contains(err.Error(), "panic: own") {
			t.Errorf("got %v, want the panic", err)
		}
	}
}
