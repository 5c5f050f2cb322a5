package transform_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// These are code of the user in all forms. They panic for images whose first value is 2.
type (
	unlucky       struct{}
	unluckySample struct{}
)

func unluckyAt(first int) {
	if first == 2 {
		panic("unlucky")
	}
}

func (unlucky) Apply(m *transform.Image, _ *rand.Rand) error {
	unluckyAt(int(m.Pix[0]))
	return nil
}

func (unluckySample) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	unluckyAt(int(s.Image.Pix[0]))
	return nil
}

// twoFields are four samples: "photo" of 2×2 pixels, all of which are the index, and "caption".
func twoFields() dataset.Dataset {
	spec := dataset.Spec{{Name: "photo", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 2, 3}}, {Name: "caption", Dtype: dataset.Int64}}
	return dataset.Func(4, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Row[uint8](dst, 0) {
			dataset.Row[uint8](dst, 0)[k] = uint8(i)
		}
		dataset.Set(dst, 1, int64(i))
		return nil
	})
}

// plainFiles are four files for an own decoder that panics in sample 2.
func plainFiles() dataset.Dataset {
	return dataset.Func(4, dataset.Spec{{Name: "photo", Dtype: dataset.Uint8, Ragged: true}}, func(_ context.Context, i int, dst dataset.Slot) error {
		file := plain(1, 1, 1, 2, byte(i))
		if i == 2 {
			file = plain(1, 1, 66, 66, 66)
		}
		copy(dataset.Grow[uint8](dst, 0, len(file)), file)
		return nil
	})
}

// TestPanicOfAnOwnStepNamesStepSampleAndField: through a loader, in every kind of own code. The
// stack is there once, and the other samples are well.
func TestPanicOfAnOwnStepNamesStepSampleAndField(t *testing.T) {
	photo := transform.Field("photo")
	for _, c := range []struct {
		want  string
		ds    dataset.Dataset
		steps []transform.Item
		panic string
	}{
		{want: "transform: transform_test.unlucky: field \"photo\": ",
			ds: twoFields(), steps: []transform.Item{transform.Apply(unlucky{}), photo}},
		{want: "transform: transform_test.unluckySample of \"caption\": field \"photo\": ",
			ds: twoFields(), steps: []transform.Item{photo, transform.RandomApply(1, transform.Apply(unluckySample{}, "caption"))}},
		{want: "transform: transform_test.unlucky: field \"views\": ",
			ds: twoFields(), steps: []transform.Item{photo, transform.Views(2, transform.Apply(unlucky{}), transform.As("views"))}},
		{want: "transform: decode: plain: field \"photo\": ",
			ds: plainFiles(), steps: []transform.Item{photo, transform.CenterCrop(1)}, panic: "66"},
		{want: "transform: decode: plain: field \"photo\": ",
			ds: plainFiles(), steps: []transform.Item{photo, transform.Depth16(4), transform.CenterCrop(1)}, panic: "66"},
	} {
		images, err := transform.Images(c.ds, c.steps...)
		if err != nil {
			t.Fatal(err)
		}
		l, err := loader.New(images, loader.Workers(1), loader.BatchSize(4), loader.Skip(loader.NoLimit))
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Len() != 3 {
				t.Errorf("%s: %d samples are well, want 3", c.want, b.Len())
			}
		}
		failures := l.Stats().Failures
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if len(failures) != 1 {
			t.Fatalf("%s: %d failures, want 1", c.want, len(failures))
		}
		value := c.panic
		if value == "" {
			value = "unlucky"
		}
		text := "loader: sample 2, epoch 0, batch 0: " + c.want + "panic: " + value
		var p *dataset.PanicError
		if got := failures[0]; firstLine(got) != text || !errors.As(got, &p) || p.Value != value || strings.Count(got.Error(), "\ngoroutine ") != 1 ||
			!strings.Contains(string(p.Stack), "transform_test.") {
			t.Errorf("got  %v\nwant %s, and the stack once", got, text)
		}
	}
}

// A broken image panics where its pixels are read, or its size.
type broken struct{ image.Uniform }

func (b *broken) Bounds() image.Rectangle {
	if b.Uniform.C == nil {
		panic("no size")
	}
	return image.Rect(0, 0, 2, 2)
}

func (b *broken) At(int, int) color.Color { panic("no pixels") }

func TestPanicsInCompileAreErrors(t *testing.T) {
	c, err := transform.Compile(transform.Resize([2]int{1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for want, img := range map[string]*broken{
		"transform: Decoded(*transform_test.broken): panic: no size":   {},
		"transform: Decoded(*transform_test.broken): panic: no pixels": {image.Uniform{C: color.Black}},
	} {
		var p *dataset.PanicError
		if err := c.IntoBytes(make([]byte, 3), transform.Decoded(img)); err == nil || firstLine(err) != want || !errors.As(err, &p) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	deep, err := transform.Compile(transform.Depth16(3), transform.Resize([2]int{1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	short := &image.RGBA{Rect: image.Rect(0, 0, 2, 2), Stride: 8} // its method Opaque panics
	var p *dataset.PanicError
	if err := deep.IntoBytes(make([]byte, 6), transform.Decoded(short)); !errors.As(err, &p) {
		t.Errorf("got %v, want the panic of an image without pixels", err)
	}
	own, err := transform.Compile(transform.Apply(unlucky{}), transform.Resize([2]int{1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for want, from := range map[string]transform.Source{
		`transform: transform_test.unlucky: field "image": panic: unlucky`: transform.RGB([]uint8{2, 2, 2}, 1, 1),
		`transform: decode: registered format: field "image": panic: EOF`:  transform.File([]byte("EOF")),
	} {
		if err := own.IntoBytes(make([]byte, 3), from); err == nil || firstLine(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if strings.HasSuffix(want, "EOF") && !errors.Is(own.IntoBytes(make([]byte, 3), from), io.EOF) {
			t.Error("an error that is the argument of panic is lost")
		}
	}
}

func init() { image.RegisterFormat("eof", "EOF", neverDecoded, panickingConfig) }

func neverDecoded(io.Reader) (image.Image, error)     { panic("not reached") }
func panickingConfig(io.Reader) (image.Config, error) { panic(io.EOF) }

// TestPanicsOfFunctionsOfSizesAreErrors has the steps with a function of the user's own, which panics for one size.
func TestPanicsOfFunctionsOfSizesAreErrors(t *testing.T) {
	unluckySize := func(h, w int) (int, int) {
		unluckyAt(h)
		return h, w
	}
	for _, step := range []transform.Step{
		transform.ResizeFunc("as it is", unluckySize),
		transform.TileFunc("as it is", func(h, w int) transform.Tile {
			unluckySize(h, w)
			return transform.Tile{}
		}),
		transform.Tiles(1, "one", func(h, w int) []transform.Tile {
			unluckySize(h, w)
			return make([]transform.Tile, 1)
		}),
		transform.SizesFunc("size", nil, func(image, _ [2]int, _ []int64) { unluckySize(image[0], image[1]) }),
	} {
		p, err := transform.Compile(step, transform.ToTensor(), transform.Ragged())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []int{1, 2, 3} {
			_, _, err := p.AppendAll(nil, nil, transform.RGB(make([]byte, 3*h), 1, h))
			var panics *dataset.PanicError
			if got := errors.As(err, &panics); got != (h == 2) {
				t.Errorf("%v: %d rows: error %v", step, h, err)
			}
			if want := fmt.Sprintf("transform: %v: field \"image\": panic: unlucky", step); h == 2 && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
}
