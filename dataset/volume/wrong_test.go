package volume_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

func TestWrongStepsAreReportedTogether(t *testing.T) {
	err := volume.Process(t.Context(), []*volume.Volume{made("ct", false, []int{2, 2}, []float64{1, 1}, nil), made("mask", true, []int{2, 2}, []float64{1, 1}, nil)}, nil, volume.Window(1, 0), volume.Window(0, math.Inf(1)), volume.ZScore().To(0, 1), volume.MinMax().To(1, 1),
		volume.Window(0, 1).Nonzero(), volume.Resample(), volume.Resample(-1), volume.PadOrCrop(), volume.PadOrCrop(3, 0),
		volume.RandomFlip(0.5), volume.RandomRotate90(0.5, 0, 1), volume.Orient("RAX"), volume.Apply("none", nil), volume.ScanFields("ct"),
		volume.ZScore().Only("pet"))
	want := []string{
		"volume: a step is nil",
		"volume: Window(1, 0): want a finite level and a positive width",
		"volume: Window(0, +Inf): want a finite level and a positive width",
		"volume: ZScore().To(0, 1): To is for Window and MinMax: want finite lo < hi",
		"volume: MinMax().To(1, 1): To is for Window and MinMax: want finite lo < hi",
		"volume: Window(0, 1).Nonzero(): Nonzero is for ZScore and MinMax only",
		"volume: Resample(): want a spacing in mm",
		"volume: Resample(-1): want spacings of 0 mm or more",
		"volume: PadOrCrop(): want lengths from 1 to 1048576",
		"volume: PadOrCrop(3, 0): want lengths from 1 to 1048576",
		"volume: RandomFlip(0.5): it is random: use it in Augment",
		"volume: RandomRotate90(0.5, 0, 1): it is random: use it in Augment",
		"volume: Orient(RAX): want L or R, P or A, and S or I",
		"volume: none: want a function",
		"volume: ScanFields, MaskFields: a cohort knows its volumes: use these for Augment only",
		`volume: no volume is named "pet": there are ct, mask`,
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), fmt.Sprint(err)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestStepsThatDoNotFitVolumesSaySo(t *testing.T) {
	for _, c := range []struct {
		step volume.Step
		want string
	}{
		{volume.Resample(1, 2), "3 spatial axes: want as many spacings"},
		{volume.Resample(1e-9), "would have"},
		{volume.Resample(2e-5), "would be too large"},
		{volume.PadOrCrop(1, 2), "3 spatial axes: want as many lengths"},
		{volume.PadOrCrop(1 << 20), "want a smaller shape"},
		{volume.PadOrCrop(3), "PadOrCrop(3): ct is int16, which cannot hold Fill(0.5)"},
	} {
		v := made("ct", false, []int{2, 2, 2}, []float64{1, 1, 1}, nil)
		v.Fill = 0.5
		err := volume.Outline([]*volume.Volume{v}, c.step)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q in it", c.step, err, c.want)
		}
	}
	// These are headers alone: many channels of one voxel, and voxels without extent.
	many, flat := made("ct", false, []int{1, 1, 1}, []float64{1 << 13, 1 << 13, 1 << 13}, nil), made("ct", false, []int{2, 2}, []float64{1e-310, 1}, nil)
	many.Shape[0] = 1 << 25
	for want, v := range map[string]*volume.Volume{"would be too large": many, "axis 0 of 2 voxels, 1e-310 mm apart, would have 0": flat} {
		if err := volume.Outline([]*volume.Volume{v}, volume.Resample(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	v := made("ct", false, []int{2, 2}, []float64{1, 0}, nil)
	err := volume.Outline([]*volume.Volume{v}, volume.Resample(0, 1))
	if err == nil || !strings.Contains(err.Error(), "the spacing of axis 1 is unknown") {
		t.Errorf("no spacing: got %v", err)
	}
	err = volume.Outline([]*volume.Volume{v}, volume.Orient("LPS"))
	if err == nil || !strings.Contains(err.Error(), "the directions of ct are unknown, or not in three dimensions") {
		t.Errorf("a slice: got %v", err)
	}
}

var errSick = errors.New("sick")

func TestFunctionsOfUsersAreChecked(t *testing.T) {
	for want, sick := range map[string]error{"growing: made ct int16 (1, 2, 2), 1×1 mm, LPS with 9 bytes of data: want the same shape": nil, "growing: sick": errSick} {
		growing := volume.Apply("growing", func(vs []*volume.Volume, _ *rand.Rand) error {
			vs[0].Data = append(vs[0].Data, 0)
			return sick
		})
		v := made("ct", false, []int{2, 2}, []float64{1, 1}, nil)
		err := volume.Process(t.Context(), []*volume.Volume{v}, growing)
		if err == nil || err.Error() != "volume: "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestASampleThatFailsLeavesTheNextOneAlone has a function that spoils the header of one sample. Which samples of an epoch
// fail must not depend on which worker places them.
func TestASampleThatFailsLeavesTheNextOneAlone(t *testing.T) {
	ds, err := dataset.Tensors(dataset.Named("x", dataset.TensorOf([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 1, 2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(v *volume.Volume){
		"dtype":    func(v *volume.Volume) { v.Dtype = dataset.Int32 },
		"channels": func(v *volume.Volume) { v.Shape[0], v.Data = 2, make([]byte, 32) },
		"shape":    func(v *volume.Volume) { v.Shape = v.Shape[:1] },
	} {
		first := true
		x := samples(t, ds, volume.ScanFields("x"), volume.Apply("spoiling", func(vs []*volume.Volume, _ *rand.Rand) error {
			if first {
				spoil(vs[0])
			}
			first = false
			return nil
		}))
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(x.Spec()...)
		if err := r.Place(t.Context(), 0, slot); err == nil {
			t.Errorf("%s: no error", name)
		}
		if err := r.Place(t.Context(), 1, slot); err != nil {
			t.Errorf("%s: the next sample: %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestProcessChecksItsVolumes(t *testing.T) {
	short := made("ct", false, []int{2, 2}, []float64{1, 1}, nil)
	short.Data = short.Data[1:]
	ct, apart := made("ct", false, []int{2, 2}, []float64{1, 1}, nil), made("pet", false, []int{2, 3}, []float64{1, 1}, nil)
	for want, vs := range map[string][]*volume.Volume{
		"volume: process: no volumes":                       nil,
		"volume: process ct: 7 bytes of data, want 8":       {short},
		"volume: ct has the shape (2, 2), pet has (2, 3): ": {ct, apart},
	} {
		if err := volume.Process(t.Context(), vs, volume.MinMax()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
