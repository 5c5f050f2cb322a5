//go:build (amd64 || arm64) && !purego

package resize

import "github.com/penstock-go/penstock/internal/cpu"

// The store kernels do what they can of the pixels, from the first on.

func storeKernel(red, green, blue []float32, row []byte, p *params) (done int) {
	blocks := min(len(red), len(green), len(blue), len(row)/4) / 8
	if !cpu.Kernels() || blocks == 0 {
		return 0
	}
	store8(&red[0], &green[0], &blue[0], &row[0], blocks, &p.mean, &p.inverse, &p.low)
	return 8 * blocks
}

// The kernels for halves take this number of values at a time. The last block may
// overlap the one before it.
const halfBlock = 16

func storeFloat16Kernel(red, green, blue []uint16, row []byte, p *params) (done int) {
	n := min(len(red), len(green), len(blue), len(row)/4)
	if !cpu.Float16() || n < halfBlock {
		return 0
	}
	storeFloat16(&red[0], &green[0], &blue[0], &row[0], n/halfBlock, &p.scale, &p.shift)
	if at := n - halfBlock; n%halfBlock > 0 {
		storeFloat16(&red[at], &green[at], &blue[at], &row[4*at], 1, &p.scale, &p.shift)
	}
	return n
}

func storeBFloat16Kernel(red, green, blue []uint16, row []byte, p *params) (done int) {
	n := min(len(red), len(green), len(blue), len(row)/4)
	if !cpu.Kernels() || n < halfBlock {
		return 0
	}
	storeBFloat16(&red[0], &green[0], &blue[0], &row[0], n/halfBlock, &p.scale, &p.shift)
	if at := n - halfBlock; n%halfBlock > 0 {
		storeBFloat16(&red[at], &green[at], &blue[at], &row[4*at], 1, &p.scale, &p.shift)
	}
	return n
}

// The kernels for bytes take pixels by an order: that of the bytes of four pixels for interleaveBytes, and of one colour's
// for separateBytes.

func interleaveKernel(dst, row []byte, from [3]int) (done int) {
	const block, beyond = 8, 8 // pixels, and the bytes after them that are overwritten
	n := min((len(dst)-beyond)/(3*block), len(row)/(4*block))
	if !cpu.Kernels() || n < 1 {
		return 0
	}
	var order [16]byte
	for i := range order {
		if order[i] = 0xff; i < 12 {
			order[i] = byte(i/3*4 + from[i%3])
		}
	}
	interleaveBytes(&dst[0], &row[0], n, &order)
	return n * block
}

func separateKernel(dst, row []byte, colour int) (done int) {
	const block = 32 // pixels
	n := len(dst)
	if !cpu.Kernels() || n < block {
		return 0
	}
	_ = row[4*n-1]
	var order [16]byte
	for i := range order {
		order[i] = byte(4*i + colour)
	}
	separateBytes(&dst[0], &row[0], n/block, &order)
	if at := n - block; n%block > 0 {
		separateBytes(&dst[at], &row[4*at], 1, &order)
	}
	return n
}

// The plane kernels do what they can of the samples of one channel.

func storePlaneKernel(dst []float32, src []byte, p *params, c int) (done int) {
	blocks := min(len(dst), len(src)) / 8
	if !cpu.Kernels() || blocks == 0 {
		return 0
	}
	storePlane8(&dst[0], &src[0], blocks, &p.mean[c], &p.inverse[c], &p.low[c])
	return 8 * blocks
}

func storePlaneFloat16Kernel(dst []uint16, src []byte, p *params, c int) (done int) {
	n := min(len(dst), len(src))
	if !cpu.Float16() || n < halfBlock {
		return 0
	}
	storePlaneFloat16(&dst[0], &src[0], n/halfBlock, &p.scale[c], &p.shift[c])
	if at := n - halfBlock; n%halfBlock > 0 {
		storePlaneFloat16(&dst[at], &src[at], 1, &p.scale[c], &p.shift[c])
	}
	return n
}

func storePlaneBFloat16Kernel(dst []uint16, src []byte, p *params, c int) (done int) {
	n := min(len(dst), len(src))
	if !cpu.Kernels() || n < halfBlock {
		return 0
	}
	storePlaneBFloat16(&dst[0], &src[0], n/halfBlock, &p.scale[c], &p.shift[c])
	if at := n - halfBlock; n%halfBlock > 0 {
		storePlaneBFloat16(&dst[at], &src[at], 1, &p.scale[c], &p.shift[c])
	}
	return n
}
