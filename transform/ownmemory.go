package transform

import (
	"slices"
	"unsafe"
)

// inOwn returns the values in mem, the memory that they had before a user's step. The step may have
// given the image other memory, which must not be reused for the next image.
func inOwn[T uint8 | float32](mem, values []T) []T {
	if sameMemory(mem, values) {
		return values
	}
	return append(mem[:0], values...)
}

// bothOwn is inOwn for an image and its spare. A step may have exchanged their memory, which then
// stays exchanged. What else it gave them may be any part of mem, so values are copied before their
// memory is written.
func bothOwn[T uint8 | float32](mem [2][]T, img, spare *[]T) {
	if sameMemory(mem[0], *spare) && sameMemory(mem[1], *img) {
		return
	}
	if !sameMemory(mem[1], *spare) {
		*spare = slices.Clone(*spare)
	}
	*img = inOwn(mem[0], *img)
	*spare = inOwn(mem[1], *spare)
}

// forSpare returns the memory of mem that the image does not have, and makes it mem[1].
func forSpare[T uint8 | float32](mem *[2][]T, img []T) []T {
	if sameMemory(mem[1], img) {
		mem[0], mem[1] = mem[1], mem[0]
	}
	return mem[1]
}

// sameMemory reports whether both begin at the same address.
func sameMemory[T uint8 | float32](a, b []T) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b)
}
