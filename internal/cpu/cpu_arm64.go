//go:build arm64 && !purego

package cpu

import (
	"os"
	"sync"
)

// NEON reports whether kernels may use NEON, which every arm64 processor has.
var NEON = sync.OnceValue(func() bool { return os.Getenv("PENSTOCK_KERNELS") != "portable" })

// Kernels reports whether this processor's kernels may run.
func Kernels() bool { return NEON() }

// Float16 reports whether kernels may convert to float16, as NEON does.
func Float16() bool { return NEON() }

// Instructions names the instruction set of the kernels that may run: "NEON" or "portable".
func Instructions() string {
	if NEON() {
		return "NEON"
	}
	return "portable"
}
