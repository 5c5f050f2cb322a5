//go:build amd64 && !purego

package cpu

import (
	"os"
	"sync"

	"golang.org/x/sys/cpu"
)

// AVX2 reports whether kernels may use AVX2 and FMA.
var AVX2 = sync.OnceValue(func() bool {
	return os.Getenv("PENSTOCK_KERNELS") != "portable" && cpu.X86.HasAVX2 && cpu.X86.HasFMA
})

// Kernels reports whether this processor's kernels may run.
func Kernels() bool { return AVX2() }
