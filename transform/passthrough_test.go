package transform_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// withField is a dataset of one image of 4×6 pixels and one more field.
func withField(f dataset.Field, content []byte) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6, 3}}, f}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		if f.Ragged {
			dst.Cell(1).Grow(len(content))
		}
		copy(dst.Cell(1).Bytes(), content)
		return nil
	})
}

func fieldOfBytes(name string) dataset.Field {
	return dataset.Field{Name: name, Dtype: dataset.Uint8, Ragged: true}
}

// TestForgottenFieldsAreErrors: what surely belongs to the image is not left as it is in silence.
func TestForgottenFieldsAreErrors(t *testing.T) {
	crop := transform.CenterCrop(2)
	own := transform.Apply(step(func(*transform.Sample, *rand.Rand) error { return nil }), "mask")
	mask := fieldOfBytes("mask")
	array := dataset.Field{Name: "target", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6}}
	wide := dataset.Field{Name: "target", Dtype: dataset.Int64, Shape: dataset.Shape{4, 6}}
	fixed := dataset.Field{Name: "mask", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6}}
	small := dataset.Field{Name: "segments", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 3}}
	depth := dataset.Field{Name: "depth", Dtype: dataset.Float32, Shape: dataset.Shape{4, 6}}
	boxes := dataset.Field{Name: "objects", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true}
	const left = "transform: field %v would stay as it is while %s moves the image: want %s, or PassThrough(%q) if it has nothing to do with the image"
	for _, c := range []struct {
		field dataset.Field
		steps []transform.Item
		want  string
	}{
		{mask, []transform.Item{crop}, fmt.Sprintf(left, mask, "CenterCrop(2)", `Mask("mask")`, "mask")},
		{fieldOfBytes("masks"), []transform.Item{crop}, fmt.Sprintf(left, fieldOfBytes("masks"), "CenterCrop(2)", `Masks("masks")`, "masks")},
		{mask, []transform.Item{transform.RandomApply(0.5, transform.RandomVerticalFlip(1))}, fmt.Sprintf(left, mask, "RandomVerticalFlip(1)", `Mask("mask")`, "mask")},
		{mask, []transform.Item{transform.Views(2, transform.ToTensor()), transform.Views(2, transform.RandomRotation(0, 9), transform.As("b"))}, fmt.Sprintf(left, mask, "RandomRotation(0, 9)", `Mask("mask")`, "mask")},
		{mask, []transform.Item{transform.FiveCrop(2)}, fmt.Sprintf(left, mask, "FiveCrop(2)", `Mask("mask")`, "mask")},
		{mask, []transform.Item{transform.RandAugment(2, 9)}, fmt.Sprintf(left, mask, "RandAugment(2, 9)", `Mask("mask")`, "mask")},
		{array, []transform.Item{crop}, fmt.Sprintf(left, array, "CenterCrop(2)", `Mask("target")`, "target")},
		{wide, []transform.Item{crop}, fmt.Sprintf(left, wide, "CenterCrop(2)", `Mask("target") of uint8 or uint16`, "target")},
		{small, []transform.Item{crop}, fmt.Sprintf(left, small, "CenterCrop(2)", `Apply(…, "segments")`, "segments")},
		{depth, []transform.Item{crop}, fmt.Sprintf(left, depth, "CenterCrop(2)", `Apply(…, "depth")`, "depth")},
		{boxes, []transform.Item{crop}, fmt.Sprintf(left, boxes, "CenterCrop(2)", `Boxes("objects", XYXY) or another format`, "objects")},
		{mask, []transform.Item{transform.PassThrough("masq"), transform.ToTensor()}, `transform: PassThrough("masq"): the dataset has no field "masq", only ` + fmt.Sprint(withField(mask, nil).Spec())},
		{mask, []transform.Item{transform.PassThrough("image"), transform.ToTensor()}, `transform: PassThrough("image"): that is the field of the images`},
		{mask, []transform.Item{transform.Mask("mask"), transform.PassThrough("mask"), crop}, `transform: PassThrough("mask"): another step names that field`},
		{mask, []transform.Item{transform.PassThrough(), transform.ToTensor()}, `transform: PassThrough(): want the names of fields`},
		{mask, []transform.Item{transform.Views(2, transform.PassThrough("mask"), crop), transform.PassThrough("mask")}, `transform: Views(2, …): has no option PassThrough`},

		{mask, []transform.Item{transform.ExifTranspose(), transform.ToTensor()}, "<nil>"}, // arrays have no Exif data
		{mask, []transform.Item{transform.ColorJitter(0.1, 0.1, 0.1, 0.1), transform.ToTensor()}, "<nil>"},
		{mask, []transform.Item{transform.Mask("mask"), crop}, "<nil>"},
		{mask, []transform.Item{transform.PassThrough("mask"), crop}, "<nil>"},
		{mask, []transform.Item{own, crop}, "<nil>"},
		{mask, []transform.Item{transform.Views(2, transform.RandomApply(1, own), crop)}, "<nil>"},
		{array, []transform.Item{transform.PassThrough("target"), crop}, "<nil>"},
		{boxes, []transform.Item{transform.PassThrough("objects"), crop}, "<nil>"},
		{fieldOfBytes("caption"), []transform.Item{crop}, "<nil>"},
		{dataset.Field{Name: "label", Dtype: dataset.Int64}, []transform.Item{crop}, "<nil>"},
	} {
		_, err := transform.Images(withField(c.field, nil), c.steps...)
		if diff := cmp.Diff(c.want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%v, %v: want -, got +\n%s", c.field, c.steps, diff)
		}
	}

	const upright = "files that are upright already, without ExifTranspose()"
	for _, c := range []struct {
		field dataset.Field
		steps []transform.Item
		want  string
	}{
		{mask, []transform.Item{transform.ExifTranspose(), transform.Ragged(), transform.Sizes("sizes")}, fmt.Sprintf(left, mask, "ExifTranspose()", upright, "mask")},
		{fixed, []transform.Item{transform.ExifTranspose(), crop}, fmt.Sprintf(left, fixed, "ExifTranspose()", upright, "mask")},
		{boxes, []transform.Item{transform.ExifTranspose(), crop}, fmt.Sprintf(left, boxes, "ExifTranspose()", upright, "objects")},
		{fixed, []transform.Item{crop}, fmt.Sprintf(left, fixed, "CenterCrop(2)", `Mask("mask")`, "mask")},
		{fixed, []transform.Item{transform.ExifTranspose(), transform.PassThrough("mask"), crop}, "<nil>"},
		{fixed, []transform.Item{transform.Ragged(), transform.Sizes("sizes")}, "<nil>"},
		{array, []transform.Item{crop}, "<nil>"}, // the sizes of files are not known
	} {
		files := dataset.Func(0, dataset.Spec{fieldOfBytes("image"), c.field}, func(context.Context, int, dataset.Slot) error { return nil })
		_, err := transform.Images(files, c.steps...)
		if diff := cmp.Diff(c.want, fmt.Sprint(err)); diff != "" {
			t.Errorf("files, %v, %v: want -, got +\n%s", c.field, c.steps, diff)
		}
	}
}

