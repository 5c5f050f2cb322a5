// What libraries built on the fake driver use of it.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>
#include <stdint.h>

typedef int (*fake_perform)(void *arg, void *context);

uintptr_t fake_runtime_context(void);
uintptr_t fake_current(void);
uintptr_t fake_reachable(void *context, uintptr_t p);
int fake_injected(const char *call);
int fake_submit(uintptr_t stream, fake_perform f, const void *arg, size_t n);
void fake_fault(const char *what);

enum { CUDA_ERROR_ILLEGAL_ADDRESS = 700 };

// A handle works in the context in which it was made, and in no other; there it is
// destroyed too.
typedef struct {
	uintptr_t context, stream;
} handle;

#endif
