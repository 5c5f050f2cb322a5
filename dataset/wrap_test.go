package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// able is a dataset that has every optional method. Sample i has the class i, and an image of
// i+1 bytes, which need not be placed.
type able struct {
	unknown bool
	bad     int // the sample that fails; none if 0
	told    atomic.Int32
	awaited atomic.Int32
	batches atomic.Int32
	parts   atomic.Int32
}

const ableLen = 12

var errAble = errors.New("unable")

func (a *able) Len() int {
	if a.unknown {
		return dataset.Unknown
	}
	return ableLen
}

func (a *able) Spec() dataset.Spec {
	return dataset.Spec{{Name: "class", Dtype: dataset.Int64}, {Name: "image", Dtype: dataset.Uint8, Ragged: true}}
}

func (a *able) Name(i int) string { return fmt.Sprintf("bird-%d", i) }

func (a *able) Foresee(f dataset.Future) (stop func()) {
	a.told.Add(1)
	return func() { a.told.Add(1) }
}

func (a *able) Await(context.Context, int, <-chan struct{}) (have int, ended bool, err error) {
	a.awaited.Add(1)
	return ableLen, true, nil
}

func (a *able) Open() (dataset.Reader, error) { return ableReader{a}, nil }

type ableReader struct{ *able }

func (r ableReader) Close() error { return nil }

func (r ableReader) Place(_ context.Context, i int, dst dataset.Slot) error {
	if i == r.bad && i > 0 {
		return errAble
	}
	dataset.Set(dst, 0, int64(i))
	for k, image := 0, dataset.Grow[uint8](dst, 1, i+1); k < len(image); k++ {
		image[k] = byte(i)
	}
	return nil
}

