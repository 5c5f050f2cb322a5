//go:build !purego

package cputest

import "github.com/penstock-go/penstock/internal/cpu"

func sets() []*func() bool { return []*func() bool{&cpu.NEON} }
