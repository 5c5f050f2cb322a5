package volume_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/volume"
)

func TestIntensitySteps(t *testing.T) {
	for _, c := range []struct {
		step volume.Step
		want []float64
	}{
		{volume.Window(40, 400), []float64{0, 0.4, 0.5, 0.65, 1}},
		{volume.Window(40, 400).To(-1, 1), []float64{-1, -0.2, 0, 0.3, 1}},
		{volume.MinMax(), []float64{0, 0.5, 0.52, 0.55, 1}},
		{volume.MinMax().Nonzero().To(1, 3), []float64{1, 0, 2.04, 2.1, 3}},
		{volume.ZScore(), []float64{-1.622299, -0.044187, 0.018937, 0.113624, 1.533925}},
		{volume.ZScore().Nonzero(), []float64{-1.461265, 0.000000, 0.007059, 0.091770, 1.362436}},
		{volume.MinMax().Only("pet"), []float64{-1000, 0, 40, 100, 1000}},
	} {
		ct := made("ct", false, []int{1, 5}, []float64{1, 1}, func(i int) int16 { return []int16{-1000, 0, 40, 100, 1000}[i] })
		mask := made("mask", true, []int{1, 5}, []float64{1, 1}, func(i int) int16 { return []int16{0, 2, 1, 256, 0}[i] })
		pet := made("pet", false, []int{1, 5}, []float64{1, 1}, nil)
		prepare(t, []*volume.Volume{ct, mask, pet}, c.step)
		compare(t, fmt.Sprint(c.step), floats(t, ct), c.want, 1e-5)
		compare(t, fmt.Sprint(c.step)+", mask", floats(t, mask), []float64{0, 2, 1, 256, 0}, 0)
	}
}

func TestConstantsAndHolesInIntensity(t *testing.T) {
	for _, step := range []volume.Step{volume.ZScore(), volume.MinMax(), volume.ZScore().Nonzero(), volume.MinMax().Nonzero()} {
		v := made("ct", false, []int{1, 3}, []float64{1, 1}, func(int) int16 { return 7 })
		prepare(t, []*volume.Volume{v}, step)
		compare(t, fmt.Sprint(step), floats(t, v), []float64{0, 0, 0}, 0)

		v.SetFloat32([]float32{1, float32(math.NaN()), 2})
		err := volume.Run(t.Context(), []*volume.Volume{v}, step)
		if err == nil || !strings.Contains(err.Error(), "ct: a value is NaN") {
			t.Errorf("%v of NaN: got %v", step, err)
		}
	}
}

func TestChannelsHaveStatisticsOfTheirOwn(t *testing.T) {
	v := made("mr", false, []int{1, 2}, []float64{1, 1}, nil)
	v.Shape[0] = 2
	v.SetFloat32([]float32{1, 3, 100, 500})
	if err := volume.Run(t.Context(), []*volume.Volume{v}, volume.ZScore()); err != nil {
		t.Fatal(err)
	}
	compare(t, "two channels", floats(t, v), []float64{-1, 1, -1, 1}, 1e-6)
}
