package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
)

// must fails the test if a combination is an error.
func must(ds dataset.Dataset, err error) dataset.Dataset {
	if err != nil {
		panic(err)
	}
	return ds
}

// twice puts a field with the double of every value before the field of a journal.
func twice(j journal) dataset.Spec {
	return append(dataset.Spec{{Name: "double", Dtype: dataset.Int}}, j.Spec()...)
}

func double(dst, src dataset.Slot) error {
	if got := dataset.Row[int](dst, 0)[0]; got != 0 {
		return fmt.Errorf("a field that is to be made holds %d", got)
	}
	dataset.Set(dst, 0, 2*dataset.Row[int](src, 0)[0])
	return nil
}

// widened replaces the field "a" by fields computed from it.
var widened = dataset.Spec{{Name: "a", Dtype: dataset.Int64}, {Name: "all", Dtype: dataset.Uint8, Ragged: true}}

func widen(dst, src dataset.Slot) error {
	a := dataset.Row[int32](src, 0)[0]
	dataset.Set(dst, 0, int64(a))
	dataset.Grow[uint8](dst, 1, int(a))
	return nil
}

func TestCombinationsPassEverythingOn(t *testing.T) {
	var log []string
	one, two := journal{id: 1, n: 3, log: &log}, journal{id: 2, n: 3, log: &log}
	fast := journal{id: 3, n: 3, batches: true, log: &log}
	for _, c := range []struct {
		name    string
		ds      dataset.Dataset
		indices []int
		want    [][]int
		sample  string // name of the sample at the last index
		alone   string // what Place of every index does
		batch   string // what PlaceBatch does, or "" if Open returns no BatchReader
	}{
		{
			"Subset", must(dataset.Subset(one, []int{2, 0, 2})), []int{1, 2}, [][]int{{10}, {12}},
			"1.2", "1: place 0, 1: place 2", "",
		},
		{
			"Subset in batches", must(dataset.Subset(fast, []int{2, 0, 2})), []int{1, 2}, [][]int{{30}, {32}},
			"3.2", "3: place 0, 3: place 2", "3: batch [0 2] of 2",
		},
		{
			"Concat", must(dataset.Concat(one, two)), []int{3, 0, 5, 2}, [][]int{{20}, {10}, {22}, {12}},
			"1.2", "2: place 0, 1: place 0, 2: place 2, 1: place 2", "",
		},
		{
			"Concat partly in batches", must(dataset.Concat(one, fast)), []int{3, 0, 5, 2}, [][]int{{30}, {10}, {32}, {12}},
			"1.2", "3: place 0, 1: place 0, 3: place 2, 1: place 2",
			"1: place 0, 1: place 2, 3: batch [0 2] of 2",
		},
		{
			"Zip", must(dataset.Zip(one, y(two))), []int{2, 0}, [][]int{{12, 22}, {10, 20}},
			"1.0", "1: place 2, 2: place 2, 1: place 0, 2: place 0", "",
		},
		{
			"Zip partly in batches", must(dataset.Zip(one, y(fast))), []int{2, 0}, [][]int{{12, 32}, {10, 30}},
			"1.0", "1: place 2, 3: place 2, 1: place 0, 3: place 0",
			"1: place 2, 1: place 0, 3: batch [2 0] of 2",
		},
		{
			"Map", must(dataset.Map(one, twice(one), double)), []int{2, 0}, [][]int{{24, 12}, {20, 10}},
			"1.0", "1: place 2, 1: place 0", "",
		},
		{
			"Map in batches", must(dataset.Map(fast, twice(fast), double)), []int{2, 0}, [][]int{{64, 32}, {60, 30}},
			"3.0", "3: place 2, 3: place 0", "3: batch [2 0] of 2",
		},
		{
			"Map of a dropped field in batches", must(dataset.Map(fast, twice(fast)[:1], double)), []int{2, 0}, [][]int{{64}, {60}},
			"3.0", "3: place 2, 3: place 0", "3: batch [2 0] of 2",
		},
		{
			"Select", must(dataset.Select(must(dataset.Zip(one, y(fast))), "y", "x")), []int{2, 0}, [][]int{{32, 12}, {30, 10}},
			"1.0", "1: place 2, 3: place 2, 1: place 0, 3: place 0",
			"1: place 2, 1: place 0, 3: batch [2 0] of 2",
		},
		{
			"Select of one field", must(dataset.Select(must(dataset.Zip(one, y(two))), "y")), []int{2, 0}, [][]int{{22}, {20}},
			"1.0", "1: place 2, 2: place 2, 1: place 0, 2: place 0", "",
		},
		{
			"Rename", y(fast), []int{2, 0}, [][]int{{32}, {30}},
			"3.0", "3: place 2, 3: place 0", "3: batch [2 0] of 2",
		},
		{
			"an empty Concat part", must(dataset.Concat(one, journal{id: 4, log: &log}, two)), []int{3}, [][]int{{20}},
			"2.0", "2: place 0", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(what, want string) {
				t.Helper()
				if got := strings.Join(log, ", "); got != want {
					t.Errorf("%s: got %s, want %s", what, got, want)
				}
				log = nil
			}
			if got := dataset.Name(c.ds, c.indices[len(c.indices)-1]); got != c.sample {
				t.Errorf("name %q, want %q", got, c.sample)
			}

			r, err := c.ds.Open()
			if err != nil {
				t.Fatal(err)
			}
			log = nil
			alone := datatest.NewSlots(len(c.indices), c.ds.Spec())
			for k, i := range c.indices {
				if err := r.Place(t.Context(), i, alone[k]); err != nil {
					t.Fatal(err)
				}
			}
			check("Place", c.alone)
			if got := values(alone); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("placed %v, want %v", got, c.want)
			}

			b, ok := r.(dataset.BatchReader)
			if ok != (c.batch != "") {
				t.Fatalf("BatchReader: %v", ok)
			}
			if ok {
				batch := datatest.NewSlots(len(c.indices), c.ds.Spec())
				for range 2 { // nothing is left of an earlier batch
					log = nil
					if err := b.PlaceBatch(t.Context(), c.indices, batch); err != nil {
						t.Fatal(err)
					}
					check("PlaceBatch", c.batch)
				}
				if got := values(batch); fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("placed %v in a batch, want %v", got, c.want)
				}
				if err := b.PlaceBatch(t.Context(), []int{0, c.ds.Len()}, batch); err == nil {
					t.Error("an index outside gives no error in a batch")
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFailedOpenClosesWhatWasOpened(t *testing.T) {
	var log []string
	refuse, stuck := errors.New("no"), errors.New("stuck")
	good := journal{id: 1, n: 1, stuck: stuck, log: &log}
	bad := journal{id: 2, n: 1, refuse: refuse, log: &log}
	for name, ds := range map[string]dataset.Dataset{
		"Concat": must(dataset.Concat(good, bad, good)),
		"Zip":    must(dataset.Zip(good, y(bad))),
	} {
		log = nil
		_, err := ds.Open()
		if !errors.Is(err, refuse) || !errors.Is(err, stuck) {
			t.Errorf("%s: got error %v", name, err)
		}
		if want := []string{"1: open", "2: open", "1: close"}; !slices.Equal(log, want) {
			t.Errorf("%s: got %q, want %q", name, log, want)
		}
	}
	if _, err := must(dataset.Subset(bad, nil)).Open(); err != refuse {
		t.Errorf("Subset: got error %v", err)
	}
}

func TestCloseReportsEveryError(t *testing.T) {
	var log []string
	first := journal{id: 1, n: 1, stuck: io.ErrClosedPipe, log: &log}
	second := journal{id: 2, n: 1, stuck: io.ErrNoProgress, log: &log}
	for name, ds := range map[string]dataset.Dataset{
		"Concat": must(dataset.Concat(first, second)),
		"Zip":    must(dataset.Zip(first, y(second))),
		"Subset": must(dataset.Subset(must(dataset.Concat(first, second)), []int{0})),
		"Map":    must(dataset.Map(must(dataset.Concat(first, second)), twice(first), double)),
		"Rename": y(must(dataset.Concat(first, second))),
	} {
		r, err := ds.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); !errors.Is(err, io.ErrClosedPipe) || !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// never is for a dataset.Func whose samples are not placed.
func never(context.Context, int, dataset.Slot) error { panic("a sample is placed") }

func TestCombinationsSayWhatIsWrong(t *testing.T) {
	var log []string
	one, longer := journal{id: 1, n: 2, log: &log}, journal{id: 2, n: 3, log: &log}
	labels := datatest.Tensors(t, dataset.Named("label", []int64{1, 2}))
	classes := datatest.Tensors(t, dataset.Named("label", []int32{1, 2}))
	failure := func(_ dataset.Dataset, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{failure(dataset.Subset(one, []int{0, 2})), "dataset: Subset: index 2 at place 1: want one from 0 to 1"},
		{failure(dataset.Subset(one, []int{-1})), "dataset: Subset: index -1 at place 0: want one from 0 to 1"},
		{failure(dataset.Concat()), "dataset: Concat of no datasets"},
		{failure(dataset.Concat(one, labels)), "dataset: Concat: dataset 1 has the fields label int64 (), dataset 0 has x int ()"},
		{failure(dataset.Concat(must(dataset.Zip(one, labels)), must(dataset.Zip(one, classes)))), "dataset: Concat: dataset 1 has the field label int32 (), dataset 0 has label int64 ()"},
		{failure(dataset.Concat(one, must(dataset.Zip(one, labels)))), "dataset: Concat: dataset 1 has the fields x int (), label int64 (), dataset 0 has x int ()"},
		{failure(dataset.Zip()), "dataset: Zip of no datasets"},
		{failure(dataset.Map(one, one.Spec(), nil)), "dataset: Map: no function"},
		{failure(dataset.Map(one, nil, double)), "dataset: spec: no fields"},
		{failure(dataset.Select(one)), "dataset: spec: no fields"},
		{failure(dataset.Select(one, "x", "x")), `dataset: spec: two fields are named "x"`},
		{failure(dataset.Select(one, "y")), `dataset: Select: no field "y": the dataset has x int ()`},
		{failure(dataset.Rename(one, map[string]string{"x": "y", "z": "a"})), `dataset: Rename: no field "z": the dataset has x int ()`},
		{failure(dataset.Rename(one, map[string]string{"x": ""})), "dataset: spec: field 0 has no name"},
		{failure(dataset.Rename(must(dataset.Zip(one, y(one))), map[string]string{"x": "y"})), `dataset: spec: two fields are named "y"`},
		{failure(dataset.Zip(dataset.Func(2, nil, never))), "dataset: spec: no fields"},
		{failure(dataset.Zip(one, longer)), "dataset: Zip: dataset 1 has 3 samples, dataset 0 has 2\n" + `dataset: Zip: dataset 1 has another field "x": Rename one of them`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got error  %v\nwant       %s", c.err, c.want)
		}
	}
}

func TestSubsetKeepsItsIndices(t *testing.T) {
	indices := []int{1, 0}
	ds := must(dataset.Subset(datatest.Tensors(t, dataset.Named("x", []int{5, 6})), indices))
	indices[0] = 7
	if got := datatest.Sample(t, ds, 0)["x"].Data(); got != 6 {
		t.Errorf("after a change of the argument sample 0 is %v, want 6", got)
	}
}

func TestIndexOutsideIsAnError(t *testing.T) {
	one := datatest.Tensors(t, dataset.Named("a", []int32{5, 6}))
	other := datatest.Tensors(t, dataset.Named("b", []int32{7, 8}))
	spec := one.Spec()
	split, err := dataset.RandomSplit(one, []int{1, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, ds := range map[string]dataset.Dataset{
		"Tensors":     one,
		"Func":        dataset.Func(2, spec, func(context.Context, int, dataset.Slot) error { return nil }),
		"ImageFolder": imageFolder(t, pets),
		"Subset":      must(dataset.Subset(one, []int{1})),
		"Concat":      must(dataset.Concat(one, one)),
		"Zip":         must(dataset.Zip(one, other)),
		"RandomSplit": split[0],
		"Map":         must(dataset.Map(one, spec, func(_, _ dataset.Slot) error { return nil })),
	} {
		t.Run(name, func(t *testing.T) { datatest.RefusesOtherIndices(t, ds) })
	}
}

func TestCombinationsPlaceWithoutAllocation(t *testing.T) {
	one := datatest.Tensors(t, dataset.Named("a", []int32{5, 6, 7}))
	other := datatest.Tensors(t, dataset.Named("b", []int32{7, 8, 9}))
	for name, ds := range map[string]dataset.Dataset{
		"Subset": must(dataset.Subset(one, []int{1, 2})),
		"Concat": must(dataset.Concat(one, one, one)),
		"Zip":    must(dataset.Zip(one, other)),
		"Map":    must(dataset.Map(one, widened, widen)),
		"Func": dataset.Func(2, one.Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int32(i))
			return nil
		}),
	} {
		t.Run(name, func(t *testing.T) { datatest.PlacesWithoutAllocation(t, ds) })
	}
}

func TestBatchesOfCombinationsArePlacedWithoutAllocation(t *testing.T) {
	fast := gather{datatest.Tensors(t, dataset.Named("a", []int32{5, 6, 7}))}
	other := datatest.Tensors(t, dataset.Named("b", []int32{7, 8, 9}))
	for name, ds := range map[string]dataset.Dataset{
		"Subset": must(dataset.Subset(fast, []int{0, 1, 2})),
		"Concat": must(dataset.Concat(fast, fast)),
		"Zip":    must(dataset.Zip(fast, other)),
		"Map":    must(dataset.Map(fast, widened, widen)),
	} {
		r, err := ds.Open()
		if err != nil {
			t.Fatal(err)
		}
		b := r.(dataset.BatchReader)
		batch, indices, ctx := datatest.NewSlots(4, ds.Spec()), []int{2, 0, 1, 0}, t.Context()
		var dst dataset.Slots = batch
		got := allocs.PerRun(0, 100, func() {
			if err := b.PlaceBatch(ctx, indices, dst); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations per batch, want 0", name, got)
		}
	}
}

// gather places whole batches, one sample after the other.
type gather struct{ dataset.Dataset }

func (g gather) Open() (dataset.Reader, error) {
	r, err := g.Dataset.Open()
	return gatherReader{r}, err
}

type gatherReader struct{ dataset.Reader }

func (g gatherReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	for k, i := range indices {
		if err := g.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func TestNilDatasetsAndFileSystemsAreErrors(t *testing.T) {
	ok := datatest.Pairs(t)
	for want, made := range map[string]func() error{
		"dataset: Map: the dataset is nil":             func() error { _, err := dataset.Map(nil, ok.Spec(), double); return err },
		"dataset: Select: the dataset is nil":          func() error { _, err := dataset.Select(nil, "x"); return err },
		"dataset: Rename: the dataset is nil":          func() error { _, err := dataset.Rename(nil, nil); return err },
		"dataset: Subset: the dataset is nil":          func() error { _, err := dataset.Subset(nil, nil); return err },
		"dataset: Cached: the dataset is nil":          func() error { _, err := dataset.Cached(nil, 1); return err },
		"dataset: Concat: dataset 1 is nil":            func() error { _, err := dataset.Concat(ok, nil); return err },
		"dataset: Zip: dataset 0 is nil":               func() error { _, err := dataset.Zip(nil, ok); return err },
		"dataset: RandomSplit: the dataset is nil":     func() error { _, err := dataset.RandomSplit(nil, []int{1}, 0); return err },
		"dataset: StratifiedSplit: the dataset is nil": func() error { _, err := dataset.StratifiedSplit(nil, []int{1}, []float64{1}, 0); return err },
		"dataset: GroupedSplit: the dataset is nil":    func() error { _, err := dataset.GroupedSplit(nil, []int{1}, []float64{1}, 0); return err },
		"dataset: ImageFolder: the file system is nil": func() error { _, err := dataset.ImageFolder(nil); return err },
		"transform: Images: the dataset is nil":        func() error { _, err := transform.Images(nil); return err },
	} {
		if err := made(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestZipNamesTheDatasetThatFailed(t *testing.T) {
	bad := errors.New("bad")
	var log []string
	good := journal{id: 1, n: 2, log: &log}
	fails := journal{id: 2, n: 2, fails: bad, log: &log}
	for want, ds := range map[string]dataset.Dataset{
		"dataset: sample 1 (1.1): Zip: dataset 1 (2.1): bad": must(dataset.Zip(good, y(fails))),
		"dataset: sample 1 (2.1): bad":                       must(dataset.Zip(y(fails), good)),
	} {
		_, err := dataset.At(t.Context(), ds, 1)
		if err == nil || err.Error() != want || !errors.Is(err, bad) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
