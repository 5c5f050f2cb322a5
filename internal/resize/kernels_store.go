//go:build (amd64 || arm64) && !purego

package resize

import "github.com/penstock-go/penstock/internal/cpu"

// The store kernels do what they can of the pixels, from the first on.

func storeKernel(red, green, blue []float32, row []byte, p *params) (done int) {
	blocks := min(len(red), len(green), len(blue), len(row)/4) / 8
	if !cpu.Kernels() || blocks == 0 {
		return 0
	}
	store8(&red[0], &green[0], &blue[0], &row[0], blocks, &p.mean, &p.std, &p.inverse)
	return 8 * blocks
}

func storeFloat16Kernel(red, green, blue []uint16, row []byte, p *params) (done int) {
	blocks := min(len(red), len(green), len(blue), len(row)/4) / 8
	if !cpu.Float16() || blocks == 0 {
		return 0
	}
	storeFloat16(&red[0], &green[0], &blue[0], &row[0], blocks, &p.mean, &p.std, &p.inverse)
	return 8 * blocks
}

func storeBFloat16Kernel(red, green, blue []uint16, row []byte, p *params) (done int) {
	blocks := min(len(red), len(green), len(blue), len(row)/4) / 8
	if !cpu.Kernels() || blocks == 0 {
		return 0
	}
	storeBFloat16(&red[0], &green[0], &blue[0], &row[0], blocks, &p.mean, &p.std, &p.inverse)
	return 8 * blocks
}

// The plane kernels do what they can of the samples of one channel.

func storePlaneKernel(dst []float32, src []byte, p *params, c int) (done int) {
	blocks := min(len(dst), len(src)) / 8
	if !cpu.Kernels() || blocks == 0 {
		return 0
	}
	storePlane8(&dst[0], &src[0], blocks, &p.mean[c], &p.std[c], &p.inverse[c])
	return 8 * blocks
}

func storePlaneFloat16Kernel(dst []uint16, src []byte, p *params, c int) (done int) {
	blocks := min(len(dst), len(src)) / 8
	if !cpu.Float16() || blocks == 0 {
		return 0
	}
	storePlaneFloat16(&dst[0], &src[0], blocks, &p.mean[c], &p.std[c], &p.inverse[c])
	return 8 * blocks
}

func storePlaneBFloat16Kernel(dst []uint16, src []byte, p *params, c int) (done int) {
	blocks := min(len(dst), len(src)) / 8
	if !cpu.Kernels() || blocks == 0 {
		return 0
	}
	storePlaneBFloat16(&dst[0], &src[0], blocks, &p.mean[c], &p.std[c], &p.inverse[c])
	return 8 * blocks
}
