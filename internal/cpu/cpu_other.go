//go:build (!amd64 && !arm64) || purego

package cpu

// Kernels reports whether this processor's kernels may run.
func Kernels() bool { return false }
