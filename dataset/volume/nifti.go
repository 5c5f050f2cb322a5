package volume

import (
	"fmt"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/internal/dense"
)

// niftiDecoder reads NIfTI-1 and -2.
type niftiDecoder struct{}

func (niftiDecoder) ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	h, err := nifti.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	v := ofNIfTI(name, h, h.Shape())
	if scaled(h) {
		v.Dtype = dataset.Float32
	}
	return v, nil
}

func (niftiDecoder) Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	img, err := nifti.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	v := ofNIfTI(name, &img.Header, img.Sizes)
	v.Data = img.Data
	if !scaled(&img.Header) {
		return v, nil
	}
	if n := int64(v.Elements()) * int64(dataset.Float32.Size()); limit > 0 && n > limit {
		return nil, fmt.Errorf("scl_slope: %d bytes of data once scaled, the limit is %d", n, limit)
	}
	return v, v.scale(img.Scale())
}

func ofNIfTI(name string, h *nifti.Header, sizes []int) *Volume {
	v := reversed(name, h.Dtype(), sizes)
	v.place(h.World(), h.Origin(), h.Spacing(), h.Directions(), millimetres(h.XYZUnit))
	n := len(h.Dim)
	for k := range h.Dim {
		kind := "space"
		switch {
		case k == 3 && h.TimeUnit != "":
			kind = "time"
		case k >= 3:
			kind = "list"
		}
		v.Axes[n-1-k].Kind = kind
	}
	for k := n; k < len(v.Axes); k++ { // parts of a number or colour
		v.Axes[k].Kind = "list"
	}
	if h.Descrip != "" {
		v.Attributes = append(v.Attributes, Attribute{"descrip", h.Descrip})
	}
	return v
}

// scaled reports whether the header asks for values other than those stored.
// Colours are never scaled (nifti1.h, "DATA SCALING").
func scaled(h *nifti.Header) bool {
	if h.Datatype == nifti.RGB24 || h.Datatype == nifti.RGBA32 {
		return false
	}
	slope, inter := h.Scale()
	return slope != 1 || inter != 0
}

// scale makes the values slope·v + inter in float32, computed in float64 as
// nibabel does.
func (v *Volume) scale(slope, inter float64) error {
	to := make([]float32, v.Elements())
	var block [1024]float64
	for at := 0; at < len(to); at += len(block) {
		n := min(len(block), len(to)-at)
		if err := copyNumbers(block[:n], v, at); err != nil {
			return err
		}
		for k, x := range block[:n] {
			to[at+k] = float32(slope*x + inter)
		}
	}
	v.Dtype, v.Data = dataset.Float32, dense.Bytes(to)
	return nil
}
