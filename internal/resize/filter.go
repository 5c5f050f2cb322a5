package resize

import "math"

// radius is how far the filter reaches, in pixels of the coarser image.
func radius(f Filter) float64 {
	switch f {
	case Box:
		return 0.5
	case Bilinear, Hamming:
		return 1
	case Bicubic:
		return 2
	default:
		return 3
	}
}

// weight is the filter's value x pixels off its centre.
func weight(f Filter, x float64) float64 {
	switch f {
	case Box:
		if x > -0.5 && x <= 0.5 {
			return 1
		}
		return 0
	case Bilinear:
		return max(1-math.Abs(x), 0)
	case Hamming:
		return hamming(math.Abs(x))
	case Bicubic:
		return bicubic(math.Abs(x))
	default:
		if x >= -3 && x < 3 {
			return float64(sinc(x) * sinc(x/3))
		}
		return 0
	}
}

func hamming(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x >= 1:
		return 0
	}
	x *= math.Pi
	return float64(math.Sin(x)/x) * (hamming54 + float64(hamming46*math.Cos(x)))
}

// In Pillow these are constants of type float.
const hamming54, hamming46 = 0x1.147ae2p-1, 0x1.d70a3ep-2 // 0.54 and 0.46 in 32 bits

// bicubic is Keys' cubic convolution with a = -0.5.
func bicubic(x float64) float64 {
	const a = -0.5
	switch {
	case x < 1:
		return float64(float64(float64(float64((a+2)*x)-(a+3))*x)*x) + 1
	case x < 2:
		return float64((float64((float64((x-5)*x)+8)*x) - 4) * a)
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}
