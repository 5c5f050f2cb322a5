package dataset_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

// drawer is a dataset of files whose Reader places parts, and batches too if it is asked to.
// The file of sample i is the bytes 10·i to 10·i+9.
type drawer struct{ batches bool }

func (d drawer) Len() int { return 4 }

func (d drawer) Spec() dataset.Spec {
	return dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}, {Name: "label", Dtype: dataset.Int64}}
}

func (d drawer) Open() (dataset.Reader, error) {
	if d.batches {
		return &drawerBatchReader{}, nil
	}
	return &drawerReader{}, nil
}

type drawerReader struct{ file []byte }

func (r *drawerReader) Close() error { return nil }

func (r *drawerReader) open(i int, dst dataset.Slot) {
	r.file = r.file[:0]
	for k := range 10 {
		r.file = append(r.file, byte(10*i+k))
	}
	dataset.Set(dst, 1, int64(i))
}

func (r *drawerReader) Place(_ context.Context, i int, dst dataset.Slot) error {
	r.open(i, dst)
	copy(dataset.Grow[uint8](dst, 0, len(r.file)), r.file)
	return nil
}

func (r *drawerReader) PlaceParts(_ context.Context, i, f int, dst dataset.Slot) (int, io.ReaderAt, error) {
	if f != 0 {
		return 0, nil, fmt.Errorf("field %d is not ragged uint8", f)
	}
	r.open(i, dst)
	return len(r.file), r, nil
}

func (r *drawerReader) ReadAt(to []byte, offset int64) (int, error) {
	return copy(to, r.file[offset:]), nil
}

type drawerBatchReader struct{ drawerReader }

func (r *drawerBatchReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func TestCombinationsPassPartsOn(t *testing.T) {
	files, batches := drawer{}, drawer{batches: true}
	label := func(ds dataset.Dataset) dataset.Dataset { return must(dataset.Select(ds, "label")) }
	renamed := func(ds dataset.Dataset) dataset.Dataset {
		return must(dataset.Rename(ds, map[string]string{"label": "class"}))
	}
	whole := dataset.Func(4, files.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
		return new(drawerReader).Place(ctx, i, dst)
	})
	for _, c := range []struct {
		name         string
		ds           dataset.Dataset
		i, of        int // the sample, and that of the drawer
		parts, batch bool
	}{
		{"Subset", must(dataset.Subset(files, []int{3, 1})), 1, 1, true, false},
		{"Subset of batches", must(dataset.Subset(batches, []int{3, 1})), 0, 3, true, true},
		{"Subset of whole files", must(dataset.Subset(whole, []int{3, 1})), 0, 3, false, false},
		{"Concat", must(dataset.Concat(whole, files)), 6, 2, true, false},
		{"Concat of batches", must(dataset.Concat(whole, batches)), 6, 2, true, true},
		{"Concat, whole files", must(dataset.Concat(whole, files)), 2, 2, false, false},
		{"Zip", must(dataset.Zip(renamed(label(files)), files)), 2, 2, true, false},
		{"Zip of batches", must(dataset.Zip(renamed(label(files)), batches)), 2, 2, true, true},
		{"Select", must(dataset.Select(files, "label", "image")), 1, 1, true, false},
		{"Select of batches", must(dataset.Select(batches, "label", "image")), 1, 1, true, true},
		{"Rename", renamed(files), 1, 1, true, false},
		{"Map, whose function may read the file", must(dataset.Map(files, files.Spec(), func(_, _ dataset.Slot) error { return nil })), 1, 1, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := c.ds.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, ok := r.(dataset.BatchReader); ok != c.batch {
				t.Errorf("BatchReader: %v", ok)
			}
			image, label := c.ds.Spec().Index("image"), max(c.ds.Spec().Index("label"), c.ds.Spec().Index("class"))
			slot := dataset.NewSlot(c.ds.Spec()...)
			n, parts, err := r.(dataset.PartReader).PlaceParts(t.Context(), c.i, image, slot)
			if err != nil || (parts != nil) != c.parts {
				t.Fatalf("parts %v: %v", parts, err)
			}
			want := []byte{byte(10*c.of + 4), byte(10*c.of + 5)}
			if parts == nil {
				if got := dataset.Row[uint8](slot, image); !slices.Equal(got[4:6], want) {
					t.Errorf("placed %v", got)
				}
			} else {
				got := make([]byte, 2)
				if _, err := parts.ReadAt(got, 4); err != nil || n != 10 || !slices.Equal(got, want) {
					t.Errorf("bytes 4 and 5 of %d are %v, want %v: %v", n, got, want, err)
				}
			}
			if got := dataset.Row[int64](slot, label)[0]; got != int64(c.of) {
				t.Errorf("label %d, want %d", got, c.of)
			}
		})
	}
}

func TestCachedPlacesWholeFiles(t *testing.T) {
	r, err := must(dataset.Cached(drawer{}, 1<<20)).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, ok := r.(dataset.PartReader); ok {
		t.Error("a PartReader would keep samples without their files")
	}
}
