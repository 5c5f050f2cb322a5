//go:build arm64 && !purego

package resize

// horizontal4 computes n pixels of four rows. Weights come in groups of four taps.
func horizontal4(dst *byte, src *byte, dstStride int, srcStride int, first *int32, n int, k *int32, groups int)

// vertical8 computes n times eight pixels of a row from as many rows as there are taps.
func vertical8(dst *byte, src *byte, stride int, n int, k *int32, taps int)

// store8 writes n times eight pixels to three planes, as (x/255 - mean)/std. inverse + low is 1/std.
func store8(red *float32, green *float32, blue *float32, src *byte, n int, mean *[3]float32, inverse *[3]float32, low *[3]float32)

// storePlane8 writes n times eight samples of one channel, as (x/255 - mean)/std. inverse + low is 1/std.
func storePlane8(dst *float32, src *byte, n int, mean *float32, inverse *float32, low *float32)

// storeFloat16 writes n times 16 pixels to three planes, as x·scale + shift rounded to float16.
func storeFloat16(red *uint16, green *uint16, blue *uint16, src *byte, n int, scale *[3]float32, shift *[3]float32)

// storePlaneFloat16 writes n times 16 samples of one channel, as x·scale + shift rounded to float16.
func storePlaneFloat16(dst *uint16, src *byte, n int, scale *float32, shift *float32)

// storeBFloat16 writes n times 16 pixels to three planes, as x·scale + shift rounded to bfloat16, ties away from 0.
func storeBFloat16(red *uint16, green *uint16, blue *uint16, src *byte, n int, scale *[3]float32, shift *[3]float32)

// storePlaneBFloat16 writes n times 16 samples of one channel, as x·scale + shift rounded to bfloat16, ties away from 0.
func storePlaneBFloat16(dst *uint16, src *byte, n int, scale *float32, shift *float32)

// interleaveBytes writes n times eight pixels of three bytes, and overwrites up to eight bytes after them. Order says
// which of the 16 bytes of four pixels the twelve are, and is 0xff after them.
//
//go:noescape
func interleaveBytes(dst *byte, src *byte, n int, order *[16]byte)

// separateBytes writes n times 32 bytes of one colour, whose places in 16 pixels of four bytes are the order.
//
//go:noescape
func separateBytes(dst *byte, src *byte, n int, order *[16]byte)
