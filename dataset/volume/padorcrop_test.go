package volume_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

// padOrCropFile is what testdata/padorcrop.py writes: rows of n voxels padded or cropped
// to size, and the index where the crop around every voxel begins.
type padOrCropFile struct {
	Rows []struct {
		N, Size int
		Values  []float64
	}
	Starts []struct {
		N, Size int
		Starts  []int64
	}
}

func padOrCropGolden(t *testing.T) (g padOrCropFile) {
	t.Helper()
	text, err := os.ReadFile("testdata/padorcrop.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Rows) == 0 || len(g.Starts) == 0 {
		t.Fatal("no rows or no starts")
	}
	return g
}

func TestPadOrCropIsThatOfMONAI(t *testing.T) {
	for _, c := range padOrCropGolden(t).Rows {
		v := made("ct", false, []int{c.N, 1}, []float64{1, 1}, func(i int) int16 { return int16(i + 1) })
		v.Fill = -7
		step := volume.PadOrCrop(c.Size, 1)
		prepare(t, []*volume.Volume{v}, step)
		compare(t, fmt.Sprint(step), floats(t, v), c.Values, 0)
	}
}

func TestPatchesAroundVoxelsBeginWhereMONAIsDo(t *testing.T) {
	for _, c := range padOrCropGolden(t).Starts {
		for voxel, want := range c.Starts {
			mask := made("mask", true, []int{c.N, 1}, []float64{1, 1}, func(i int) int16 {
				if i == voxel {
					return 1
				}
				return 0
			})
			mask.Shape, mask.Axes = dataset.Shape{c.N, 1}, mask.Axes[1:]
			var file bytes.Buffer
			if err := volume.WriteNRRD(&file, mask, false); err != nil {
				t.Fatal(err)
			}
			cohort, err := volume.Open(fstest.MapFS{"p.nrrd": {Data: file.Bytes()}}, volume.Mask("mask", "{patient}.nrrd"))
			if err != nil {
				t.Fatal(err)
			}
			ds, err := cohort.Patches([]int{c.Size, 1}, volume.Positives("mask", 1))
			if err != nil {
				t.Fatal(err)
			}
			s, err := dataset.At(t.Context(), ds, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := dataset.ValuesOf[int64](s["start"])[0]; got != want {
				t.Errorf("%d of %d voxels around voxel %d: begins at %d, want %d", c.Size, c.N, voxel, got, want)
			}
		}
	}
}
