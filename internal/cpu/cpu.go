// Package cpu says which assembly kernels of codecs, resizing and sound may run: by default all those for which
// the processor has the instructions. The environment variable
// PENSTOCK_KERNELS=portable disables all of them, and PENSTOCK_KERNELS=avx2 only those
// for AVX-512. The build tag purego leaves them out of the program. The results are
// the same bit for bit. The NEON kernels were tested in an emulator only, and their
// speed is not measured.
package cpu
