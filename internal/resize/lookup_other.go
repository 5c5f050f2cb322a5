//go:build !amd64 || purego

package resize

func lookups16() kernels[uint16] { return kernels[uint16]{} }

func lookups32() kernels[float32] { return kernels[float32]{} }
