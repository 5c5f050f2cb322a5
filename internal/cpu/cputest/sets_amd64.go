//go:build !purego

package cputest

import "github.com/penstock-go/penstock/internal/cpu"

func sets() []*func() bool {
	return []*func() bool{&cpu.AVX2, &cpu.AVX512, &cpu.VNNI, &cpu.BMI2, &cpu.VBMI2, &cpu.Float16}
}
