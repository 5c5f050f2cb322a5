// Package cpu says which assembly kernels may run: those of the processor's
// instruction sets, unless the environment has PENSTOCK_KERNELS=portable, or
// PENSTOCK_KERNELS=avx2, which leaves out those for AVX-512 alone. The build tag
// purego leaves them out altogether. All kernels give the same bits. Those for
// NEON were verified in an emulator only, and their speed is not measured.
package cpu
