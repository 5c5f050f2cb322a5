//go:build arm64 && !purego

package jpeg

// inverse2 writes the samples of two blocks side by side. It reports false, and writes
// nothing, where a first row is beyond all that images have.
func inverse2(dst *byte, stride int, blocks *int16, quant *int16) bool

// colorYCbCr16 converts n times 16 pixels.
func colorYCbCr16(dst *byte, luma *byte, cb *byte, cr *byte, n int)

// upsampleH2x16 doubles n times 16 samples, of which src is the first.
func upsampleH2x16(dst *byte, src *byte, n int)

// upsampleH2V2x16 mixes and doubles n times 16 samples, of which near and far are the first.
func upsampleH2V2x16(dst *byte, near *byte, far *byte, n int)

// fours reports whether inverse4 may run. On arm64 there is none.
func fours() bool { return false }

func inverse4(dst *byte, stride int, blocks *int16, quant *int16) bool { return false }
