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

// AVX512 reports whether kernels may use AVX-512 F, BW and VBMI. PENSTOCK_KERNELS=avx2
// forbids it. It is false for processors older than Ice Lake and Zen 4, which run
// slower while they use AVX-512. These do not have VBMI.
var AVX512 = sync.OnceValue(func() bool {
	return AVX2() && os.Getenv("PENSTOCK_KERNELS") != "avx2" && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
})

// VNNI reports whether kernels may use AVX-512 VBMI and VNNI next to AVX-512 F and BW.
var VNNI = sync.OnceValue(func() bool { return AVX512() && cpu.X86.HasAVX512VNNI })

// BMI2 reports whether kernels may use BMI1, BMI2 and POPCNT next to AVX2.
var BMI2 = sync.OnceValue(func() bool { return AVX2() && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT })

// VBMI2 reports whether kernels may use AVX-512 VBMI and VBMI2 next to BMI2.
var VBMI2 = sync.OnceValue(func() bool { return AVX512() && BMI2() && cpu.X86.HasAVX512VBMI2 })

// Float16 reports whether kernels may convert to float16, with F16C.
var Float16 = sync.OnceValue(func() bool { return AVX2() && cpu.X86.HasF16C })

// Instructions names the newest instruction set of the kernels that may run: "AVX-512 VNNI", "AVX-512", "AVX2" or "portable".
func Instructions() string {
	switch {
	case VNNI():
		return "AVX-512 VNNI"
	case AVX512():
		return "AVX-512"
	case AVX2():
		return "AVX2"
	}
	return "portable"
}
