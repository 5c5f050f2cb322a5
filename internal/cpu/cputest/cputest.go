// Package cputest lets tests compare kernels with the portable code in one process.
package cputest

import "github.com/penstock-go/penstock/internal/cpu"

// Portable calls f while no assembly kernel may run. Other goroutines must not ask package cpu
// meanwhile.
func Portable(f func()) {
	without(features(), func() {
		if cpu.Kernels() {
			panic("cputest: kernels may run")
		}
		f()
	})
}

// Each calls f with all kernels that may run here, and then without those for AVX-512, if the processor has it. Other goroutines
// must not ask package cpu meanwhile.
func Each(f func()) {
	f()
	if newest := newest(); len(newest) > 0 && (*newest[0])() {
		without(newest, f)
	}
}

// without calls f while the processor seems not to have these features.
func without(features []*func() bool, f func()) {
	before := make([]func() bool, len(features))
	for i, has := range features {
		before[i], *has = *has, func() bool { return false }
	}
	defer func() {
		for i, has := range features {
			*has = before[i]
		}
	}()
	f()
}
