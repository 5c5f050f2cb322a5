package transform_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
)

// masked is a black image of 21×13 pixels with a mask that place writes.
func masked(f dataset.Field, place func(dst dataset.Slot)) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{13, 21, 3}}, f}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		place(dst)
		return nil
	})
}

func maskFile(t *testing.T, name string) dataset.Dataset {
	t.Helper()
	if !strings.Contains(name, ".") {
		name += ".png"
	}
	data, err := os.ReadFile("testdata/annotations/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return masked(dataset.Field{Name: "mask", Dtype: dataset.Uint8, Ragged: true}, func(dst dataset.Slot) {
		copy(dataset.Grow[uint8](dst, 1, len(data)), data)
	})
}

// TestNumbersAbove255Stay moves masks by a warp and by geometry that together leave them as
// they were, but for a frame.
func TestNumbersAbove255Stay(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile("testdata/annotations/" + name + ".raw")
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var sixteen, ids []int64
	for b := range slices.Chunk(read("grey16"), 2) {
		sixteen = append(sixteen, int64(binary.LittleEndian.Uint16(b)))
	}
	for b := range slices.Chunk(read("ids"), 4) {
		ids = append(ids, int64(binary.LittleEndian.Uint32(b)))
	}
	raw := masked(dataset.Field{Name: "mask", Dtype: dataset.Uint16, Shape: dataset.Shape{13, 21}}, func(dst dataset.Slot) {
		for i, v := range sixteen {
			dataset.Row[uint16](dst, 1)[i] = uint16(v)
		}
	})
	mask := func(options ...transform.Option) transform.Option {
		return transform.Mask("mask", append(options, transform.Fill(1000))...)
	}
	for _, c := range []struct {
		ds   dataset.Dataset
		mask transform.Option
		want []int64
	}{
		{maskFile(t, "grey16"), mask(transform.Dtype(dataset.Uint16)), sixteen},
		{maskFile(t, "grey16laced"), mask(transform.Dtype(dataset.Int32)), sixteen},
		{maskFile(t, "grey16key"), mask(transform.Dtype(dataset.Int64)), sixteen},
		{raw, mask(transform.Dtype(dataset.Uint16)), sixteen},
		{raw, mask(transform.Dtype(dataset.Int64)), sixteen},
		{maskFile(t, "ids"), mask(transform.SegmentIDs(), transform.Dtype(dataset.Int32)), ids},
		{maskFile(t, "idslaced"), mask(transform.SegmentIDs(), transform.Dtype(dataset.Int64)), nil},
	} {
		x, err := transform.Images(c.ds, c.mask, transform.RandomRotation(180, 180), transform.RandomHorizontalFlip(1),
			transform.RandomVerticalFlip(1), transform.Pad([4]int{1, 0, 0, 0}))
		if err != nil {
			t.Fatal(err)
		}
		s, err := dataset.At(t.Context(), x, 0)
		if err != nil {
			t.Errorf("%v: %v", c.mask, err)
			continue
		}
		var got []int64
		switch v := s["mask"].Data().(type) {
		case []uint16:
			got = widened(v)
		case []int32:
			got = widened(v)
		case []int64:
			got = v
		}
		for y := range 13 {
			row := got[22*y:][:22]
			if row[0] != 1000 || c.want != nil && !slices.Equal(row[1:], c.want[21*y:][:21]) {
				t.Errorf("%v: row %d is %v", c.mask, y, row)
			}
		}
	}
}

