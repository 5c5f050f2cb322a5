package transform_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// cut is what Patches says in words: rows of planes of h×w pixels.
func cut(planes []float32, h, w, side, merge, frames int, last bool) (rows []float32) {
	at := func(c, y, x int) float32 { return planes[(c*h+y)*w+x] }
	for block := range h / side / merge * (w / side / merge) {
		by, bx := block/(w/side/merge), block%(w/side/merge)
		for k := range merge * merge {
			top, left := (by*merge+k/merge)*side, (bx*merge+k%merge)*side
			if last {
				for i := range side * side * 3 * frames {
					pixel, c := i/frames/3, i/frames%3
					rows = append(rows, at(c, top+pixel/side, left+pixel%side))
				}
				continue
			}
			for i := range 3 * frames * side * side {
				pixel, c := i%(side*side), i/(side*side)/frames
				rows = append(rows, at(c, top+pixel/side, left+pixel%side))
			}
		}
	}
	return rows
}

func TestPatchesAreRowsOfTheImage(t *testing.T) {
	_, files := sizedPhotos(t)
	for _, before := range [][]transform.Item{
		{transform.Resize([2]int{12, 24}), transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)},
		{transform.Resize([2]int{12, 24}), transform.RandomVerticalFlip(1), transform.Rescale(0.01), transform.BGR()},
	} {
		for _, c := range []struct{ side, merge, frames int }{{12, 1, 1}, {4, 1, 1}, {3, 2, 2}, {2, 3, 1}, {1, 4, 3}, {6, 2, 1}} {
			for _, axes := range []transform.Axes{transform.CHW, transform.HWC} {
				step := transform.Patches(c.side, transform.Merge(c.merge), transform.Frames(c.frames), transform.Layout(axes))
				whole, err := transform.Compile(before...)
				if err != nil {
					t.Fatal(err)
				}
				p, err := transform.Compile(append(slices.Clone(before), step)...)
				if err != nil {
					t.Fatal(err)
				}
				rows := 12 * 24 / c.side / c.side
				if got, want := fmt.Sprint(p.Spec()[0]), fmt.Sprintf("image float32 (%d, %d)", rows, 3*c.frames*c.side*c.side); got != want {
					t.Errorf("%v: %s, want %s", step, got, want)
				}
				planes, values := make([]float32, 3*12*24), make([]float32, p.Spec()[0].Elements())
				for _, file := range files[:2] {
					for _, run := range []func(func()){func(f func()) { f() }, cputest.Portable} {
						run(func() {
							if err := whole.Into(planes, transform.File(file)); err != nil {
								t.Fatal(err)
							}
							if err := p.Into(values, transform.File(file)); err != nil {
								t.Fatal(err)
							}
						})
						if want := cut(planes, 12, 24, c.side, c.merge, c.frames, axes == transform.HWC); !slices.Equal(values, want) {
							t.Errorf("%v: other values than %v", step, want[:8])
						}
					}
				}
			}
		}
	}
}

// patched resizes to multiples of 8, and says how many patches there are.
var patched = []transform.Item{
	transform.ResizeFunc("down to multiples of 8", func(h, w int) (int, int) { return h / 8 * 8, w / 8 * 8 }), transform.ToTensor(),
	transform.Patches(4, transform.Merge(2), transform.Frames(2)),
	transform.SizesFunc("grid", dataset.Shape{3}, func(_, result [2]int, out []int64) {
		out[1], out[2] = int64(result[0]/4), int64(result[1]/4)
	}),
	transform.SizesFunc("height", nil, func(image, _ [2]int, out []int64) { out[0] = int64(image[0]) }),
}

