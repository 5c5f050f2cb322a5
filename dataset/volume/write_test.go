package volume_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

// TestVolumesComeBackOrAreErrors writes random volumes. Valid ones must be read back as
// they were. Those with something unusual must be read back so, or be errors.
func TestVolumesComeBackOrAreErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	refused := 0
	for i := range 4000 {
		v := madeUp(r)
		odd := i%2 == 1
		if odd {
			spoil(r, v)
		}
		var file bytes.Buffer
		if err := volume.WriteNRRD(&file, v); err != nil {
			if !odd || file.Len() > 0 {
				t.Fatalf("volume %d: %v, after %d bytes\n%+v", i, err, file.Len(), v)
			}
			refused++
			continue
		}
		got, err := volume.Read(fstest.MapFS{"x.nrrd": {Data: file.Bytes()}}, "x.nrrd", 0)
		if err != nil {
			t.Fatalf("volume %d: %v\n%+v", i, err, v)
		}
		want := *v
		want.Name, want.Mask, want.Fill = "x.nrrd", false, 0
		if want.Axes == nil {
			want.Axes = make([]volume.Axis, len(want.Shape))
		}
		for len(want.Shape) > 1 && want.Shape[0] == 1 && cmp.Equal(want.Axes[0], volume.Axis{Kind: "list"}) {
			want.Shape, want.Axes = want.Shape[1:], want.Axes[1:]
		}
		if diff := cmp.Diff(&want, got, sameDtype, cmpopts.EquateApprox(2e-6, 1e-6)); diff != "" {
			t.Fatalf("volume %d: wrote -, read +\n%s", i, diff)
		}
	}
	if refused < 500 || refused > 1900 {
		t.Errorf("%d of 2000 odd volumes are errors: want most, but not all", refused)
	}
}

// madeUp is a random volume that a file can hold.
func madeUp(r *rand.Rand) *volume.Volume {
	v := &volume.Volume{Mask: r.IntN(4) == 0, Fill: float64(r.IntN(3))}
	dtypes := []dataset.Dtype{dataset.Uint8, dataset.Int16, dataset.Uint32, dataset.Float32, dataset.Float64}
	v.Dtype = dtypes[r.IntN(len(dtypes))]
	world := 1 + r.IntN(5)
	if v.World = []string{"", "LPS", "RAS", "LAS"}[r.IntN(4)]; v.World != "" {
		world = 3 + r.IntN(2)
	}
	if r.IntN(2) == 0 {
		for range world {
			v.Origin = append(v.Origin, 100*r.NormFloat64())
		}
	}
	for range 2 + r.IntN(3) {
		v.Shape = append(v.Shape, 1+r.IntN(3))
		a := volume.Axis{Kind: []string{"", "list", "space", "domain", "time"}[r.IntN(5)]}
		if r.IntN(3) > 0 {
			a.Spacing = math.Exp(5 * r.NormFloat64())
		}
		if a.Spacing > 0 && r.IntN(2) == 0 {
			a.Direction = unitVector(r, world)
		}
		v.Axes = append(v.Axes, a)
	}
	if r.IntN(8) == 0 {
		v.Axes = nil
	}
	for k := range r.IntN(3) {
		v.Attributes = append(v.Attributes, volume.Attribute{Key: fmt.Sprintf("key %d", k), Value: []string{"", " a\nb ", `\n:=`}[r.IntN(3)]})
	}
	v.Data = make([]byte, v.Bytes())
	for k := range v.Data {
		v.Data[k] = byte(r.IntN(100)) // no NaN
	}
	return v
}

func unitVector(r *rand.Rand, n int) []float64 {
	unit, length := make([]float64, n), 0.0
	for k := range unit {
		unit[k] = r.NormFloat64()
		length = math.Hypot(length, unit[k])
	}
	for k := range unit {
		unit[k] /= length
	}
	return unit
}

