package dataset

import (
	"math"
	"strconv"
)

// F16 is a number of IEEE 754's binary16, float16, as bits: 5 bits of exponent and 10
// of fraction. The greatest finite one is 65504. It is torch.float16. Arithmetic
// is done in float32: convert, compute, convert back.
type F16 uint16

// BF16 is the upper half of a float32, bfloat16, as bits: 8 bits of exponent and 7 of
// fraction. It is torch.bfloat16.
type BF16 uint16

// ToF16 is x rounded to the nearest F16, ties to even, as torch does.
// Numbers from 65520 on become infinite. A NaN stays a NaN, and becomes quiet.
func ToF16(x float32) F16 {
	b := math.Float32bits(x)
	sign, b := F16(b>>16&0x8000), b&0x7fffffff
	switch {
	case b > 0x7f800000: // not a number
		return sign | 0x7e00 | F16(b>>13&0x1ff)
	case b >= 0x477ff000: // 65520 and more
		return sign | 0x7c00
	case b < 0x38800000: // below 2⁻¹⁴ the spacing is that of 0.5: adding rounds
		return sign | F16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
	}
	b += 0xfff + b>>13&1
	return sign | F16(b>>13-(127-15)<<10)
}

// Float32 is the same number.
func (h F16) Float32() float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	if rest >= 0x7c00 { // infinite or not a number
		return math.Float32frombits(sign | 0x7f800000 | rest<<13)
	}
	// The exponent's bias differs by 112. Multiplying also normalises what is below 2⁻¹⁴.
	const twoTo112 = 1 << 112
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(rest<<13)*twoTo112))
}

// String prints the number.
func (h F16) String() string { return text(h.Float32()) }

// ToBF16 is x rounded to the nearest BF16, ties to even, as torch does.
// A NaN stays a NaN, and becomes quiet.
func ToBF16(x float32) BF16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 is the same number.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// String prints the number.
func (h BF16) String() string { return text(h.Float32()) }

func text(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }
