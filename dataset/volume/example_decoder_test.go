package volume_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

// cubes reads files that hold the values of 2×2×2 voxels of 1 mm, and nothing else.
type cubes struct{}

func (cubes) ReadHeader(fsys fs.FS, name string) (*volume.Volume, error) {
	axis := volume.Axis{Kind: "space", Spacing: 1}
	return &volume.Volume{Name: name, Dtype: dataset.Uint8, Shape: dataset.Shape{2, 2, 2}, Axes: []volume.Axis{axis, axis, axis}}, nil
}

func (c cubes) Read(fsys fs.FS, name string, limit int64) (*volume.Volume, error) {
	v, err := c.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	if limit > 0 && v.Bytes() > limit {
		return nil, fmt.Errorf("%d bytes of values, the limit is %d", v.Bytes(), limit)
	}
	v.Data, err = fs.ReadFile(fsys, name) // Open and Load check its length
	return v, err
}

// A Decoder of your own reads a format that the package does not know.
func ExampleUsing() {
	clinic := fstest.MapFS{"anna.cube": {Data: []byte{0, 1, 2, 3, 4, 5, 6, 7}}} // usually os.DirFS("clinic")
	cohort, err := volume.Open(clinic, volume.Scan("ct", "{patient}.cube", volume.Using(cubes{})), volume.Prepare(volume.MinMax().To(0, 70)))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := cohort.Whole()
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cohort.Names(), s["ct"].Shape(), s["ct"].Data())
	// Output: [anna] (1, 2, 2, 2) [0 10 20 30 40 50 60 70]
}
