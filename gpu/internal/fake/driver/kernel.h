// A kernel that was compiled for the processor.
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kernel {
	const char *name;
	size_t bytes; // of its parameters
	void (*pack)(void *to, void **args);
	int (*run)(void *parameters, const unsigned *grid, const unsigned *block, void *context);
	const struct kernel *next;
} kernel;

void fake_kernel(kernel *k);
// fake_reachable is where the host finds memory that the context's kernels may use,
// 0 if they may not.
uintptr_t fake_reachable(void *context, uintptr_t p);

#ifdef __cplusplus
}
#endif

#endif
