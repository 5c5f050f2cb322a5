//go:build !amd64 || purego

package cpu

// AVX2 reports whether kernels may use AVX2 and FMA.
func AVX2() bool { return false }
