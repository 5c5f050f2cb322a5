package resize

import "unsafe"

// A lookup stores what tables say of bytes, with kernels that need no arithmetic.
type lookup[T float32 | uint16] struct {
	kernels[T]
	tables [3][4 * 256]byte // per channel: of all values their first bytes, then their second ones, …
}

// kernels write n times 64 values: for a channel of pixels, or for samples of one
// channel. They are nil where the processor has none.
type kernels[T float32 | uint16] struct {
	pixels  func(dst *T, src *byte, n int, tables *byte, channel int)
	samples func(dst *T, src *byte, n int, tables *byte)
}

// newLookup is nil if there are no kernels.
func newLookup[T float32 | uint16](k kernels[T], values *[3][256]T) *lookup[T] {
	if k.pixels == nil {
		return nil
	}
	l := &lookup[T]{kernels: k}
	for c := range values {
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&values[c])), unsafe.Sizeof(values[c]))
		for i, b := range bytes {
			size := len(bytes) / 256
			l.tables[c][i%size*256+i/size] = b
		}
	}
	return l
}

const lookupBlock = 64 // values

// storePixels writes the values of channel c of a row of pixels, if it can. The
// last block may overlap the one before it.
func (l *lookup[T]) storePixels(dst []T, row []byte, c int) bool {
	n := len(dst)
	if l == nil || n < lookupBlock {
		return false
	}
	_ = row[4*n-1]
	l.pixels(&dst[0], &row[0], n/lookupBlock, &l.tables[c][0], c)
	if n%lookupBlock > 0 {
		l.pixels(&dst[n-lookupBlock], &row[4*(n-lookupBlock)], 1, &l.tables[c][0], c)
	}
	return true
}

// storeSamples is storePixels for as many samples of channel c as dst has room for.
func (l *lookup[T]) storeSamples(dst []T, src []byte, c int) bool {
	n := len(dst)
	if l == nil || n < lookupBlock {
		return false
	}
	_ = src[n-1]
	l.samples(&dst[0], &src[0], n/lookupBlock, &l.tables[c][0])
	if n%lookupBlock > 0 {
		l.samples(&dst[n-lookupBlock], &src[n-lookupBlock], 1, &l.tables[c][0])
	}
	return true
}
