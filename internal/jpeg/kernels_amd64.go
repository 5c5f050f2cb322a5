//go:build amd64 && !purego

package jpeg

import "github.com/penstock-go/penstock/internal/cpu"

// fours reports whether inverse4 may run.
func fours() bool { return cpu.AVX512() }
