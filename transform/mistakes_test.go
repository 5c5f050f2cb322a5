package transform_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/transform"
)

// TestMistakesInNestedStepsNameTheirPlace: every line says where the mistake is, from the outside
// inwards, and names the package once.
func TestMistakesInNestedStepsNameTheirPlace(t *testing.T) {
	crop, flip := transform.CenterCrop(8), transform.RandomHorizontalFlip(0.5)
	own := transform.Apply(step(func(*transform.Sample, *rand.Rand) error { return nil }), "labels")
	list := func(several ...transform.Item) []transform.Item { return several }
	const varies = ": add CenterCrop(n), RandomCrop(n), RandomResizedCrop(n) or Resize([2]int{h, w}), or after all steps PadTo([2]int{h, w}) or Ragged()"
	for _, c := range []struct {
		steps []transform.Item
		want  string
	}{
		{list(transform.Views(2, transform.Resize(0), crop)),
			"Views(2, …): Resize(0): want a positive size"},
		{list(transform.Views(2, transform.CenterCrop(0), transform.RandomHorizontalFlip(2), transform.As("global"))),
			`Views(2, …, As("global")): CenterCrop(0): want a positive size
Views(2, …, As("global")): RandomHorizontalFlip(2): want a probability from 0 to 1`},
		{list(transform.Views(2, transform.CenterCrop(8, transform.Fill()))),
			"Views(2, …): CenterCrop(8, Fill()): want a Fill of one number or more"},
		{list(transform.Views(2, crop), transform.CenterCrop(8, transform.Fill())),
			`CenterCrop(8, Fill()): want a Fill of one number or more
CenterCrop(8, Fill()): must be among the steps of Views`},
		{list(transform.Views(2, transform.Compose(crop, nil))),
			"Views(2, …): a step is nil"},
		{list(transform.Views(2, crop), transform.Compose(nil)),
			"a step is nil"},
		{list(crop, transform.ToTensor(), transform.Apply(blue{})),
			"transform_test.blue: must come before ToTensor and PILToTensor"},
		{list(transform.Views(2, transform.Resize(20))),
			"Views(2, …): the size varies from image to image after Resize(20)" + varies},
		{list(transform.Views(2, transform.RandomApply(0.5, transform.RandomChoice(transform.Pad(-1))), crop)),
			"Views(2, …): RandomApply(0.5, …): RandomChoice(…): Pad(-1): want widths of 0 or more"},
		{list(transform.Views(2, transform.RandomOrder(flip, transform.ToTensor()), crop)),
			"Views(2, …): RandomOrder(…): ToTensor(): must not be part of a random step"},
		{list(transform.Views(2, transform.RandomApply(0.5), crop)),
			"Views(2, …): RandomApply(0.5): want at least one step"},
		{list(transform.Views(2, transform.ToTensor(), crop)),
			"Views(2, …): CenterCrop(8): must come before ToTensor and PILToTensor"},
		{list(transform.Views(2, transform.FiveCrop(4), transform.TenCrop(4))),
			"Views(2, …): TenCrop(4): must come before FiveCrop(4)"},
		{list(transform.Views(2, crop), transform.FiveCrop(4)),
			"FiveCrop(4): must be among the steps of Views"},
		{list(transform.Views(2, crop), transform.Compose(transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))),
			`ToTensor(): must be among the steps of Views
Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]): must be among the steps of Views`},
		{list(transform.Views(2, transform.Mask("mask"), crop)),
			`Views(2, …): has no option Mask`},
		{list(transform.Views(2, transform.Views(2, crop))),
			"Views(2, …): Views(2, …): not within Views: several Views stand next to each other"},
		{list(transform.Views(2, crop), transform.Views(6, transform.CenterCrop(4))),
			"Views(6, …): want As with another field than that of Views(2, …)"},
		{list(transform.Views(2, crop), transform.Views(6, transform.CenterCrop(4), transform.As("label"))),
			`Views(6, …, As("label")): the dataset has a field of that name`},
		{list(transform.Views(2, own, crop)),
			`Views(2, …): step of "labels": the dataset has no field "labels", only ` + fmt.Sprint(scenes(t, 1).Spec())},
		{list(transform.RandomApply(0.5, transform.Views(2, crop)), crop),
			"RandomApply(0.5, …): Views(2, …): must not be part of a random step"},
		{list(transform.RandomApply(0.5, transform.TenCrop(4)), crop),
			"RandomApply(0.5, …): TenCrop(4): must not be part of a random step"},
		{list(transform.RandomChoice(flip, transform.Compose(crop, nil)), crop),
			"RandomChoice(…): a step is nil"},
		{list(transform.RandomChoice(flip, nil, transform.P(1)), crop),
			"RandomChoice(…): a step is nil"},
		{list(transform.RandomOrder(transform.RandomApply(1.5, transform.Resize(0)), transform.RandomResizedCrop(8, transform.Scale(2, 1))), crop),
			`RandomOrder(…): RandomApply(1.5, …): want a probability from 0 to 1
RandomOrder(…): RandomResizedCrop(8, Scale(2, 1)): want a Scale above 0, with the least number first`},
		{list(transform.FiveCrop(8), transform.Ragged()),
			"FiveCrop(8): not with Ragged and Sizes: all crops have one size"},
		{list(transform.FiveCrop(20), transform.RandomResize(5, 9)),
			"RandomResize(5, 9): must come before FiveCrop(20)"},
		{list(transform.Mask("seg"), transform.Views(2, crop)),
			"Views(2, …): not with Boxes, Mask, Masks or KeyPoints, which it does not move: dataset.Select leaves fields out"},
		{list(transform.Sizes("size"), transform.Views(2, crop, transform.Ragged())),
			`Views(2, …): has no option Ragged`},
		{list(transform.Ragged(), transform.Sizes("size"), transform.Views(2, crop)),
			"want no Ragged and Sizes with Views, whose results all have one size"},
	} {
		want := "transform: " + strings.ReplaceAll(c.want, "\n", "\ntransform: ")
		_, err := transform.Images(scenes(t, 1), c.steps...)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%v: want -, got +\n%s", c.steps, diff)
		}
	}
}
