package dataset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A seer notes the batches that it is told.
type seer struct{ journal }

func (s seer) Foresee(f dataset.Future) (stop func()) {
	for k := range f.Len() {
		s.note("batch %d %v", k, f.At(k, []int{-7})) // At appends
	}
	s.note("%d begun, %d done", f.Begun(), f.Done())
	return func() { s.note("stop") }
}

// batches is a Future.
type batches [][]int

func (b batches) Len() int                      { return len(b) }
func (b batches) At(batch int, dst []int) []int { return append(dst, b[batch]...) }
func (b batches) Begun() int                    { return 2 }
func (b batches) Done() int                     { return 1 }

func TestCombinationsPassTheFutureOn(t *testing.T) {
	var log []string
	one, two := seer{journal{id: 1, n: 3, log: &log}}, seer{journal{id: 2, n: 3, log: &log}}
	blind := journal{id: 3, n: 3, log: &log}
	const all = "1: batch 0 [-7 2 0], 1: batch 1 [-7], 1: batch 2 [-7 1 9 -1], 1: 2 begun, 1 done, 1: stop"
	for _, c := range []struct {
		name string
		ds   dataset.Dataset
		want string
	}{
		{"Map", must(dataset.Map(one, twice(one.journal), double)), all},
		{"Select", must(dataset.Select(one, "x")), all},
		{"Rename", y(one), all},
		{"Subset", must(dataset.Subset(one, []int{2, 0, 2})), "1: batch 0 [-7 2 2], 1: batch 1 [-7], 1: batch 2 [-7 0], 1: 2 begun, 1 done, 1: stop"},
		{"Subset of Subset", must(dataset.Subset(must(dataset.Subset(one, []int{2, 0, 1})), []int{2, 1, 0})), "1: batch 0 [-7 2 1], 1: batch 1 [-7], 1: batch 2 [-7 0], 1: 2 begun, 1 done, 1: stop"},
		{"Concat", must(dataset.Concat(two, blind, one)),
			"2: batch 0 [-7 2 0], 2: batch 1 [-7], 2: batch 2 [-7 1], 2: 2 begun, 1 done, 1: batch 0 [-7], 1: batch 1 [-7], 1: batch 2 [-7], 1: 2 begun, 1 done, 1: stop, 2: stop"},
		{"Concat after another", must(dataset.Concat(must(dataset.Subset(blind, []int{0})), one)),
			"1: batch 0 [-7 1], 1: batch 1 [-7], 1: batch 2 [-7 0], 1: 2 begun, 1 done, 1: stop"},
		{"Zip", must(dataset.Zip(one, y(blind))), all},
		{"Cached", must(dataset.Cached(one, 1<<20)), strings.Replace(all, " 9 -1", "", 1)},
		{"blind", blind, ""},
		{"blind combinations", must(dataset.Concat(blind, must(dataset.Subset(must(dataset.Zip(blind)), []int{1})))), ""},
	} {
		log = nil
		stop := dataset.Foresee(c.ds, batches{{2, 0}, {}, {1, 9, -1}})
		if (stop == nil) != (c.want == "") {
			t.Errorf("%s: stop is nil: %v", c.name, stop == nil)
		}
		if stop != nil {
			stop()
		}
		if got := strings.Join(log, ", "); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestCachedForeseesOnlyWhatIsNotInMemory(t *testing.T) {
	var log []string
	c, err := dataset.Cached(seer{journal{id: 1, n: 3, log: &log}}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.At(t.Context(), c, 2); err != nil {
		t.Fatal(err)
	}
	log = nil
	dataset.Foresee(c, batches{{2, 0}, {}, {1, 2}})
	if want := []string{"1: batch 0 [-7 0]", "1: batch 1 [-7]", "1: batch 2 [-7 1]", "1: 2 begun, 1 done"}; !slices.Equal(log, want) {
		t.Errorf("got %q", log)
	}
}

// foreseen is a dataset of files that notes the future.
type foreseen struct {
	dataset.Dataset
	told string
}

func (s *foreseen) Foresee(f dataset.Future) (stop func()) {
	s.told = fmt.Sprint(f.At(0, nil))
	return func() {}
}

func TestTransformsPassTheFutureOn(t *testing.T) {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}}
	inner := &foreseen{Dataset: dataset.Func(5, spec, never)}
	ds, err := transform.Images(inner, transform.Resize(8), transform.CenterCrop(8))
	if err != nil {
		t.Fatal(err)
	}
	if stop := ds.Foresee(batches{{4, 2}}); stop == nil || inner.told != "[4 2]" {
		t.Errorf("told %q", inner.told)
	}
}