// TestImageFilesDoNotPassThroughUnsaid: a field is known to hold image files once there are some.
func TestImageFilesDoNotPassThroughUnsaid(t *testing.T) {
	crop := transform.RandomCrop(2)
	const (
		moves = ` file, which would stay as it is while RandomCrop(2) moves the image: want `
		apart = `PassThrough("extra") if it has nothing to do with the image`
		left  = moves + `Mask("extra") if it is a mask, or ` + apart
	)
	for _, c := range []struct {
		content string
		steps   []transform.Item
		want    string
	}{
		{"\x89PNG\r\n\x1a\n…", []transform.Item{crop}, `dataset: sample 0: transform: field "extra" holds a PNG` + left},
		{"\xff\xd8\xff\xe0…", []transform.Item{crop}, `dataset: sample 0: transform: field "extra" holds a JPEG` + moves + apart},
		{"II*\x00…", []transform.Item{transform.Views(2, crop)}, `dataset: sample 0: transform: field "extra" holds a TIFF` + left},
		{"\x89PNG\r\n\x1a\n…", []transform.Item{transform.PassThrough("extra"), crop}, "<nil>"},
		{"\x89PNG\r\n\x1a\n…", []transform.Item{transform.ToTensor()}, "<nil>"},
		{"BMW in the rain", []transform.Item{crop}, "<nil>"},
		{"P5 in Schwerin", []transform.Item{crop}, "<nil>"},
		{"", []transform.Item{crop}, "<nil>"},
	} {
		x, err := transform.Images(withField(fieldOfBytes("extra"), []byte(c.content)), c.steps...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := dataset.At(t.Context(), x, 0)
		if fmt.Sprint(err) != c.want {
			t.Errorf("%q, %v:\ngot  %v\nwant %s", c.content, c.steps, err, c.want)
		}
		if dataset.MayPass(err) != (err != nil) || dataset.Persists(err) != (err != nil) {
			t.Errorf("%v: a loader would skip all samples by it", err)
		}
		if err == nil && c.content != "" && !bytes.Equal(dataset.ValuesOf[uint8](s["extra"]), []byte(c.content)) {
			t.Errorf("%q became %q", c.content, s["extra"].Data())
		}
	}
}

func TestThePlanListsWhatPassesThrough(t *testing.T) {
	last := func(x *transform.Pipeline, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(x.String(), "\n")
		return lines[len(lines)-1]
	}
	crop := transform.CenterCrop(8)
	for want, got := range map[string]string{
		"  pass on   label int64 (n), mask uint8 (n)": last(transform.Images(scenes(t, 1),
			transform.Boxes("boxes", transform.XYXY, transform.With("points"), transform.Apart("mask", "label")), crop)),
		"  pass on   label int64 (n), points float32 (n, 2, 3)": last(transform.Images(scenes(t, 1),
			transform.Mask("mask"), transform.Views(2, transform.Apply(step(nil), "boxes"), crop))),
		"  store     uint8 HWC": last(transform.Images(withField(fieldOfBytes("mask"), nil), transform.Mask("mask"), transform.CenterCrop(2))),
	} {
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
