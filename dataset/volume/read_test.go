package volume_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
)

var sameDtype = cmp.Comparer(func(a, b dataset.Dtype) bool { return a == b })

func TestVolumesComeBackFromNRRD(t *testing.T) {
	for _, values := range []dataset.Tensor{
		dataset.TensorOf([]int8{-128, 0, 1, 127, 5, 6}), dataset.TensorOf([]uint8{0, 255, 1, 2, 3, 4}), dataset.TensorOf([]int16{-32768, 32767, 0, 1, 2, 3}), dataset.TensorOf([]uint16{65535, 0, 1, 2, 3, 4}),
		dataset.TensorOf([]int32{math.MinInt32, math.MaxInt32, 0, 1, 2, 3}), dataset.TensorOf([]uint32{math.MaxUint32, 0, 1, 2, 3, 4}),
		dataset.TensorOf([]int64{math.MinInt64, math.MaxInt64, 0, 1, 2, 3}), dataset.TensorOf([]uint64{math.MaxUint64, 0, 1, 2, 3, 4}),
		dataset.TensorOf([]float32{float32(math.Inf(1)), -0.1, 3e-45, 1, 2, 3}), dataset.TensorOf([]float64{math.Pi, -1, 0, 1, 2, 5e-324}),
	} {
		v := placed(1, 2, 3)
		v.Name = "x.nrrd"
		v.Dtype, v.Data = values.Dtype(), values.Bytes()
		v.Axes[0].Kind, v.Axes[1].Kind, v.Axes[2].Kind = "domain", "space", "domain"
		v.Attributes = map[string]string{"modality": "CT: of\nAnna"}
		for _, options := range [][]bool{nil, {true}} {
			got, err := volume.Read(fstest.MapFS{"x.nrrd": nrrdFile(v, options...)}, "x.nrrd", 0)
			if err != nil {
				t.Errorf("%v: %v", v, err)
			} else if diff := cmp.Diff(v, got, sameDtype); diff != "" {
				t.Errorf("%v: wrote -, read +\n%s", v, diff)
			}
		}
	}
}

func TestNRRDWithoutPlaceOrInAnotherWorld(t *testing.T) {
	plain := &volume.Volume{Name: "x.nrrd", Shape: dataset.Shape{2, 3}, Axes: make([]volume.Axis, 2), Dtype: dataset.Uint8, Data: make([]byte, 6)}
	spaced := plain.Header()
	spaced.Axes[1].Spacing, spaced.Axes[0].Kind, spaced.Axes[1].Kind = 0.5, "time", "domain"
	flat := plain.Header()
	flat.Origin = []float64{1, 2}
	flat.Axes = []volume.Axis{{Spacing: 2, Direction: []float64{0.6, 0.8}}, {Spacing: 1, Direction: []float64{0.8, -0.6}}}
	for _, v := range []*volume.Volume{plain, spaced, flat} {
		v.Data = make([]byte, 6)
		got, err := volume.Read(fstest.MapFS{"x.nrrd": nrrdFile(v)}, "x.nrrd", 6)
		if err != nil {
			t.Errorf("%v: %v", v, err)
		} else if diff := cmp.Diff(v, got, sameDtype); diff != "" {
			t.Errorf("%v: wrote -, read +\n%s", v, diff)
		}
	}
	if _, err := volume.Read(fstest.MapFS{"x.nrrd": nrrdFile(plain)}, "x.nrrd", 5); err == nil {
		t.Error("6 bytes with a limit of 5: want an error")
	}
	var b bytes.Buffer
	if err := volume.WriteNRRD(&b, plain.Header(), false); err == nil || !strings.Contains(err.Error(), "0 bytes of data, want 6") {
		t.Errorf("no data: got %v", err)
	}
	plain.Dtype, plain.Data = dataset.Complex64, make([]byte, 48)
	if err := volume.WriteNRRD(&b, plain, false); err == nil || !strings.Contains(err.Error(), "values of complex64, want integers or floats") {
		t.Errorf("complex numbers: got %v", err)
	}
}

