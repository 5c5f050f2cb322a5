// Jpeg generates the AVX2 and AVX-512 kernels of internal/jpeg.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	inverse()
	inverse4()
	color()
	upsample()
	decodePairs()
	reorder()
	reorder4()
	Generate()
}
