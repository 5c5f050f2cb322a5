// What gorgonia asks of the driver beyond what package gpu does. The NULL stream
// works at once, in the thread that calls.
#define _GNU_SOURCE
#include "fake.h"
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_FOUND = 500 };

int cuMemAlloc_v2(void **p, size_t n);

static uintptr_t contexts = 0x1000;
static int64_t launches, syncs;

int cuCtxCreate_v2(uintptr_t *context, unsigned flags, int device) {
	ENTER();
	*context = __atomic_add_fetch(&contexts, 1, __ATOMIC_SEQ_CST);
	fake_current = *context;
	account(CONTEXTS, 1);
	return CUDA_SUCCESS;
}

int cuCtxDestroy_v2(uintptr_t context) {
	ENTER();
	if (context <= 0x1000) return CUDA_ERROR_INVALID_CONTEXT;
	if (fake_current == context) fake_current = 0;
	account(CONTEXTS, -1);
	return CUDA_SUCCESS;
}

int cuCtxGetCurrent(uintptr_t *context) {
	*context = fake_current;
	return CUDA_SUCCESS;
}

int cuCtxSynchronize(void) {
	ENTER_CONTEXT();
	__atomic_add_fetch(&syncs, 1, __ATOMIC_SEQ_CST);
	return CUDA_SUCCESS;
}

int64_t fake_launches(void) { return __atomic_load_n(&launches, __ATOMIC_SEQ_CST); }
int64_t fake_syncs(void) { return __atomic_load_n(&syncs, __ATOMIC_SEQ_CST); }

// cuDeviceGetAttribute answers as CUDA devices since compute capability 3.0 do; the
// numbers are those of CUdevice_attribute.
int cuDeviceGetAttribute(int *value, int attribute, int device) {
	ENTER();
	switch (attribute) {
	case 1: case 2: case 3: *value = 1024; break; // threads per block, block's x, y
	case 4: *value = 64; break;                   // block's z
	case 5: *value = 2147483647; break;           // grid's x
	case 6: case 7: *value = 65535; break;        // grid's y, z
	case 10: *value = 32; break;                  // warp
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
	ENTER_CONTEXT();
	*available = *total = (size_t)1 << 32;
	return CUDA_SUCCESS;
}

int cuMemAllocManaged(void **p, size_t n, unsigned flags) {
	ENTER_CONTEXT();
	return cuMemAlloc_v2(p, n);
}

int cuMemcpy(void *dst, const void *src, size_t n) {
	ENTER_CONTEXT();
	if (!inside(DEVICE_BYTES, dst, n) || !inside(DEVICE_BYTES, src, n)) {
		fault();
		return CUDA_ERROR_INVALID_VALUE;
	}
	memmove(dst, src, n);
	return CUDA_SUCCESS;
}

int cuMemcpyHtoD_v2(void *dst, const void *src, size_t n) {
	ENTER_CONTEXT();
	if (!inside(DEVICE_BYTES, dst, n)) {
		fault();
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy(dst, src, n);
	copied(src, dst, n);
	return CUDA_SUCCESS;
}

// A module is its text, in which a function's name must stand as an entry.
int cuModuleLoadData(char **module, const char *text) {
	ENTER_CONTEXT();
	*module = strdup(text);
	return CUDA_SUCCESS;
}

int cuModuleUnload(char *module) {
	ENTER_CONTEXT();
	free(module);
	return CUDA_SUCCESS;
}

int cuModuleGetFunction(const kernel **function, const char *module, const char *name) {
	ENTER_CONTEXT();
	char entry[128] = ".entry ";
	strncat(entry, name, 100);
	strcat(entry, "(");
	*function = strstr(module, entry) ? find_kernel(name) : NULL;
	return *function ? CUDA_SUCCESS : NOT_FOUND;
}

int cuLaunchKernel(const kernel *k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
	void *stream, void **args, void **extra) {
	ENTER_CONTEXT();
	__atomic_add_fetch(&launches, 1, __ATOMIC_SEQ_CST);
	uint64_t threads = (uint64_t)gx * gy * gz * bx * by * bz;
	return launch(k, threads, args);
}
