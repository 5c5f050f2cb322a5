// Package dense converts between bytes and values without a copy, for dataset, loader and transform.
package dense

import "unsafe"

// Element is every type of fixed size that a field may hold.
type Element interface {
	~bool | ~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Values is b as values of T, without a copy. It is nil if b is empty. b must be
// aligned for T.
func Values[T Element](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// Bytes is the memory of values. It is nil if there are none.
func Bytes[T Element](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}
