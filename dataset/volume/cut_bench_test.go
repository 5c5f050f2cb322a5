package volume_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
)

// benchCohort is one patient of 96×256×256 voxels with a mask: 12.6 MB of int16
// and 6.3 MB of labels.
func benchCohort(b *testing.B, kind dataset.Dtype) *volume.Cohort {
	b.Helper()
	shape := []int{96, 256, 256}
	ct := scanOf(0, shape...)
	if kind == dataset.Float32 {
		values, err := ct.Float32()
		if err != nil {
			b.Fatal(err)
		}
		ct.SetFloat32(values)
	}
	labels := map[int]uint8{}
	for z := 40; z < 60; z++ {
		for y := 100; y < 140; y++ {
			for x := 50; x < 90; x++ {
				labels[(z*256+y)*256+x] = 1
			}
		}
	}
	fsys := fstest.MapFS{"p/ct.nrrd": nrrdFile(ct), "p/tumour.nrrd": nrrdFile(maskOf(shape, labels))}
	return cohortOf(b, fsys)
}

// BenchmarkVolumes places samples of a cached cohort: the cost of an epoch after the
// volumes are decoded. MB/s count the bytes of the slots. "copy" copies the bytes of an
// axial slice between contiguous slices. An int16 volume is half as large in the cache
// and is converted when it is copied.
func BenchmarkVolumes(b *testing.B) {
	for _, kind := range []dataset.Dtype{dataset.Float32, dataset.Int16} {
		cohort := benchCohort(b, kind)
		for _, c := range []struct {
			name string
			make func() (dataset.Dataset, error)
		}{
			{"axial", func() (dataset.Dataset, error) { return cohort.Slices(b.Context()) }},
			{"coronal", func() (dataset.Dataset, error) { return cohort.Slices(b.Context(), volume.Views("coronal")) }},
			{"sagittal", func() (dataset.Dataset, error) { return cohort.Slices(b.Context(), volume.Views("sagittal")) }},
			{"patch 96³", func() (dataset.Dataset, error) { return cohort.Patches([]int{96, 96, 96}) }},
			{"patch 64³ on labels", func() (dataset.Dataset, error) {
				return cohort.Patches([]int{64, 64, 64}, volume.Positives("tumour", 0.5))
			}},
			{"whole", cohort.Whole},
		} {
			b.Run(fmt.Sprintf("%s of %v", c.name, kind), func(b *testing.B) {
				ds := cut(b)(c.make())
				r, slot := opened(b, ds)
				bytes := 0
				for f := range slot.Len() {
					bytes += len(slot.Cell(f).Bytes())
				}
				i := 0
				place := func() {
					datatest.Reset(slot, 1, 0, i)
					if err := r.Place(b.Context(), i%ds.Len(), slot); err != nil {
						b.Fatal(err)
					}
					i++
				}
				place()
				b.SetBytes(int64(bytes))
				b.ReportAllocs()
				for b.Loop() {
					place()
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
	b.Run("copy", func(b *testing.B) {
		from, to := make([]byte, 96*256*256*5), make([]byte, 256*256*5)
		b.SetBytes(int64(len(to)))
		i := 0
		for b.Loop() {
			copy(to, from[i*len(to):])
			i = (i + 1) % 96
		}
	})
}
