//go:build arm64 && !purego

package jpeg

// inverse2 writes the samples of two neighbouring blocks. It reports false, and writes
// nothing, if a value in a block's first row is beyond ±8191, which no real image has.
func inverse2(dst *byte, stride int, blocks *int16, quant *int16) bool

// colorYCbCr16 converts 16·n pixels.
func colorYCbCr16(dst *byte, luma *byte, cb *byte, cr *byte, n int)

// upsampleH2x16 doubles the 16·n samples from src on.
func upsampleH2x16(dst *byte, src *byte, n int)

// upsampleH2V2x16 mixes and doubles the 16·n samples from near and from far on.
func upsampleH2V2x16(dst *byte, near *byte, far *byte, n int)

func colorSteps(_ int, dst, luma, cb, cr *byte, n int) { colorYCbCr16(dst, luma, cb, cr, n) }

func upsampleH2Steps(_ int, dst, src *byte, n int) { upsampleH2x16(dst, src, n) }

func upsampleH2V2Steps(_ int, dst, near, far *byte, n int) { upsampleH2V2x16(dst, near, far, n) }

// fours reports whether inverse4 and kernels of the widest steps may run. On arm64 there
// are none.
func fours() bool { return false }

func inverse4(dst *byte, stride int, blocks *int16, quant *int16) bool { return false }
