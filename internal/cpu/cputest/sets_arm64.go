//go:build !purego

package cputest

import "github.com/penstock-go/penstock/internal/cpu"

func features() []*func() bool { return []*func() bool{&cpu.NEON} }

func newest() []*func() bool { return nil }
