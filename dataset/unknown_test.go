package dataset_test

import (
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

// newUnknown has three samples.
func newUnknown(t *testing.T) datatest.Unknown {
	return datatest.Unknown{Dataset: datatest.Tensors(t, dataset.Named("x", []int64{0, 1, 2}))}
}

func TestAwaitPassesThroughMapSelectAndRename(t *testing.T) {
	ds := dataset.Dataset(newUnknown(t))
	mapped, err := dataset.Map(ds, ds.Spec(), func(_, _ dataset.Slot) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	selected, err := dataset.Select(ds, "x")
	if err != nil {
		t.Fatal(err)
	}
	renamed, err := dataset.Rename(ds, map[string]string{"x": "y"})
	if err != nil {
		t.Fatal(err)
	}
	for name, ds := range map[string]dataset.Dataset{"itself": ds, "Map": mapped, "Select": selected, "Rename": renamed} {
		for n, end := range map[int]bool{3: false, 4: true} {
			have, ended, err := dataset.Await(t.Context(), ds, n, nil)
			if have != 3 || ended != end || err != nil || ds.Len() != dataset.Unknown {
				t.Errorf("%s: Await(%d): got %d, %v, %v, want 3, %v", name, n, have, ended, err, end)
			}
		}
	}
}

func TestAwaitOfAKnownLengthHasEnded(t *testing.T) {
	have, ended, err := dataset.Await(t.Context(), newUnknown(t).Dataset, 99, nil)
	if have != 3 || !ended || err != nil {
		t.Errorf("got %d, %v, %v, want 3, true", have, ended, err)
	}
	type silent struct{ dataset.Dataset }
	if _, _, err := dataset.Await(t.Context(), silent{newUnknown(t)}, 1, nil); err == nil {
		t.Error("a dataset of unknown length without Await: no error")
	}
}

func TestDatasetsThatNeedALengthRefuseAnUnknownOne(t *testing.T) {
	ds := newUnknown(t)
	half := []float64{0.5, 0.5}
	for name, try := range map[string]func() error{
		"Concat":          func() error { _, err := dataset.Concat(ds, ds); return err },
		"Zip":             func() error { _, err := dataset.Zip(ds); return err },
		"Subset":          func() error { _, err := dataset.Subset(ds, nil); return err },
		"Cached":          func() error { _, err := dataset.Cached(ds, 1<<20); return err },
		"RandomSplit":     func() error { _, err := dataset.RandomSplit(ds, half, 1); return err },
		"StratifiedSplit": func() error { _, err := dataset.StratifiedSplit(ds, []int{}, half, 1); return err },
		"GroupedSplit":    func() error { _, err := dataset.GroupedSplit(ds, []int{}, half, 1); return err },
		"At":              func() error { _, err := dataset.At(t.Context(), ds, 0); return err },
		"samples": func() error {
			return dataset.Each(t.Context(), ds, func(int, dataset.Slot) error { return nil })
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "unknown") {
			t.Errorf("%s: got %v, want an error that the length is unknown", name, err)
		}
	}
}
