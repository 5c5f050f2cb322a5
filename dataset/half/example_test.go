package half_test

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset/half"
)

func ExampleToFloat16() {
	x := half.ToFloat16(0.1)
	fmt.Println(x, x.Float32() == 0.1)
	fmt.Println(half.ToFloat16(65504), half.ToFloat16(65520))
	// Output:
	// 0.099975586 false
	// 65504 +Inf
}

func ExampleToBFloat16() {
	fmt.Println(half.ToBFloat16(0.1), half.ToBFloat16(1e30))
	// Output: 0.100097656 1.00025555e+30
}
