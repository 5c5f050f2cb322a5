package nrrd_test

import (
	"bytes"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
)

// Example reads an image, its values and its place in the patient.
func Example() {
	m, err := nrrd.Read(os.DirFS("testdata/files"), "fields.nrrd", 1<<30)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Dtype, m.Sizes, len(m.Data), "bytes,", m.Kinds)
	affine, axes, ok := m.Affine()
	fmt.Println("axes", axes, "origin", m.Origin(), m.World(), ok)
	fmt.Printf("%.3f\n", affine[0])
	// Output:
	// float32 [2 3 4] 96 bytes, [2-vector domain space]
	// axes [1 2 -1] origin [1.5 -2.25 1e-09] LPS true
	// [0.500 0.000 -0.447 1.500]
}

// ExampleWrite writes a volume and reads it back.
func ExampleWrite() {
	h := nrrd.Header{
		Type: nrrd.Uint8, Sizes: []int{2, 2, 2}, Encoding: nrrd.Gzip,
		Space: "left-posterior-superior", SpaceDimension: 3,
		SpaceDirections: [][]float64{{0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 2}},
	}
	var file bytes.Buffer
	if err := nrrd.Write(&file, &h, []byte("abcdefgh")); err != nil {
		fmt.Println(err)
		return
	}
	m, err := nrrd.Read(fstest.MapFS{"ct.nrrd": {Data: file.Bytes()}}, "ct.nrrd", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %v version %d\n", m.Data, m.Spacing(), m.Version)
	// Output: abcdefgh [0.5 0.5 2] version 4
}
