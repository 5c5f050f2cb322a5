//go:build !purego

package cputest

import "github.com/penstock-go/penstock/internal/cpu"

func features() []*func() bool {
	return append([]*func() bool{&cpu.AVX2, &cpu.BMI2, &cpu.Float16}, newest()...)
}

func newest() []*func() bool { return []*func() bool{&cpu.AVX512, &cpu.VNNI, &cpu.VBMI2} }