func TestRaggedPatchesAreWhatAppendAllGives(t *testing.T) {
	photos, files := sizedPhotos(t)
	p, err := transform.Compile(append(patched, transform.Ragged())...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(p.Spec()), fmt.Sprint(dataset.Spec{
		{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{96}, Ragged: true},
		{Name: "grid", Dtype: dataset.Int64, Shape: dataset.Shape{3}}, {Name: "height", Dtype: dataset.Int64},
	}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	x, err := transform.Images(photos, append(patched, transform.Ragged(), transform.Sizes("size"))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 4} {
		l, err := loader.New(x, loader.Workers(workers), loader.BatchSize(3))
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			all, ends := loader.Values[float32](batch, "image"), batch.Offsets("image")
			for row, i := range batch.Indices() {
				want, numbers, err := p.AppendAll(nil, []int64{7}, transform.File(files[i]))
				if err != nil {
					t.Fatal(err)
				}
				size := raggedSizes[i]
				if fmt.Sprint(numbers) != fmt.Sprint([]int{7, 0, size.Y / 8 * 2, size.X / 8 * 2, size.Y}) {
					t.Errorf("image %d of %v: numbers %v", i, size, numbers)
				}
				if got := all[96*ends[row] : 96*ends[row+1]]; !slices.Equal(got, want) {
					t.Errorf("image %d: %d values, other ones than the %d of AppendAll", i, len(got), len(want))
				}
				got := append(slices.Clone(loader.Values[int64](batch, "grid")[3*row:][:3]), loader.Values[int64](batch, "height")[row])
				if !slices.Equal(got, numbers[1:]) {
					t.Errorf("image %d: numbers %v, want %v", i, got, numbers[1:])
				}
				if got, want := loader.Values[int64](batch, "size")[2*row:][:2], []int64{int64(size.Y / 8 * 8), int64(size.X / 8 * 8)}; !slices.Equal(got, want) {
					t.Errorf("image %d: size %v, want %v", i, got, want)
				}
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMaxPatchesFillsWithZeros(t *testing.T) {
	photos, files := sizedPhotos(t)
	steps := []transform.Item{patched[0], patched[1], transform.ToDtype(dataset.BFloat16), transform.Patches(8, transform.MaxPatches(70))}
	p, err := transform.Compile(steps...)
	if err != nil {
		t.Fatal(err)
	}
	x, err := transform.Images(photos, steps...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(x.Spec()...)
	whole, err := transform.Compile(patched[0], patched[1], transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	half, err := transform.Compile(patched[0], patched[1], transform.Patches(8), transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	bits := make([]uint16, 70*192)
	for _, i := range []int{4, 0, 3, 2, 1} {
		if err := p.IntoBytes(dense.Bytes(bits), transform.File(files[i])); err != nil {
			t.Fatal(err)
		}
		planes, h, w, err := whole.Append(nil, transform.File(files[i]))
		if err != nil {
			t.Fatal(err)
		}
		rows, _, _, err := half.Append(nil, transform.File(files[i]))
		if err != nil {
			t.Fatal(err)
		}
		if want := cut(planes, h, w, 8, 1, 1, false); !slices.Equal(rows, want) {
			t.Errorf("image %d: other rows", i)
		}
		for k, v := range bits {
			if want := float32(0); k < len(rows) {
				want = rows[k]
				if got := math.Float32frombits(uint32(v) << 16); got < want-0.01 || got > want+0.01 {
					t.Fatalf("image %d, value %d: %v, want %v", i, k, got, want)
				}
			} else if v != 0 {
				t.Fatalf("image %d, value %d: %v, want 0", i, k, v)
			}
		}
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slot.Cell(0).Bytes(), dense.Bytes(bits)) {
			t.Errorf("image %d: other bits in a dataset", i)
		}
	}
}

func TestImagesThatCannotBeCutAreErrors(t *testing.T) {
	_, files := sizedPhotos(t)
	twice := transform.SizesFunc("label", nil, func(_, _ [2]int, out []int64) {})
	panics := transform.SizesFunc("n", nil, func(_, _ [2]int, out []int64) { out[1] = 1 })
	for _, c := range []struct {
		list []transform.Item
		want string
	}{
		{[]transform.Item{transform.Patches(4), transform.Ragged()}, "Patches(4): must come after ToTensor"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(0), transform.Ragged()}, "Patches(0): want numbers from 1 to 4096"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4, transform.Merge(0)), transform.Ragged()}, "want a number from 1 to 1048576"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4, transform.Fill(1)), transform.Ragged()}, "Patches(4): has no option Fill"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4), transform.Patches(4), transform.Ragged()}, "must come only once"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4), transform.PadTo(90)}, "PadTo(90): not with Patches"},
		{[]transform.Item{transform.ToTensor(), transform.PadTo(90), transform.Patches(4)}, "Patches(4): not with PadTo"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4), transform.RandomErasing(1), transform.Ragged()}, "RandomErasing(1): not with Patches"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4), transform.Layout(transform.HWC), transform.Ragged()}, "it is an option of Patches"},
		{[]transform.Item{transform.Grayscale(1), transform.ToTensor(), transform.Patches(4), transform.Ragged()}, "want 3 channels"},
		{[]transform.Item{transform.Depth16(3), transform.ToTensor(), transform.Patches(4), transform.Ragged()}, "not with Depth16"},
		{[]transform.Item{transform.FiveCrop(8), transform.ToTensor(), transform.Patches(4)}, "Patches(4): not with FiveCrop(8)"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4)}, "the size varies"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4), transform.Ragged()}, "the image has 30×40 pixels (height×width): want multiples of 4"},
		{[]transform.Item{patched[0], transform.ToTensor(), transform.Patches(8, transform.MaxPatches(14)), transform.Ragged()}, "the image has 15 patches, more than 14"},
		{[]transform.Item{patched[0], transform.ToTensor(), transform.Patches(8, transform.Frames(4096)), transform.MaxPixels(100000), transform.Ragged()}, "4096 frames of"},
		{[]transform.Item{transform.ToTensor(), panics, transform.Ragged()}, `SizesFunc("n", ()): field "image"`},
		{[]transform.Item{transform.ToTensor(), transform.SizesFunc("", nil, nil), transform.Ragged()}, "the function is nil"},
		{[]transform.Item{transform.CenterCrop(8), twice, twice}, `SizesFunc("label", ()): there is a field of that name`},
		{[]transform.Item{transform.CenterCrop(8), twice, transform.Field("label")}, "there is a field of that name"},
		{[]transform.Item{transform.ToTensor(), transform.Patches(4, transform.Layout(9)), transform.Ragged()}, "want the Layout CHW or HWC"},
	} {
		p, err := transform.Compile(c.list...)
		if err == nil {
			_, _, err = p.AppendAll(nil, nil, transform.File(files[0]))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "transform: ") {
			t.Errorf("%v: error %v, want %s", c.list, err, c.want)
		}
	}
	if p, err := transform.Compile(transform.Resize([2]int{12, 10}), transform.ToTensor(), transform.Patches(4)); err == nil || err.Error() != "transform: Patches: the image has 12×10 pixels (height×width): want multiples of 4" {
		t.Errorf("%v, error %v, want one of the size", p, err)
	}
	photos, _ := sizedPhotos(t)
	if _, err := transform.Images(photos, transform.CenterCrop(8), twice); err == nil || !strings.Contains(err.Error(), "there is a field of that name") {
		t.Errorf("error %v, want one of the field", err)
	}
}
