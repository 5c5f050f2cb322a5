//go:build !(amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package sound

// fma is x·y + z, rounded twice: Go has no instruction for it on these processors, where math.FMA takes 20 times as long. There are no kernels
// that must have the same bits.
func fma(x, y, z float64) float64 { return float64(x*y) + z }
