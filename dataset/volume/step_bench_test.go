package volume_test

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
)

// BenchmarkPrepare applies one step to a scan of 51×256×256 voxels, 2.6×1×1 mm, and its
// mask, as happens once per patient. It counts the voxels of the resulting scan and mask.
func BenchmarkPrepare(b *testing.B) {
	shape, spacing := []int{51, 256, 256}, []float64{2.6, 1, 1}
	ct, mask := made("ct", false, shape, spacing, nil), made("mask", true, shape, spacing, nil)
	for _, step := range []volume.Step{volume.Resample(1), volume.Window(40, 400), volume.ZScore(), volume.PadOrCrop(64, 224, 224),
		volume.Orient("RAS")} {
		b.Run(fmt.Sprint(step), func(b *testing.B) {
			voxels := 0
			for b.Loop() {
				vs := []*volume.Volume{ct.Header(), mask.Header()}
				vs[0].Data, vs[1].Data = ct.Data, mask.Data
				if err := volume.Run(b.Context(), vs, step); err != nil {
					b.Fatal(err)
				}
				voxels = vs[0].Shape.Elements() + vs[1].Shape.Elements()
			}
			b.ReportMetric(float64(voxels)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvoxels/s")
		})
	}
}

// BenchmarkSamples applies one step to patches of 1×64×64×64 voxels with a mask. "none"
// only places them.
func BenchmarkSamples(b *testing.B) {
	s := cohort(b, volume.Prepare(volume.PadOrCrop(64, 64, 64)))
	ds, err := s.Whole()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		steps []volume.Step
	}{
		{"none", nil}, {"RandomFlip", []volume.Step{volume.RandomFlip(0.5)}}, {"RandomRotate90", []volume.Step{volume.RandomRotate90(0.5, 1, 2)}},
		{"MinMax", []volume.Step{volume.MinMax()}},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := samples(b, ds, c.steps...)
			r, err := x.Open()
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			slot := dataset.NewSlot(x.Spec()...)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				datatest.Reset(slot, 1, 0, i)
				if err := r.Place(b.Context(), 0, slot); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}

// BenchmarkResampleToMatch resamples a PET of 100×200×200 voxels, 4 mm, or a mask on its
// grid, to the grid of a CT of 128×256×256 voxels, 3×2×2 mm. The axes of the two are
// equal, in another order, or oblique. It counts the voxels of the result.
func BenchmarkResampleToMatch(b *testing.B) {
	ct := made("ct", false, []int{128, 256, 256}, []float64{3, 2, 2}, nil)
	for _, mask := range []bool{false, true} {
		for _, c := range []struct {
			name string
			turn func(v *volume.Volume)
		}{
			{"parallel", func(*volume.Volume) {}},
			{"permuted", func(v *volume.Volume) { v.Axes[1], v.Axes[3] = v.Axes[3], v.Axes[1] }},
			{"oblique", func(v *volume.Volume) {
				v.Axes[2].Direction, v.Axes[3].Direction = []float64{0, 1, 0}, []float64{1, 0, 0}
			}},
		} {
			pet := made("pet", mask, []int{100, 200, 200}, []float64{4, 4, 4}, nil)
			c.turn(pet)
			name := "scan"
			if mask {
				name = "mask"
			}
			b.Run(name+" "+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					vs := []*volume.Volume{pet.Header(), ct.Header()}
					vs[0].Data, vs[1].Data = pet.Data, ct.Data
					if err := volume.Run(b.Context(), vs, volume.ResampleToMatch("ct")); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(ct.Shape.Elements())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvoxels/s")
			})
		}
	}
}
