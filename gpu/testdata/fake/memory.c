// Page-locked and device memory: both are malloc'ed and accounted for.
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>

enum { ALLOCATIONS = 4096 };
static struct {
	char *p;
	size_t n;
	int kind;
	uintptr_t context;
} live[ALLOCATIONS];

static int take(int kind, size_t n, void **p) {
	if (n == 0) return CUDA_ERROR_INVALID_VALUE;
	if (posix_memalign(p, 4096, n)) return CUDA_ERROR_OUT_OF_MEMORY;
	memset(*p, 0xA5, n);
	pthread_mutex_lock(&fake_lock);
	int i = 0;
	while (i < ALLOCATIONS && live[i].p) i++;
	if (i < ALLOCATIONS) live[i].p = *p, live[i].n = n, live[i].kind = kind, live[i].context = fake_current;
	pthread_mutex_unlock(&fake_lock);
	if (i == ALLOCATIONS) {
		free(*p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	account(kind, (int64_t)n);
	return CUDA_SUCCESS;
}

static int give(int kind, void *p) {
	pthread_mutex_lock(&fake_lock);
	int i = 0;
	while (i < ALLOCATIONS && !(p && live[i].p == p && live[i].kind == kind)) i++;
	size_t n = i < ALLOCATIONS ? live[i].n : 0;
	if (n) live[i].p = NULL;
	pthread_mutex_unlock(&fake_lock);
	if (!n) {
		fault();
		return CUDA_ERROR_INVALID_VALUE;
	}
	account(kind, -(int64_t)n);
	memset(p, 0x5A, n);
	free(p);
	return CUDA_SUCCESS;
}

int inside(int kind, const void *p, size_t n) {
	const char *from = p;
	pthread_mutex_lock(&fake_lock);
	int ok = 0;
	for (int i = 0; i < ALLOCATIONS && !ok; i++)
		ok = live[i].p && live[i].kind == kind && from >= live[i].p && from + n <= live[i].p + live[i].n;
	pthread_mutex_unlock(&fake_lock);
	return ok;
}

uintptr_t owner(const void *p) {
	const char *at = p;
	uintptr_t context = 0;
	pthread_mutex_lock(&fake_lock);
	for (int i = 0; i < ALLOCATIONS && !context; i++)
		if (live[i].p && at >= live[i].p && at < live[i].p + live[i].n) context = live[i].context;
	pthread_mutex_unlock(&fake_lock);
	return context;
}

int cuMemHostAlloc(void **p, size_t n, unsigned flags) {
	ENTER_CONTEXT();
	if (flags != 1) fault(); // PORTABLE and nothing else
	return take(HOST_BYTES, n, p);
}

int cuMemFreeHost(void *p) {
	ENTER_CONTEXT();
	return give(HOST_BYTES, p);
}

int cuMemAlloc_v2(void **p, size_t n) {
	ENTER_CONTEXT();
	return take(DEVICE_BYTES, n, p);
}

int cuMemFree_v2(void *p) {
	ENTER_CONTEXT();
	return give(DEVICE_BYTES, p);
}

int cuMemcpyDtoH_v2(void *dst, const void *src, size_t n) {
	ENTER_CONTEXT();
	if (!inside(DEVICE_BYTES, src, n)) return CUDA_ERROR_INVALID_VALUE;
	memcpy(dst, src, n);
	return CUDA_SUCCESS;
}
