package dataset_test

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
)

func ExampleToF16() {
	x := dataset.ToF16(0.1)
	fmt.Println(x, x.Float32() == 0.1)
	fmt.Println(dataset.ToF16(65504), dataset.ToF16(65520))
	// Output:
	// 0.099975586 false
	// 65504 +Inf
}

func ExampleToBF16() {
	fmt.Println(dataset.ToBF16(0.1), dataset.ToBF16(1e30))
	// Output: 0.100097656 1.00025555e+30
}