func TestTumourScanIsRead(t *testing.T) {
	dir := os.DirFS("../../shared/nrrd")
	v, err := volume.Read(dir, "brain-tumour.nrrd", 0)
	if err != nil {
		if _, err := os.Stat("../../shared/nrrd"); err != nil {
			t.Skip("../../shared/nrrd is missing")
		}
		t.Fatal(err)
	}
	if got, want := v.String(), "brain-tumour.nrrd int16 (51, 256, 256), 2.6×1×1 mm, LPS"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, ok := v.Position(10, 0, 1); !ok || fmt.Sprintf("%.3f", got) != "[-129.427 -153.278 19.741]" {
		t.Errorf("position %v", got)
	}
	h, err := volume.ReadHeader(dir, "brain-tumour.nrrd")
	if diff := cmp.Diff(v.Header(), h, sameDtype); err != nil || diff != "" {
		t.Errorf("%v: with values -, header alone +\n%s", err, diff)
	}
}

// nifti makes a NIfTI-1 file of int16 (x, y, z[, t]) with an sform.
func nifti(slope, inter float32, unit byte, dim ...int16) []byte {
	h := make([]byte, 352)
	le := binary.LittleEndian
	le.PutUint32(h, 348)
	le.PutUint16(h[40:], uint16(len(dim)))
	n := 1
	for k := range 7 {
		d := int16(1)
		if k < len(dim) {
			d = dim[k]
		}
		n *= int(d)
		le.PutUint16(h[42+2*k:], uint16(d))
	}
	le.PutUint16(h[70:], 4)  // int16
	le.PutUint16(h[72:], 16) // bits
	for k, p := range []float32{1, 2, 3, 4, 1} {
		le.PutUint32(h[76+4*k:], math.Float32bits(p))
	}
	le.PutUint32(h[108:], math.Float32bits(352))
	le.PutUint32(h[112:], math.Float32bits(slope))
	le.PutUint32(h[116:], math.Float32bits(inter))
	h[123] = unit
	le.PutUint16(h[254:], 1) // sform
	for k, p := range []float32{2, 0, 0, -7, 0, 3, 0, -8, 0, 0, 4, 9} {
		le.PutUint32(h[280+4*k:], math.Float32bits(p))
	}
	copy(h[344:], "n+1\x00")
	for i := range n {
		h = le.AppendUint16(h, uint16(i))
	}
	return h
}

