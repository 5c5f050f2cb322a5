package volume

import (
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/dataset/volume/internal/metaimage"
)

// metaImageDecoder reads ITK's own format.
type metaImageDecoder struct{}

func (metaImageDecoder) ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	h, err := metaimage.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	return ofMetaImage(name, h), nil
}

func (metaImageDecoder) Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	img, err := metaimage.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	v := ofMetaImage(name, &img.Header)
	v.Data = img.Data
	return v, nil
}

func ofMetaImage(name string, h *metaimage.Header) *Volume {
	v := reversed(name, h.Dtype, h.Shape())
	spacing := slices.Clone(h.Spacing)
	for i, d := range h.Directions { // which need not be unit vectors
		length, _ := unitOf(d)
		spacing[i] *= length
	}
	world := "LPS"
	if len(h.Origin) < 3 {
		world = ""
	}
	v.place(world, h.Origin, spacing, h.Directions, millimetres(h.Unit))
	for k := range v.Axes {
		v.Axes[k].Kind = "list"
	}
	for k := range h.Directions {
		v.Axes[len(h.Sizes)-1-k].Kind = "space"
	}
	for _, f := range h.Fields {
		v.Attributes = append(v.Attributes, Attribute(f))
	}
	return v
}
