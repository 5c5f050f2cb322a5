package nifti_test

import (
	"fmt"
	"os"

	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
)

// Example reads an image, its values and its place in the patient.
func Example() {
	m, err := nifti.Read(os.DirFS("testdata/files"), "qfac.nii", 1<<30)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Dtype, m.Sizes, len(m.Data), "bytes")
	fmt.Println("spacing", m.Spacing(), "origin", m.Origin(), m.World())
	affine, _, ok := m.Affine()
	fmt.Printf("%.2f %v\n", affine[0], ok)
	// Output:
	// int16 [5 4] 40 bytes
	// spacing [0.5 2] origin [1 2 3] RAS
	// [-0.14 0.00 -2.88 1.00] true
}
