package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

// VolumeShape is the shape (z, y, x) of every volume that [Volumes] makes.
var VolumeShape = [3]int{48, 128, 128}

// VolumeNames are the volumes of a patient: two scans, and two masks with labels 0 to 2. The
// files have these names with the extension ".nrrd".
var VolumeNames = []struct {
	Name string
	Mask bool
}{{"ct", false}, {"pet", false}, {"truth", true}, {"prediction", true}}

// Volumes makes the NRRD files of n patients, one folder per patient, and returns the folder in
// root that holds them. A patient has a CT and a PET scan of int16, and the masks of an expert and
// of a network, of uint8. All files are compressed with gzip; a patient has 4.6 MB uncompressed.
// Voxels are 3×1×1 mm. The body is an ellipsoid with noise, and the masked lesion is at another
// place in every patient.
func Volumes(ctx context.Context, root string, n int) (dir string, err error) {
	return made(root, "volumes", n, 10_000, func(dir string) error {
		return each(ctx, n, func(i int) error {
			for _, v := range patient(i) {
				path := filepath.Join(dir, fmt.Sprintf("patient%04d", i), v.Name+".nrrd")
				if err := create(path, func(w io.Writer) error {
					return volume.WriteNRRD(w, v, true)
				}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// patient returns the volumes of one patient, in the order of VolumeNames.
func patient(i int) []*volume.Volume {
	r := rand.New(rand.NewPCG(uint64(i), 3))
	var all []*volume.Volume
	for _, v := range VolumeNames {
		all = append(all, emptyVolume(v.Name, v.Mask))
	}
	var lesion, guess [3]float64 // positions relative to the centre, in units of half the volume's size
	for k := range lesion {
		lesion[k] = 0.9 * (r.Float64() - 0.5)
		guess[k] = lesion[k] + 0.1*(r.Float64()-0.5)
	}
	at := 0
	for z := range VolumeShape[0] {
		for y := range VolumeShape[1] {
			for x := range VolumeShape[2] {
				p := [3]float64{place(z, 0), place(y, 1), place(x, 2)}
				ct, pet := int16(-1000), int16(0)
				if distance(p, [3]float64{}) < 0.85 {
					ct = int16(40 + r.IntN(60))
					pet = int16(r.IntN(400))
				}
				d := distance(p, lesion)
				if d < 0.3 {
					pet += int16(4000 * (0.3 - d))
				}
				binary.NativeEndian.PutUint16(all[0].Data[2*at:], uint16(ct))
				binary.NativeEndian.PutUint16(all[1].Data[2*at:], uint16(pet))
				all[2].Data[at] = label(d)
				all[3].Data[at] = label(distance(p, guess))
				at++
			}
		}
	}
	return all
}

func emptyVolume(name string, mask bool) *volume.Volume {
	v := &volume.Volume{
		Name: name, Mask: mask, Dtype: dataset.Int16, Shape: VolumeShape[:], World: "LPS", Origin: []float64{0, 0, 0},
		Axes: []volume.Axis{
			{Kind: "space", Spacing: 3, Direction: []float64{0, 0, 1}},
			{Kind: "space", Spacing: 1, Direction: []float64{0, 1, 0}},
			{Kind: "space", Spacing: 1, Direction: []float64{1, 0, 0}},
		},
	}
	if mask {
		v.Dtype = dataset.Uint8
	}
	v.Data = make([]byte, v.Shape.Elements()*v.Dtype.Size())
	return v
}

func place(k, axis int) float64 { return 2*(float64(k)+0.5)/float64(VolumeShape[axis]) - 1 }

func distance(p, q [3]float64) float64 {
	sum := 0.0
	for k := range p {
		sum += float64((p[k] - q[k]) * (p[k] - q[k]))
	}
	return math.Sqrt(sum)
}

// label is 2 in a lesion's core, 1 around it and 0 elsewhere.
func label(d float64) uint8 {
	switch {
	case d < 0.1:
		return 2
	case d < 0.2:
		return 1
	}
	return 0
}
