package transform

import (
	"github.com/penstock-go/penstock/transform/internal/program"
)

// A List is steps and settings for [Images] and [Compile] that JSON can hold, for configuration files and other programs:
//
//	{"version": 1, "steps": [{"Resize": {"size": 256, "interpolation": "bicubic"}}, {"CenterCrop": {"size": 224}}, {"ToTensor": {}}]}
//
// Names and arguments are those of torchvision's classes, with their defaults, and for what torchvision does not have those
// of this package. docs/transforms.md lists them. Read back, the steps make the same pixels with the same random numbers.
type List []Item

// FromJSON reads what [List.MarshalJSON] has written, or what was written by hand. A name or an argument that is not known, or
// a value of another type, is an error that names its place, such as steps[3].Resize.size. The error joins everything that is
// wrong. A list has at most 1,000 steps.
func FromJSON(data []byte) (List, error) {
	calls, err := program.Decode(data)
	if err != nil {
		return nil, program.InPackage(err)
	}
	list := make(List, len(calls))
	for i, c := range calls {
		if list[i] = (step{c}); c.IsSetting() {
			list[i] = Option{c}
		}
	}
	return list, nil
}

// MarshalJSON writes the list. Steps and settings with a function, which are [Apply], [ResizeFunc], [TileFunc], [Tiles],
// [SizesFunc] and [Decompressor], are errors. A preset, such as [Eval], is written as its name and its steps.
func (l List) MarshalJSON() ([]byte, error) {
	calls := make([]*program.Call, len(l))
	for i, it := range l {
		switch it := it.(type) {
		case Step:
			calls[i] = it.made()
		case Option:
			calls[i] = it.c
		}
	}
	data, err := program.Encode(calls)
	return data, program.InPackage(err)
}

// UnmarshalJSON is [FromJSON], for package json.
func (l *List) UnmarshalJSON(data []byte) (err error) {
	if string(data) == "null" { // as package json asks
		return nil
	}
	*l, err = FromJSON(data)
	return err
}
