// The kernels that gorgonia's elementwise operations launch, on the processor.
#ifndef KERNELS_H
#define KERNELS_H

#include <stdint.h>

typedef struct kernel kernel;

// find_kernel is the kernel of a name such as add_vs_f32 or tanh_f64, or NULL.
const kernel *find_kernel(const char *name);

// launch runs a kernel as so many threads.
int launch(const kernel *k, uint64_t threads, void **args);

#endif
