package bench_test

import (
	"context"
	"os"
	"runtime/debug"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// BenchmarkVolumes is the fourth study: shuffled slices of volumes and their masks in three
// views, in page-locked memory if there is a device. At the start of an epoch no volume is
// decoded: a volume is decoded when one of its slices is first requested, and then kept.
func BenchmarkVolumes(b *testing.B) {
	patients := sized(1, 12, 64)
	dir := given(b, func(root string) (string, error) { return data.Volumes(b.Context(), root, patients) })
	memory, err := gpu.Auto()
	if err != nil {
		b.Fatal(err)
	}
	defer memory.Close()
	var cells []cell
	for _, batch := range sized([]int{4}, []int{1, 2, 4, 8}, []int{1, 2, 4, 8}) {
		for _, workers := range sized([]int{2}, []int{1, 2, 4, 8}, []int{1, 2, 4, 8}) {
			run := bench.Run{Study: result.Volumes, Options: []loader.Option{loader.Shuffle(true), loader.Memory(memory)},
				Config: result.Config{Batch: batch, Workers: workers, Data: "volumes", Help: result.HelpOn}}
			cells = append(cells, cell{Run: run,
				run: func(ctx context.Context) (result.Measured, error) {
					debug.FreeOSMemory() // so that memory of the cell before does not count in this one
					var err error
					if run.Dataset, err = slicesOf(ctx, dir); err != nil {
						return result.Measured{}, err
					}
					return run.Once(ctx)
				},
				report: func(b *testing.B, rounds []result.Measured) {
					show(b, rounds, "CPU-%", func(m result.Measured) float64 { return 100 * m.CPU / m.Seconds })
					show(b, rounds, "most-memory-MB", func(m result.Measured) float64 {
						most := int64(0)
						for _, u := range m.Usage {
							most = max(most, u.RSS)
						}
						return float64(most) / 1e6
					})
				}})
		}
	}
	measure(b, cells)
}

// slicesOf is a dataset of all slices of a folder of patients: axial, coronal and sagittal,
// padded to one shape, each with two scans and two masks.
func slicesOf(ctx context.Context, dir string) (dataset.Dataset, error) {
	var sources []volume.Option
	for _, v := range data.VolumeNames {
		pattern := "{patient}/" + v.Name + ".nrrd"
		if v.Mask {
			sources = append(sources, volume.Mask(v.Name, pattern))
		} else {
			sources = append(sources, volume.Scan(v.Name, pattern))
		}
	}
	cohort, err := volume.Open(os.DirFS(dir), sources...)
	if err != nil {
		return nil, err
	}
	return cohort.Slices(ctx, volume.Views("axial", "coronal", "sagittal"), volume.SliceShape(data.VolumeShape[1], data.VolumeShape[2]))
}
