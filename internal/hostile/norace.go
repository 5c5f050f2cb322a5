//go:build !race

package hostile

import "strconv"

// slowdown is how much longer everything may take where an int has 32 bits, and there is no kernel.
const slowdown = 64 / strconv.IntSize
