// Blockcode generates the AVX2 and AVX-512 kernels of internal/codec/blockcode.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	flatten64()
	expand64()
	flatten32()
	expand32()
	readLanes()
	Generate()
}