func squeezed(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestNIfTIIsReadAndScaled(t *testing.T) {
	fsys := fstest.MapFS{
		"plain.nii": {Data: nifti(0, 5, 2, 4, 3, 2)}, "scaled.nii.gz": {Data: squeezed(nifti(0.5, -1, 2, 4, 3, 2))},
		"metres.nii": {Data: nifti(1, 0, 1, 4, 3, 2)}, "movie.nii": {Data: nifti(1, 0, 2|8, 4, 3, 2, 5)}, "x.dcm": {},
	}
	for _, c := range []struct{ name, want, last string }{
		{"plain.nii", "plain.nii int16 (2, 3, 4), 4×3×2 mm, RAS", "[23]"},
		{"scaled.nii.gz", "scaled.nii.gz float32 (2, 3, 4), 4×3×2 mm, RAS", "[10.5]"},
		{"metres.nii", "metres.nii int16 (2, 3, 4), 4000×3000×2000 mm, RAS", "[23]"},
		{"movie.nii", "movie.nii int16 (5, 2, 3, 4), 4×3×2 mm, RAS", "[119]"},
	} {
		v, err := volume.Read(fsys, c.name, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := v.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		values, err := v.Float32()
		if err != nil {
			t.Error(err)
		} else if got := fmt.Sprint(values[len(values)-1:]); got != c.last {
			t.Errorf("%s: last value %s, want %s", c.name, got, c.last)
		}
		h, err := volume.ReadHeader(fsys, c.name)
		if diff := cmp.Diff(v.Header(), h, sameDtype); err != nil || diff != "" {
			t.Errorf("%s, %v: with values -, header alone +\n%s", c.name, err, diff)
		}
	}
	v, err := volume.Read(fsys, "movie.nii", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := v.Position(3, 1, 1, 1); !ok || !slices.Equal(got, []float64{-5, -5, 13}) || v.Axes[0].Kind != "time" {
		t.Errorf("position %v, first axis %+v", got, v.Axes[0])
	}
	for _, name := range []string{"x.dcm", "nothing.nii"} {
		if _, err := volume.Read(fsys, name, 0); err == nil || !strings.HasPrefix(err.Error(), "volume: read "+name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLimitCountsScaledValues(t *testing.T) {
	fsys := fstest.MapFS{"x.nii": {Data: nifti(0.5, -1, 2, 4, 3, 2)}}
	if _, err := volume.Read(fsys, "x.nii", 96); err != nil {
		t.Error(err)
	}
	_, err := volume.Read(fsys, "x.nii", 95)
	if got, want := fmt.Sprint(err), "volume: read x.nii: 96 bytes of scaled values, the limit is 95"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestNRRDAndNIfTIAgree loads a cohort of both formats, in two worlds.
func TestNRRDAndNIfTIAgree(t *testing.T) {
	mask := maskOf([]int{2, 3, 4}, map[int]uint8{5: 1})
	mask.Origin = []float64{7, 8, 9}
	for k, d := range [][]float64{{0, 0, 1}, {0, -1, 0}, {-1, 0, 0}} {
		mask.Axes[k].Direction, mask.Axes[k].Spacing = d, []float64{4, 3, 2}[k]
	}
	fsys := fstest.MapFS{"p/t1.nii": {Data: nifti(0, 0, 2, 4, 3, 2)}, "p/mask.nrrd": nrrdFile(mask)}
	s, err := volume.Open(fsys, volume.Scan("t1", "{patient}/t1.nii"), volume.Mask("mask", "{patient}/mask.nrrd"))
	if err != nil {
		t.Fatal(err)
	}
	x := sampleOf(t, cut(t)(s.Whole()), 0)
	if got := fmt.Sprint(dataset.ValuesOf[float32](x["t1"])[5], dataset.ValuesOf[uint8](x["mask"])[5]); got != "5 1" {
		t.Errorf("got %s", got)
	}
}

func TestLabelsThatDoNotFitAreErrors(t *testing.T) {
	for _, c := range []struct {
		values dataset.Tensor
		as     dataset.Dtype
		want   string // "" if they fit
	}{
		{dataset.TensorOf([]int16{0, 1, 255, 0}), dataset.Uint8, ""},
		{dataset.TensorOf([]int16{0, 1, 256, 0}), dataset.Uint8, "voxel (0, 1, 0) has the value 256, which uint8 cannot hold"},
		{dataset.TensorOf([]int16{0, -1, 2, 0}), dataset.Uint8, "voxel (0, 0, 1) has the value -1"},
		{dataset.TensorOf([]int16{0, 1, 256, -3}), dataset.Int64, ""},
		{dataset.TensorOf([]float64{0, 1, 2, 127}), dataset.Int8, ""},
		{dataset.TensorOf([]float64{0, 1, 2, 0.5}), dataset.Int8, "has the value 0.5"},
		{dataset.TensorOf([]float64{0, 1, 2, math.NaN()}), dataset.Int32, "has the value NaN"},
		{dataset.TensorOf([]float64{0, 1, 2, 1e300}), dataset.Int64, "has the value 1e+300"},
		{dataset.TensorOf([]uint64{0, 1, 2, 1 << 63}), dataset.Int64, "cannot hold"},
		{dataset.TensorOf([]uint64{0, 1, 2, math.MaxUint32}), dataset.Uint32, ""},
		{dataset.TensorOf([]uint64{0, 1, 2, 1 << 62}), dataset.Float32, ""},
	} {
		v := placed(2, 2)
		v.Dtype, v.Data = c.values.Dtype(), c.values.Bytes()
		s, err := volume.Open(fstest.MapFS{"p.nrrd": nrrdFile(v)}, volume.Mask("m", "{patient}.nrrd", volume.As(c.as)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = dataset.At(t.Context(), cut(t)(s.Whole()), 0)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), "volume: patient p, m (p.nrrd): voxel ") || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v as %v: got %v, want %q", c.values, c.as, err, c.want)
		}
	}
}

func TestPipesAreNotOpened(t *testing.T) {
	fsys := datatest.PipeFS{T: t}
	for name, read := range map[string]func() error{
		"a.nrrd": func() error { _, err := volume.Read(fsys, "a.nrrd", 0); return err },
		"a.nii":  func() error { _, err := volume.ReadHeader(fsys, "a.nii"); return err },
	} {
		got := fmt.Sprint(read())
		if !strings.HasPrefix(got, "volume: read "+name+": ") || !strings.HasSuffix(got, "not a file") {
			t.Errorf("got %s, want volume: read %s: not a file", got, name)
		}
	}
}