// TestMasksOf8BitsTakeALargerFill moves such masks by warps: numbers from 0 to 255 do not hold the fill.
func TestMasksOf8BitsTakeALargerFill(t *testing.T) {
	array := masked(dataset.Field{Name: "mask", Dtype: dataset.Uint8, Shape: dataset.Shape{13, 21}}, func(dst dataset.Slot) {
		clear(dataset.Row[uint8](dst, 1))
	})
	for _, ds := range []dataset.Dataset{array, maskFile(t, "grey8")} {
		for _, steps := range [][]transform.Item{
			{transform.RandomAffine(0, 0, transform.Shear(45, 45))},
			{transform.Pad(1), transform.ElasticTransform(0, 0)},
			{transform.RandomRotation(20, 20, transform.Expand()), transform.ElasticTransform(9, 2), transform.CenterCrop(30)},
		} {
			x := images(t, ds, append([]transform.Item{transform.Mask("mask", transform.Dtype(dataset.Int32), transform.Fill(1000)), transform.Ragged(), transform.Sizes("size")}, steps...)...)
			s, err := dataset.At(t.Context(), x, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := dataset.ValuesOf[int32](s["mask"])
			if outside := slices.DeleteFunc(slices.Clone(got), func(v int32) bool { return v < 256 }); got[0] != 1000 || slices.Min(outside) != 1000 || slices.Max(outside) != 1000 {
				t.Errorf("%v: outside are %v, want only 1000", steps, outside)
			}
		}
	}
}

func widened[T uint8 | uint16 | int32](values []T) (all []int64) {
	for _, v := range values {
		all = append(all, int64(v))
	}
	return all
}

func TestNumbersThatDoNotFitAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		mask transform.Option
		want string
	}{
		"grey16": {transform.Mask("mask"), `mask "mask": 16 bits per pixel: want Dtype(dataset.Uint16), or a larger one`},
		"ids":    {transform.Mask("mask"), "PNG: in colour, want a palette or grey"},
		"grey8":  {transform.Mask("mask", transform.SegmentIDs(), transform.Dtype(dataset.Int32)), "PNG: not in colour with 8 bits each"},

		"grey8raw.tif":    {transform.Mask("mask", transform.SegmentIDs(), transform.Dtype(dataset.Int32)), "a TIFF file: want PNG"},
		"grey16raw.tif":   {transform.Mask("mask"), "16 bits per pixel: want Dtype(dataset.Uint16)"},
		"../rgb.tiff":     {transform.Mask("mask"), "TIFF: want grey with 8 or 16 bits"},
		"../palette.tiff": {transform.Mask("mask"), "TIFF: want grey with 8 or 16 bits"},
		"../rgb.bmp":      {transform.Mask("mask"), "BMP: in colour, want a palette or grey"},
		"../lossy.webp":   {transform.Mask("mask"), "a WebP file: want PNG, GIF, or TIFF, BMP or PNM with a palette or in grey"},
	} {
		x, err := transform.Images(maskFile(t, name), c.mask, transform.CenterCrop(8))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.At(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	wide := masked(dataset.Field{Name: "mask", Dtype: dataset.Uint16, Shape: dataset.Shape{13, 21}}, func(dataset.Slot) {})
	if _, err := transform.Images(wide, transform.Mask("mask", transform.Dtype(dataset.Uint8)), transform.CenterCrop(8)); err == nil || !strings.Contains(err.Error(), "want a Dtype that holds uint16") {
		t.Errorf("uint16 as uint8: %v", err)
	}
}

func TestWideMasksAllocateNothing(t *testing.T) {
	for name, mask := range map[string]transform.Option{
		"grey16": transform.Mask("mask", transform.Dtype(dataset.Uint16)),
		"ids":    transform.Mask("mask", transform.SegmentIDs(), transform.Dtype(dataset.Int32)),

		"grey16tiff_lzw.tif": transform.Mask("mask", transform.Dtype(dataset.Uint16)),
	} {
		x, err := transform.Images(maskFile(t, name), mask, transform.RandomRotation(-30, 30), transform.ElasticTransform(20, 2), transform.RandomCrop(9))
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(x.Spec()...)
		place := func() {
			if err := r.Place(t.Context(), 0, slot); err != nil {
				t.Fatal(err)
			}
		}
		place()
		if n := allocs.PerRun(0, 50, place); n > 0 {
			t.Errorf("%s: %v allocations per sample", name, n)
		}
		r.Close()
	}
}

// FuzzAnnotations gives steps a hostile mask and hostile boxes. The numbers of masks stay
// those of the file.
func FuzzAnnotations(f *testing.F) {
	for _, name := range []string{"grey16.png", "palette8.png", "ids.png", "grey1laced.png", "grey16tiff_lzw.tif", "grey8raw.tif"} {
		data, err := os.ReadFile("testdata/annotations/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, dense.Bytes([]float32{1, 2, 9, 8, 0, 0, 21, 13}), uint64(7))
	}
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{13, 21, 3}},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
	}
	var mask, boxes []byte
	var n int
	given := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Grow[uint8](dst, 1, len(mask)), mask)
		copy(dst.Cell(2).Grow(16*n), boxes)
		for k := range dataset.Grow[int64](dst, 3, n) {
			dataset.Row[int64](dst, 3)[k] = int64(k)
		}
		return nil
	})
	open := func(options ...transform.Option) dataset.Reader {
		return datatest.Open(f, images(f, given, transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label")),
			transform.Mask("mask", append(options, transform.Dtype(dataset.Int32))...),
			transform.RandomIoUCrop(), transform.RandomApply(0.5, transform.ElasticTransform(20, 2)), transform.RandomRotation(-90, 90),
			transform.Resize([2]int{12, 11}), transform.SanitizeBoundingBoxes()))
	}
	readers := map[int32]dataset.Reader{1<<16 - 1: open(), 1<<24 - 1: open(transform.SegmentIDs())}
	out := images(f, given, transform.Mask("mask", transform.Dtype(dataset.Int32)), transform.Resize([2]int{12, 11})).Spec()
	f.Fuzz(func(t *testing.T, maskFile, boxValues []byte, seed uint64) {
		mask, boxes, n = maskFile, boxValues, min(len(boxValues)/16, 64)
		boxes = boxes[:16*n]
		for most, r := range readers {
			place := func() (dataset.Slot, error) {
				to := dataset.NewSlot(out...)
				datatest.Reset(to, seed, 0, 0)
				return to, r.Place(t.Context(), 0, to)
			}
			var to dataset.Slot
			var err error
			const once = 1 << 20 // the memory of the image
			hostile.Bounded(t, len(mask)+len(boxes), once, func() { to, err = place() })
			if err != nil {
				continue
			}
			cputest.Portable(func() {
				if portable, err := place(); err != nil || !bytes.Equal(dataset.Row[uint8](portable, 0), dataset.Row[uint8](to, 0)) {
					t.Errorf("error %v, or other pixels without kernels", err)
				}
			})
			for _, v := range dataset.Row[int32](to, 1) {
				if v < 0 || v > most {
					t.Fatalf("a mask has the number %d", v)
				}
			}
			labels := dataset.Row[int64](to, 3)
			if left := len(dataset.Row[float32](to, 2)); left != 4*len(labels) {
				t.Fatalf("%d labels for %d numbers of boxes", len(labels), left)
			}
			for _, v := range labels {
				if v < 0 || v >= int64(n) {
					t.Fatalf("label %d of %d", v, n)
				}
			}
		}
	})
}

// TestTIFFMasksHaveTheNumbersOfPillow reads the files that testdata/annotations/png.py has
// written: the upper rows, and all.
func TestTIFFMasksHaveTheNumbersOfPillow(t *testing.T) {
	testenv.OneGoroutine(t)
	files, err := filepath.Glob("testdata/annotations/*.tif")
	if err != nil || len(files) != 8 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(strings.TrimSuffix(name, ".tif") + ".raw")
		if err != nil {
			t.Fatal(err)
		}
		want := widened(raw)
		if len(raw) == 2*21*13 {
			want = want[:0]
			for b := range slices.Chunk(raw, 2) {
				want = append(want, int64(binary.LittleEndian.Uint16(b)))
			}
		}
		for _, rows := range []int{5, 13} {
			x := images(t, maskFile(t, filepath.Base(name)), transform.Mask("mask", transform.Dtype(dataset.Int64)), transform.Crop(0, 0, rows, 21))
			s, err := dataset.At(t.Context(), x, 0)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !slices.Equal(dataset.ValuesOf[int64](s["mask"]), want[:rows*21]) {
				t.Errorf("%s: other numbers than numpy.asarray(PIL.Image.open(…))", name)
			}
		}
	}
}
