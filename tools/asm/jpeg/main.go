// Jpeg generates the AVX2 and AVX-512 kernels of internal/codec/jpeg.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	w := newWeights()
	two := newConstants(w)
	inverse(two)
	inverseStretch2(two)
	four := newConstants4(w)
	inverse4(four)
	inverseStretch(four)
	color()
	color512()
	upsample()
	upsample512()
	decodePairs()
	rows, order := newRows(), indices()
	reorder(rows)
	reorder4(order)
	unstuff()
	natural(rows)
	natural4(order)
	decodeFirst()
	nonzero()
	refinePlaces()
	refineBlocks()
	reverseBits()
	Generate()
}
