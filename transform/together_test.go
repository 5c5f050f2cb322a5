package transform_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// joint is a dataset whose Reader is a BatchReader, which notes its calls.
type joint struct {
	dataset.Wrap
	calls []int // how many samples each was of
	fails int   // the sample that cannot be placed, or -1
}

func (j *joint) Open() (dataset.Reader, error) {
	r, err := j.Wrap.Open()
	return jointReader{r, j}, err
}

type jointReader struct {
	dataset.Reader
	of *joint
}

func (r jointReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if i == r.of.fails {
		return errors.New("it cannot be placed")
	}
	return r.Reader.Place(ctx, i, dst)
}

func (r jointReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	r.of.calls = append(r.of.calls, len(indices))
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

// squares are files of images of so many pixels a side, and numbers.
func squares(sides ...int) *joint {
	spec := dataset.Spec{{Name: "number", Dtype: dataset.Int64}, {Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}}
	return &joint{fails: -1, Wrap: dataset.Wrap{Dataset: dataset.Func(len(sides), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		head := fmt.Sprintf("P6\n%d %d\n255\n", sides[i], sides[i])
		file := dataset.Grow[uint8](dst, 1, len(head)+3*sides[i]*sides[i])
		for k := range file[copy(file, head):] {
			file[len(head)+k] = uint8(k*(i+1) + k>>8)
		}
		return nil
	})}}
}

// TestSamplesThatArePlacedTogether are what they are alone, also in the presence of one that cannot be placed.
func TestSamplesThatArePlacedTogether(t *testing.T) {
	ds := squares(40, 33, 50, 64, 41, 80, 39, 52, 61, 47, 38, 36, 90, 54, 33, 70, 71, 72, 73, 74)
	images, err := transform.Images(ds, transform.Train(32))
	if err != nil {
		t.Fatal(err)
	}
	datatest.PlacesTogether(t, images)
	want := []int{1, 16, 16, 7} // of 40 samples, the first of which says how large they are
	if got := ds.calls[:4]; !slices.Equal(got, want) {
		t.Errorf("calls of %v samples, want %v", got, want)
	}
	arrays, err := transform.Images(&joint{fails: -1, Wrap: dataset.Wrap{Dataset: datatest.Tensors(t, dataset.Named("image", [][3][2][2]uint8{{}, {{{1}}}, {{{2}}}}))}}, transform.RandomHorizontalFlip(0.5), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	datatest.PlacesTogether(t, arrays)

	ds.fails = 5
	l := loadertest.New(t, images, loader.Workers(1), loader.BatchSize(20), loader.Skip(1))
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil || batch.Len() != 19 {
			t.Errorf("%d samples: %v", batch.Len(), err)
		}
	}
	if failures := l.Stats().Failures; len(failures) != 1 || failures[0].Index != 5 {
		t.Errorf("failures %v, want that of sample 5", failures)
	}
}

// TestLargeSamplesAreNotHeldTogether: after one of 12 MB there are two at most.
func TestLargeSamplesAreNotHeldTogether(t *testing.T) {
	ds := squares(10, 10, 10, 10, 2000, 10, 10, 10, 10, 10)
	images, err := transform.Images(ds, transform.Resize([2]int{8, 8}), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	r, rows := datatest.Open(t, images).(dataset.BatchReader), datatest.NewSlots(5, images.Spec())
	for _, indices := range [][]int{{0, 1, 2, 3}, {4}, {5, 6, 7, 8, 9}} {
		if err := r.PlaceBatch(t.Context(), indices, rows[:len(indices)]); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{1, 3, 1, 2, 2, 1}; !slices.Equal(ds.calls, want) {
		t.Errorf("calls of %v samples, want %v", ds.calls, want)
	}
	number, one := rows[4].Cell(0).Bytes(), dataset.NewSlot(images.Spec()...)
	if err := datatest.Open(t, images).Place(t.Context(), 9, one); err != nil || !bytes.Equal(number, one.Cell(0).Bytes()) || !bytes.Equal(rows[4].Cell(1).Bytes(), one.Cell(1).Bytes()) {
		t.Errorf("the last sample is not what it is alone: %v", err)
	}
}
