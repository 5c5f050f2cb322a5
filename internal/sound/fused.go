//go:build amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package sound

import "math"

// fma is x·y + z, rounded once.
func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }
