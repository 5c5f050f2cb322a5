package dataset_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

// annotated is a sample with everything that belongs to an image.
var annotated = dataset.Spec{
	{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image},
	{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYWH, Of: "image"},
	{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
	{Name: "mask", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Mask},
	{Name: "points", Dtype: dataset.Float32, Shape: dataset.Shape{17, 3}, Ragged: true, Kind: dataset.KeyPoints, Of: "boxes"},
}

func ofSpec(spec dataset.Spec) dataset.Dataset {
	return dataset.Func(3, spec, func(context.Context, int, dataset.Slot) error { return nil })
}

func TestCombinationsKeepTheKinds(t *testing.T) {
	ds := ofSpec(annotated)
	renamed := func(names ...string) dataset.Spec {
		spec := append(dataset.Spec{}, annotated...)
		r := strings.NewReplacer(names...)
		for k, f := range spec {
			spec[k].Name, spec[k].Of = r.Replace(f.Name), r.Replace(f.Of)
		}
		return spec
	}
	plain := func(at ...int) (spec dataset.Spec) { // as a user of Map writes it
		for _, k := range at {
			f := annotated[k]
			f.Kind, f.Of = dataset.Plain, ""
			spec = append(spec, f)
		}
		return spec
	}
	lost := annotated[2]
	lost.Of = ""
	other := dataset.Spec{{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY}}
	nothing := func(dst, src dataset.Slot) error { return nil }
	for name, c := range map[string]struct {
		ds   dataset.Dataset
		want dataset.Spec
	}{
		"Rename":              {must(dataset.Rename(ds, map[string]string{"boxes": "b", "image": "i", "label": "l"})), renamed("boxes", "b", "image", "i", "label", "l")},
		"Select":              {must(dataset.Select(ds, "label", "boxes", "image")), dataset.Spec{annotated[2], annotated[1], annotated[0]}},
		"Select without":      {must(dataset.Select(ds, "label")), dataset.Spec{lost}},
		"Map":                 {must(dataset.Map(ds, plain(0, 1, 2), nothing)), annotated[:3]},
		"Map without":         {must(dataset.Map(ds, plain(2), nothing)), dataset.Spec{lost}},
		"Map to another kind": {must(dataset.Map(ds, other, nothing)), other},
		"Concat":              {must(dataset.Concat(ds, ds)), annotated},
		"Subset":              {must(dataset.Subset(ds, []int{2})), annotated},
		"Cached":              {must(dataset.Cached(ds, 1<<20)), annotated},
		"Zip":                 {must(dataset.Zip(must(dataset.Rename(ofSpec(other), map[string]string{"boxes": "old"})), ds)), append(dataset.Spec{{Name: "old", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY}}, annotated...)},
	} {
		if got := c.ds.Spec(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestConcatRefusesOtherKinds(t *testing.T) {
	spec := append(dataset.Spec{}, annotated...)
	spec[1].Kind = dataset.BoxesXYXY
	const want = `dataset: Concat: dataset 1: field "boxes" is boxes xyxy of "image", but boxes xywh of "image" in dataset 0`
	if _, err := dataset.Concat(ofSpec(annotated), ofSpec(spec)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSpecsSayToWhatFieldsCannotBelong(t *testing.T) {
	if err := annotated.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field int
		set   func(f *dataset.Field)
		want  string
	}{
		{0, func(f *dataset.Field) { f.Kind = 99 }, `field "image": kind 99 is not known`},
		{0, func(f *dataset.Field) { f.Of = "mask" }, `field "image": an image of "mask": want none`},
		{2, func(f *dataset.Field) { f.Of = "box" }, `field "label": of "box", which is not a field`},
		{2, func(f *dataset.Field) { f.Of = "label" }, `field "label": of "label": want ragged fields with a row per element, of boxes or keypoints`},
		{2, func(f *dataset.Field) { f.Ragged = false }, `field "label": of "boxes": want ragged fields`},
		{1, func(f *dataset.Field) { f.Of = "points" }, `field "boxes": of "points": want an image`},
		{3, func(f *dataset.Field) { f.Of = "boxes" }, `field "mask": of "boxes": want an image`},
		{4, func(f *dataset.Field) { f.Of = "label" }, `field "points": of "label": want ragged fields`},
	} {
		spec := append(dataset.Spec{}, annotated...)
		c.set(&spec[c.field])
		if err := spec.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", spec[c.field], err, c.want)
		}
	}
}

func TestKindsAreTextInJSON(t *testing.T) {
	for k := dataset.Plain; k <= dataset.KeyPoints; k++ {
		text, err := json.Marshal(k)
		var got dataset.Kind
		if err != nil || json.Unmarshal(text, &got) != nil || got != k || string(text) != `"`+k.String()+`"` {
			t.Errorf("%v: got %s, %v, read as %v", k, text, err, got)
		}
	}
	var k dataset.Kind
	if err := json.Unmarshal([]byte(`"hologram"`), &k); err == nil || err.Error() != `dataset: no kind of field is named "hologram"` {
		t.Error(err)
	}
	if _, err := json.Marshal(dataset.Kind(99)); err == nil {
		t.Error("no error for a kind that is not known")
	}
}
