//go:build (amd64 || arm64) && !purego

package jpeg

import "github.com/penstock-go/penstock/internal/cpu"

//go:generate sh -c "cd ../../../tools/asm && GOWORK=off go run ./jpeg -out ../../internal/codec/jpeg/vector_amd64.s -stubs ../../internal/codec/jpeg/vector_amd64.go -pkg jpeg"
//go:generate sh -c "cd ../../../tools/asm && GOWORK=off go run ./neon -kernels jpeg -out ../../internal/codec/jpeg/neon_arm64.s"

// wide is how many samples or pixels the kernels take at once, and widest how many
// some of them take with AVX-512.
const wide, widest = 16, 32

// steps calls kernel for n samples, as often as it takes that many: with the index of
// the first one, how many samples it takes at once, and how often. If n is not a
// multiple, the last step begins earlier and repeats some of them.
func steps(n int, kernel func(at, step, times int)) {
	step, times, rest := wide, n/wide, n%wide
	if n >= widest && fours() {
		step, times, rest = widest, n/widest, n%widest
	}
	kernel(0, step, times)
	if rest > 0 {
		kernel(n-step, step, 1)
	}
}

func inverseKernel(dst []byte, stride int, blocks []block, last []uint8, quant *block) bool {
	n := len(blocks)
	if !cpu.Kernels() || n < 2 {
		return false
	}
	_ = dst[7*stride+8*n-1]
	four := fours()
	for i := 0; i < n; i += 2 {
		i = min(i, n-2)
		if four && i+4 <= n && last[i]|last[i+1] != 0 && last[i+2]|last[i+3] != 0 &&
			inverse4(&dst[8*i], stride, &blocks[i][0], &quant[0]) {
			i += 2
			continue
		}
		if last[i]|last[i+1] == 0 {
			inverseFlat(dst[8*i:], stride, blocks[i][0]*quant[0])
			inverseFlat(dst[8*i+8:], stride, blocks[i+1][0]*quant[0])
		} else if !inverse2(&dst[8*i], stride, &blocks[i][0], &quant[0]) {
			inversePortable(dst[8*i:], stride, blocks[i:i+2], last[i:i+2], quant)
		}
	}
	return true
}

func colorKernel(dst, luma, cb, cr []byte) bool {
	n := len(dst) / 4
	if !cpu.Kernels() || n < wide {
		return false
	}
	luma, cb, cr = luma[:n], cb[:n], cr[:n]
	steps(n, func(at, step, times int) {
		colorSteps(step, &dst[4*at], &luma[at], &cb[at], &cr[at], times)
	})
	return true
}

func upsampleH2Kernel(dst, src []byte) bool {
	n := len(src)
	inner := n - 2 // samples with neighbours on both sides
	if !cpu.Kernels() || inner < wide {
		return false
	}
	dst = dst[:2*n]
	steps(inner, func(at, step, times int) {
		upsampleH2Steps(step, &dst[2*at+2], &src[at+1], times)
	})
	dst[0] = src[0]
	dst[1] = uint8((3*int32(src[0]) + int32(src[1]) + 2) >> 2)
	dst[2*n-2] = uint8((3*int32(src[n-1]) + int32(src[n-2]) + 1) >> 2)
	dst[2*n-1] = src[n-1]
	return true
}

func upsampleH2V2Kernel(dst, near, far []byte) bool {
	n := len(near)
	inner := n - 2
	if !cpu.Kernels() || inner < wide {
		return false
	}
	dst, far = dst[:2*n], far[:n]
	steps(inner, func(at, step, times int) {
		upsampleH2V2Steps(step, &dst[2*at+2], &near[at+1], &far[at+1], times)
	})
	mixed := func(i int) int32 { return 3*int32(near[i]) + int32(far[i]) }
	dst[0] = uint8((4*mixed(0) + 8) >> 4)
	dst[1] = uint8((3*mixed(0) + mixed(1) + 7) >> 4)
	dst[2*n-2] = uint8((3*mixed(n-1) + mixed(n-2) + 8) >> 4)
	dst[2*n-1] = uint8((4*mixed(n-1) + 7) >> 4)
	return true
}
