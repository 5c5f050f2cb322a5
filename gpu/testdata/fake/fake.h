// A CUDA driver without a device, for tests: device memory is host memory, a
// stream is a thread. It checks what its callers do; of speed, of direct memory
// access and of the real driver it says nothing.
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_LAUNCH_FAILED = 719,
};

// What lives: the accounts of fake_live.
enum { HOST_BYTES, DEVICE_BYTES, STREAMS, EVENTS, CONTEXTS, ACCOUNTS };

// fake_lock guards everything but a stream's queue.
extern pthread_mutex_t fake_lock;
extern _Thread_local uintptr_t fake_current;

void account(int what, int64_t change);
// injected is the failure that a call was told to report, or CUDA_SUCCESS.
int injected(const char *call);
// fault counts something that no correct caller does.
void fault(void);
// inside says whether n bytes at p lie in one live allocation of a kind.
int inside(int kind, const void *p, size_t n);
// owner is the context in which the memory at p was allocated, 0 if it was not.
uintptr_t owner(const void *p);
void copied(const void *src, const void *dst, size_t n);
void pause_for_copy(size_t n);

#define ENTER()                                     \
	do {                                            \
		int code = injected(__func__);              \
		if (code != CUDA_SUCCESS) return code;      \
	} while (0)

#define ENTER_CONTEXT()                                        \
	do {                                                       \
		ENTER();                                               \
		if (!fake_current) return CUDA_ERROR_INVALID_CONTEXT;  \
	} while (0)

#endif
