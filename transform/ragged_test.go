package transform_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

var raggedSizes = []image.Point{{40, 30}, {30, 40}, {100, 30}, {16, 17}, {64, 64}}

// sizedPhotos are JPEG files of raggedSizes.
func sizedPhotos(t *testing.T) (*dataset.Folder, [][]byte) {
	t.Helper()
	var files [][]byte
	all := fstest.MapFS{}
	for i, size := range raggedSizes {
		m := image.NewRGBA(image.Rectangle{Max: size})
		for y := range size.Y {
			for x := range size.X {
				m.SetRGBA(x, y, color.RGBA{uint8(3 * x), uint8(5 * y), uint8(x * y), 255})
			}
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, m, nil); err != nil {
			t.Fatal(err)
		}
		files = append(files, file.Bytes())
		all[fmt.Sprintf("all/%d.jpg", i)] = &fstest.MapFile{Data: file.Bytes()}
	}
	photos, err := dataset.ImageFolder(all)
	if err != nil {
		t.Fatal(err)
	}
	return photos, files
}

var detector = transform.Compose(transform.Resize(32, transform.MaxSize(60)), transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))

func TestRaggedRowsAreWhatAppendGives(t *testing.T) {
	photos, files := sizedPhotos(t)
	for _, last := range []transform.Item{transform.Layout(transform.CHW), transform.Layout(transform.HWC)} {
		x, err := transform.Images(photos, detector, last, transform.Ragged(), transform.Sizes("size"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := transform.Compile(detector, last, transform.Ragged())
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		slot := dataset.NewSlot(x.Spec()...) // keeps what earlier images left
		for _, i := range []int{0, 1, 2, 3, 4, 2, 0, 3} {
			if err := r.Place(t.Context(), i, slot); err != nil {
				t.Fatal(err)
			}
			want, h, w, err := p.Append([]float32{1, 2}, transform.File(files[i]))
			if err != nil {
				t.Fatal(err)
			}
			if got := dataset.Row[float32](slot, 0); !slices.Equal(got, want[2:]) || len(got) != 3*h*w {
				t.Errorf("%v, image %d: %d values, other ones than the %d of Append", last, i, len(got), 3*h*w)
			}
			if got, want := dataset.Row[int64](slot, x.Spec().Index("size")), []int64{int64(h), int64(w)}; !slices.Equal(got, want) {
				t.Errorf("%v, image %d: size %v, want %v", last, i, got, want)
			}
			if !slices.Equal(want[:2], []float32{1, 2}) {
				t.Error("Append changed what was there")
			}
		}
	}
}

func TestRaggedBatchesHoldWholeImages(t *testing.T) {
	photos, files := sizedPhotos(t)
	p, err := transform.Compile(detector, transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	x, err := transform.Images(photos, detector, transform.Ragged(), transform.Sizes("size"))
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 1, 4} {
		l, err := loader.New(x, loader.Workers(workers), loader.BatchSize(3))
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range l.Epochs(t.Context(), 0, 3) {
			if err != nil {
				t.Fatal(err)
			}
			all, ends, sizes := loader.Values[float32](batch, "image"), batch.Offsets("image"), loader.Values[int64](batch, "size")
			for row, i := range batch.Indices() {
				want, h, w, err := p.Append(nil, transform.File(files[i]))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(all[ends[row]:ends[row+1]], want) || sizes[2*row] != int64(h) || sizes[2*row+1] != int64(w) {
					t.Errorf("%d workers: row %d holds other values than image %d", workers, row, i)
				}
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSizesSayWhatOfAPaddedImageIsTheImage(t *testing.T) {
	photos, files := sizedPhotos(t)
	x, err := transform.Images(photos, detector, transform.PadTo([2]int{60, 64}), transform.Sizes("size"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := transform.Compile(detector, transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		s, err := dataset.At(t.Context(), x, i)
		if err != nil {
			t.Fatal(err)
		}
		values, h, w, err := p.Append(nil, transform.File(files[i]))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := dataset.ValuesOf[int64](s["size"]), []int64{int64(h), int64(w)}; !slices.Equal(got, want) {
			t.Errorf("image %d: size %v, want %v", i, got, want)
		}
		padded := dataset.ValuesOf[float32](s["image"])
		for c := range 3 {
			for y := range 60 {
				row, want := padded[(c*60+y)*64:][:64], make([]float32, 64)
				if y < h {
					copy(want, values[(c*h+y)*w:][:w])
				}
				if !slices.Equal(row, want) {
					t.Fatalf("image %d, channel %d, row %d: other values than the image and zeros", i, c, y)
				}
			}
		}
	}
}

func TestRaggedErrors(t *testing.T) {
	photos, files := sizedPhotos(t)
	for _, c := range []struct {
		steps []transform.Item
		want  string
	}{
		{[]transform.Item{transform.Ragged()}, "Ragged(): want Sizes too"},
		{[]transform.Item{transform.Ragged(), transform.Sizes("")}, `Sizes(""): want a name`},
		{[]transform.Item{transform.Sizes("a"), transform.Sizes("b")}, `Sizes("b"): must come only once`},
		{[]transform.Item{transform.Ragged(), transform.Sizes("label")}, `Sizes("label"): the dataset has a field of that name`},
		{[]transform.Item{transform.Resize(20)}, "the size varies from image to image after Resize(20)"},
	} {
		if _, err := transform.Images(photos, c.steps...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.steps, err, c.want)
		}
	}
	p, err := transform.Compile(transform.ToTensor(), transform.Ragged(), transform.MaxPixels(2000))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Into(make([]float32, 1), transform.File(files[0])); err == nil || !strings.Contains(err.Error(), "use Append") {
		t.Errorf("Into: error %v, want one that names Append", err)
	}
	if _, _, _, err := p.Append(nil, transform.File(files[2])); err == nil || !strings.Contains(err.Error(), "limit of 2000") {
		t.Errorf("Append of a large image: error %v, want one of the limit", err)
	}
	large, err := transform.Compile(transform.Pad(1000), transform.ToTensor(), transform.Ragged(), transform.MaxPixels(2000))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := large.Append(nil, transform.File(files[0])); err == nil || !strings.Contains(err.Error(), "limit of 2000") {
		t.Errorf("Append of a padded image: error %v, want one of the limit", err)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	_, files := sizedPhotos(t)
	p, err := transform.Compile(detector, transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	var values []float32
	run := func() {
		for _, f := range files {
			if values, _, _, err = p.Append(values[:0], transform.File(f)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 4 * runtime.GOMAXPROCS(0) { // as many images are prepared at a time
		run()
	}
	if n := allocs.PerRun(0, 20, run); n > 0 {
		t.Errorf("%v allocations for %d images, want none", n, len(files))
	}
}
