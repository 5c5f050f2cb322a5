//go:build (!amd64 && !arm64) || purego

package cpu

// Kernels reports whether this processor's kernels may run.
func Kernels() bool { return false }

// Instructions names the instruction set of the kernels that may run.
func Instructions() string { return "portable" }
