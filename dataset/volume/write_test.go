package volume_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
		if err := volume.WriteNRRD(&file, v, i%4 < 2); err != nil {
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
		if v.Attributes == nil {
			v.Attributes = map[string]string{}
		}
		v.Attributes[fmt.Sprintf("key %d", k)] = []string{"", " a\nb ", `\n:=`}[r.IntN(3)]
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
		v.Attributes = map[string]string{keys[r.IntN(len(keys))]: []string{"x", "a\rb"}[r.IntN(2)]}
	}
}

func TestWhatNRRDCannotHoldIsAnError(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(*volume.Volume)
	}{
		{`axis -3: no such direction in NRRD: kind "", spacing 0, direction [0 0 1]`, func(v *volume.Volume) { v.Axes[0].Spacing = 0 }},
		{`axis -1: no such spacing in NRRD: kind "", spacing -1, direction [1 0 0]`, func(v *volume.Volume) { v.Axes[2].Spacing = -1 }},
		{`line 8: space directions: vector 0: `, func(v *volume.Volume) { v.Axes[2].Spacing = math.Inf(1) }},
		{`axis -2: no such spacing in NRRD: kind "", spacing 2, direction [0 2 0]`, func(v *volume.Volume) { v.Axes[1].Direction[1] = 2 }},
		{`line 8: space directions: vector 1: 2 values, want 3`, func(v *volume.Volume) { v.Axes[1].Direction = []float64{0, 1} }},
		{`axis -1: no such kind in NRRD: kind "RGBcolor", `, func(v *volume.Volume) { v.Axes[2].Kind = "RGBcolor" }},
		{`2 axes for the shape (2, 3, 4)`, func(v *volume.Volume) { v.Axes = v.Axes[1:] }},
		{`line 4: space: "XYZ" is not one`, func(v *volume.Volume) { v.World = "XYZ" }},
		{`line 8: space origin: vector 0: 2 values, want 3`, func(v *volume.Volume) { v.Axes, v.Origin = nil, []float64{1, 2} }},
		{`line 9: space origin: vector 0: value 1: "+Inf" is not a finite number`, func(v *volume.Volume) { v.Origin[1] = math.Inf(1) }},
		{`line 9: space origin: vector 0: `, func(v *volume.Volume) { v.Origin = []float64{} }},
		{`23 bytes of data, want 24`, func(v *volume.Volume) { v.Data = v.Data[1:] }},
		{`values of `, func(v *volume.Volume) { v.Dtype = dataset.Complex64 }},
		{`a key of Attributes that is read as another line`, func(v *volume.Volume) { v.Attributes = map[string]string{"#": ""} }},
	} {
		v := maskOf([]int{2, 3, 4}, nil)
		c.spoil(v)
		for name, subject := range map[string]string{"ct": "ct", "": "NRRD"} {
			v.Name = name
			var file bytes.Buffer
			err := volume.WriteNRRD(&file, v, false)
			if want := "volume: write " + subject + ": " + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if file.Len() > 0 {
				t.Errorf("%s: %d bytes are written all the same", c.want, file.Len())
			}
		}
	}
}

func TestWriteReportsTheWritersError(t *testing.T) {
	full := errors.New("disk full")
	v := maskOf([]int{2, 3, 4}, nil)
	for _, gzip := range []bool{false, true} {
		writes := 0
		for ; ; writes++ {
			err := volume.WriteNRRD(&failing{writes, full}, v, gzip)
			if err == nil {
				break
			}
			if !errors.Is(err, full) {
				t.Errorf("gzip %v, write %d: got %v", gzip, writes, err)
			}
		}
		if writes < 2 {
			t.Errorf("gzip %v: %d writes, want some of the header and of the values", gzip, writes)
		}
	}
}

// failing fails after n writes.
type failing struct {
	n   int
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, f.err
	}
	return len(p), nil
}
