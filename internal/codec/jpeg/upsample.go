package jpeg

// The filters that bring a component to full size are libjpeg's. For a factor of 2
// it is a triangle filter with weights of 3/4 and 1/4, which alternately rounds up
// and down. For all other factors samples are repeated.

// upsampleH2 doubles a row.
func upsampleH2(dst, src []byte) {
	if !upsampleH2Kernel(dst, src) {
		upsampleH2Portable(dst, src)
	}
}

func upsampleH2Portable(dst, src []byte) {
	n := len(src)
	dst = dst[:2*n]
	if n == 1 {
		dst[0], dst[1] = src[0], src[0]
		return
	}
	a, b := int32(src[0]), int32(src[1])
	dst[0] = uint8(a)
	dst[1] = uint8((3*a + b + 2) >> 2)
	for i := 1; i < n-1; i++ {
		c := int32(src[i+1])
		dst[2*i] = uint8((3*b + a + 1) >> 2)
		dst[2*i+1] = uint8((3*b + c + 2) >> 2)
		a, b = b, c
	}
	dst[2*n-2] = uint8((3*b + a + 1) >> 2)
	dst[2*n-1] = uint8(b)
}

// upsampleV2 makes an output row from the nearest row and the one next to it. The
// bias is 1 for the upper of two output rows and 2 for the lower.
func upsampleV2(dst, near, far []byte, bias int32) {
	far = far[:len(near)]
	dst = dst[:len(near)]
	for i, v := range near {
		dst[i] = uint8((3*int32(v) + int32(far[i]) + bias) >> 2)
	}
}

// upsampleH2V2 mixes two rows and doubles their length. It rounds once.
func upsampleH2V2(dst, near, far []byte) {
	if !upsampleH2V2Kernel(dst, near, far) {
		upsampleH2V2Portable(dst, near, far)
	}
}

func upsampleH2V2Portable(dst, near, far []byte) {
	n := len(near)
	far = far[:n]
	dst = dst[:2*n]
	a := 3*int32(near[0]) + int32(far[0])
	if n == 1 {
		dst[0], dst[1] = uint8((4*a+8)>>4), uint8((4*a+7)>>4)
		return
	}
	b := 3*int32(near[1]) + int32(far[1])
	dst[0] = uint8((4*a + 8) >> 4)
	dst[1] = uint8((3*a + b + 7) >> 4)
	for i := 1; i < n-1; i++ {
		c := 3*int32(near[i+1]) + int32(far[i+1])
		dst[2*i] = uint8((3*b + a + 8) >> 4)
		dst[2*i+1] = uint8((3*b + c + 7) >> 4)
		a, b = b, c
	}
	dst[2*n-2] = uint8((3*b + a + 8) >> 4)
	dst[2*n-1] = uint8((4*b + 7) >> 4)
}

// repeat writes every sample n times.
func repeat(dst, src []byte, n int) {
	for i, v := range src {
		part := dst[i*n : i*n+n]
		for j := range part {
			part[j] = v
		}
	}
}

// A filter brings a component to full resolution.
type filter uint8

const (
	filterNone filter = iota
	filterH2
	filterV2
	filterH2V2
	filterRepeat
)

// chooseFilter returns libjpeg's filter for a component with rows of wide samples.
// Rows become hx times as long, and columns vx times.
func chooseFilter(hx, vx, wide int) filter {
	switch {
	case hx == 1 && vx == 1:
		return filterNone
	case hx == 2 && vx == 1 && wide > 2:
		return filterH2
	case hx == 1 && vx == 2:
		return filterV2
	case hx == 2 && vx == 2 && wide > 2:
		return filterH2V2
	}
	return filterRepeat
}
