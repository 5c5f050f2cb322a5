// Jpeg generates the AVX2 kernels of internal/jpeg.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	inverse()
	color()
	upsample()
	Generate()
}