// spoil makes one thing of the volume unusual.
func spoil(r *rand.Rand, v *volume.Volume) {
	odd := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1e-310, 1e308, 2, 1 + 1e-9}
	x := odd[r.IntN(len(odd))]
	if len(v.Axes) == 0 {
		v.Axes = make([]volume.Axis, len(v.Shape)+r.IntN(3)-1)
		return
	}
	a := &v.Axes[r.IntN(len(v.Axes))]
	switch r.IntN(9) {
	case 0:
		a.Spacing = x
	case 1:
		a.Direction = []float64{0, x, 0}
	case 2:
		a.Direction, a.Spacing = slices.Clone(a.Direction[:len(a.Direction)/2]), 1
	case 3:
		a.Direction, a.Spacing = unitVector(r, 1+r.IntN(10)), x
	case 4:
		a.Kind = []string{"RGBcolor", "none", "a b", "Space", "3-vector", "normal"}[r.IntN(6)]
	case 5:
		v.World = []string{"XYZ", "lps", "LPST", " ", "RAS"}[r.IntN(5)]
	case 6:
		v.Origin = make([]float64, r.IntN(11))
	case 7:
		v.Origin = []float64{1, x, 3}
	case 8:
		keys := []string{"", "sizes", "a:b", "type: x", "#", "a\rb", "key 0", "k\n"}
		v.Attributes = append(v.Attributes, volume.Attribute{Key: keys[r.IntN(len(keys))], Value: []string{"x", "a\rb"}[r.IntN(2)]})
	}
}

func TestWhatNRRDCannotHoldIsAnError(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(*volume.Volume)
	}{
		{`axis 0: a direction without a spacing`, func(v *volume.Volume) { v.Axes[0].Spacing = 0 }},
		{`axis 2: a spacing of -1, want a finite one of 0 or more`, func(v *volume.Volume) { v.Axes[2].Spacing = -1 }},
		{`axis 2: a spacing of NaN, want a finite one of 0 or more`, func(v *volume.Volume) { v.Axes[2].Spacing = math.NaN() }},
		{`axis 1: a direction with a spacing of 1e-310, want 1e-300 to 1e+300`, func(v *volume.Volume) { v.Axes[1].Spacing = 1e-310 }},
		{`axis 1: the direction [0 2 0] is not a unit vector`, func(v *volume.Volume) { v.Axes[1].Direction[1] = 2 }},
		{`axis 1: the direction [] is not a unit vector`, func(v *volume.Volume) { v.Axes[1].Direction = []float64{} }},
		{`axis 1: a direction of 2 numbers, want 3, as in the origin and the other directions`, func(v *volume.Volume) { v.Axes[1].Direction = []float64{0, 1} }},
		{`axis 2: kind "RGBcolor", which NRRD does not have`, func(v *volume.Volume) { v.Axes[2].Kind = "RGBcolor" }},
		{`2 axes for the shape (2, 3, 4)`, func(v *volume.Volume) { v.Axes = v.Axes[1:] }},
		{`world "XYZ": want LPS, RAS, LAS or ""`, func(v *volume.Volume) { v.World = "XYZ" }},
		{`world "LPS": origin and directions have 2 numbers, want 3`, func(v *volume.Volume) { v.Axes, v.Origin = nil, []float64{1, 2} }},
		{`the origin [-5 +Inf 7] has a number that is not finite`, func(v *volume.Volume) { v.Origin[1] = math.Inf(1) }},
		{`the origin has no numbers; nil is an unknown one`, func(v *volume.Volume) { v.Origin = []float64{} }},
		{`23 bytes of data, want 24`, func(v *volume.Volume) { v.Data = v.Data[1:] }},
		{`the Dtype is missing`, func(v *volume.Volume) { v.Dtype = dataset.Dtype(0) }},
		{`line 10: key "a" is on line 9 already`, func(v *volume.Volume) { v.Attributes = []volume.Attribute{{Key: "a"}, {Key: "a"}} }},
	} {
		v := maskOf([]int{2, 3, 4}, nil)
		c.spoil(v)
		for name, subject := range map[string]string{"ct": "ct", "": "NRRD"} {
			v.Name = name
			var file bytes.Buffer
			err := volume.WriteNRRD(&file, v)
			if want := "volume: write " + subject + ": " + c.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if file.Len() > 0 {
				t.Errorf("%s: %d bytes are written all the same", c.want, file.Len())
			}
		}
	}
}