func (r ableReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	r.batches.Add(1)
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func (r ableReader) PlaceParts(_ context.Context, i, _ int, dst dataset.Slot) (int, io.ReaderAt, error) {
	r.parts.Add(1)
	dataset.Set(dst, 0, int64(i))
	return i + 1, r, nil
}

func (r ableReader) ReadAt(to []byte, _ int64) (int, error) { return len(to), nil }

// birds is a dataset as a user writes it around another one.
type birds struct {
	dataset.Wrap
	species []string
}

func (b birds) Species() []string { return b.species }

// wrapped are the datasets that the library makes of another one, and what becomes of the rest.
var wrapped = []struct {
	name           string
	of             func(a dataset.Dataset) (dataset.Dataset, error)
	stream         bool // whether the length may be unknown
	batches, parts bool // whether Readers place batches, and leave out images
}{
	{"Wrap", func(a dataset.Dataset) (dataset.Dataset, error) { return birds{Wrap: dataset.Wrap{Dataset: a}}, nil }, true, true, true},
	{"Rename", func(a dataset.Dataset) (dataset.Dataset, error) {
		return dataset.Rename(a, map[string]string{"image": "photo"})
	}, true, true, true},
	{"Select", func(a dataset.Dataset) (dataset.Dataset, error) { return dataset.Select(a, "class", "image") }, true, true, true},
	{"Map", func(a dataset.Dataset) (dataset.Dataset, error) {
		return dataset.Map(a, a.Spec(), func(_, _ dataset.Slot) error { return nil })
	}, true, true, false}, // the function may read the image
	{"a Wrap of a Map", func(a dataset.Dataset) (dataset.Dataset, error) {
		m, err := dataset.Map(a, a.Spec(), func(_, _ dataset.Slot) error { return nil })
		return birds{Wrap: dataset.Wrap{Dataset: m}}, err
	}, true, true, false},
	{"Subset", func(a dataset.Dataset) (dataset.Dataset, error) { return dataset.Subset(a, []int{1, 2, 3}) }, false, true, true},
	{"Concat", func(a dataset.Dataset) (dataset.Dataset, error) { return dataset.Concat(a, a) }, false, true, true},
	{"Zip", func(a dataset.Dataset) (dataset.Dataset, error) { return dataset.Zip(a) }, false, true, true},
	{"RandomSplit", func(a dataset.Dataset) (dataset.Dataset, error) {
		parts, err := dataset.RandomSplit(a, []int{4, 8}, 1)
		if err != nil {
			return nil, err
		}
		return parts[1], nil
	}, false, true, true},
	{"Cached", func(a dataset.Dataset) (dataset.Dataset, error) { return dataset.Cached(a, 1<<20) }, false, false, false}, // it keeps the image
	{"transform.Images", func(a dataset.Dataset) (dataset.Dataset, error) {
		return transform.Images(a, transform.Resize(8), transform.CenterCrop(8))
	}, true, true, false}, // it reads images together, if there is a choice
	{"packed.Photos", func(a dataset.Dataset) (dataset.Dataset, error) { return packed.Photos(a, 0) }, true, false, false}, // it decodes images one by one
}

func TestNoWrapperLosesAnAbility(t *testing.T) {
	for _, c := range wrapped {
		a := &able{}
		ds, err := c.of(a)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := dataset.Name(ds, 1); !strings.HasPrefix(got, "bird-") {
			t.Errorf("%s: sample 1 is named %q", c.name, got)
		}
		if stop := dataset.Foresee(ds, datatest.Future{{1}}); stop == nil {
			t.Errorf("%s: the future is not passed on", c.name)
		} else if stop(); a.told.Load()%2 != 0 {
			t.Errorf("%s: its end is not passed on", c.name)
		}
		r := datatest.Open(t, ds)
		if _, ok := r.(dataset.BatchReader); ok != c.batches {
			t.Errorf("%s: places batches: %v, want %v", c.name, ok, c.batches)
		}
		if p, ok := r.(dataset.PartReader); c.parts {
			if !ok {
				t.Fatalf("%s: leaves out no field", c.name)
			}
			if n, parts, err := p.PlaceParts(t.Context(), 1, 1, dataset.NewSlot(ds.Spec()...)); err != nil || parts == nil || n < 1 {
				t.Errorf("%s: an image of %d bytes with the parts %v, %v", c.name, n, parts, err)
			}
		}
		stream := &able{unknown: true}
		switch ds, err := c.of(stream); {
		case (err == nil) != c.stream:
			t.Errorf("%s of a stream: %v", c.name, err)
		case c.stream:
			if have, ended, err := ds.(dataset.Awaiter).Await(t.Context(), 1, nil); have != ableLen || !ended || err != nil || stream.awaited.Load() != 1 {
				t.Errorf("%s of a stream: awaits %d, %v, %v", c.name, have, ended, err)
			}
		}
	}
}

// voxels has the optional methods of able, and volumes.
type voxels struct{ *able }

func (voxels) Spec() dataset.Spec {
	return dataset.Spec{{Name: "scan", Dtype: dataset.Float32, Shape: dataset.Shape{1, 4, 4, 4}}}
}

func TestAugmentedVolumesLoseNoAbility(t *testing.T) {
	a := &able{unknown: true}
	ds, err := volume.Augment(voxels{a}, volume.ScanFields("scan"), volume.RandomFlip(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := dataset.Name(ds, 1); got != "bird-1" {
		t.Errorf("sample 1 is named %q", got)
	}
	if stop := dataset.Foresee(ds, datatest.Future{{1}}); stop == nil {
		t.Error("the future is not passed on")
	}
	if have, ended, err := dataset.Await(t.Context(), ds, 1, nil); have != ableLen || !ended || err != nil {
		t.Errorf("awaits %d, %v, %v", have, ended, err)
	}
}

// TestAWrapperOfAUserLoadsAsWhatItWraps: its samples have names, its store knows the future, its
// length may be unknown, and it is placed in batches.
func TestAWrapperOfAUserLoadsAsWhatItWraps(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		a := &able{unknown: unknown}
		l, err := loader.New(birds{Wrap: dataset.Wrap{Dataset: a}}, loader.BatchSize(5), loader.Workers(2))
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, loader.Values[int64](b, "class")...)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !slices.Equal(got, want) {
			t.Errorf("unknown length %v: got %v", unknown, got)
		}
		if a.batches.Load() == 0 || (a.awaited.Load() > 0) != unknown || (a.told.Load() == 2) == unknown {
			t.Errorf("unknown length %v: %d batches, awaited %d times, told and stopped %d times", unknown, a.batches.Load(), a.awaited.Load(), a.told.Load())
		}
	}
	l, err := loader.New(birds{Wrap: dataset.Wrap{Dataset: &able{bad: 7}}}, loader.BatchSize(5))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var last error
	for _, err := range l.Epoch(t.Context(), 0) {
		last = err
	}
	if !errors.Is(last, errAble) || !strings.Contains(last.Error(), "bird-7") {
		t.Errorf("error %v, want one of bird-7", last)
	}
}

// TestAWrapAddsNoAbility: a dataset without the optional methods stays as it is.
func TestAWrapAddsNoAbility(t *testing.T) {
	ds := birds{Wrap: dataset.Wrap{Dataset: dataset.Func(3, dataset.Spec{{Name: "x", Dtype: dataset.Int}}, never)}}
	if name, stop := dataset.Name(ds, 0), dataset.Foresee(ds, datatest.Future{{0}}); name != "" || stop != nil {
		t.Errorf("name %q, Foresee %v", name, stop != nil)
	}
	r := datatest.Open(t, ds)
	if _, ok := r.(dataset.BatchReader); ok {
		t.Error("its Readers place batches")
	}
	if _, ok := r.(dataset.PartReader); ok {
		t.Error("its Readers leave out fields")
	}
	if have, ended, err := ds.Await(t.Context(), 1, nil); have != 3 || !ended || err != nil {
		t.Errorf("awaits %d, %v, %v", have, ended, err)
	}
}
