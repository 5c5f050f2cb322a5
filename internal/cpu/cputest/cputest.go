// Package cputest lets tests compare kernels with the portable code in one process.
package cputest

import "github.com/penstock-go/penstock/internal/cpu"

// Portable calls f while no assembly kernel may run. Other goroutines must not ask package cpu
// meanwhile.
func Portable(f func()) {
	kernels := sets()
	var before []func() bool
	for _, has := range kernels {
		before = append(before, *has)
		*has = func() bool { return false }
	}
	defer func() {
		for i, has := range kernels {
			*has = before[i]
		}
	}()
	if cpu.Kernels() {
		panic("cputest: kernels may run")
	}
	f()
}
