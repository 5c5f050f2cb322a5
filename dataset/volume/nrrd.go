package volume

import (
	"io/fs"

	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
)

// nrrdDecoder reads Teem's format.
type nrrdDecoder struct{}

func (nrrdDecoder) ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	h, err := nrrd.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	return ofNRRD(name, h, h.Shape()), nil
}

func (nrrdDecoder) Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	img, err := nrrd.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	v := ofNRRD(name, &img.Header, img.Sizes)
	v.Data = img.Data
	return v, nil
}

func ofNRRD(name string, h *nrrd.Header, sizes []int) *Volume {
	v := reversed(name, h.Dtype(), sizes)
	mm := 1.0
	if len(h.SpaceUnits) > 0 {
		mm = millimetres(h.SpaceUnits[0])
	}
	v.place(h.World(), h.Origin(), h.Spacing(), h.Directions(), mm)
	for k, kind := range h.Kinds {
		v.Axes[len(h.Sizes)-1-k].Kind = kind
	}
	if extra := len(sizes) - len(h.Sizes); extra > 0 { // a block's bytes
		v.Axes[len(sizes)-1].Kind = "list"
	}
	for _, kv := range h.KeyValues {
		v.Attributes = append(v.Attributes, Attribute(kv))
	}
	return v
}
