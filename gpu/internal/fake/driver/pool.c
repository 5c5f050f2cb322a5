// Stream-ordered memory. It belongs to a device rather than a context, and neither
// taking nor freeing waits for anything.
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>

typedef struct pool {
	int device, alive, closing;
	int64_t blocks;
	uintptr_t handle;
	struct pool *next;
} pool;

static pool *pools;

// The layout of CUmemPoolProps.
typedef struct {
	int type, handles, location, device;
	void *security;
	size_t most;
	unsigned short usage;
	unsigned char reserved[54];
} properties;

enum { PINNED = 1, ON_DEVICE = 1, RELEASE_THRESHOLD = 4 };

static void end_pool(pool *p) {
	p->alive = 0;
	account(POOLS, -1);
}

int cuMemPoolCreate(uintptr_t *out, const properties *want) {
	ENTER();
	if (want->type != PINNED || want->location != ON_DEVICE || want->handles || want->security || want->usage) return leave(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < sizeof want->reserved; i++)
		if (want->reserved[i]) return leave(CUDA_ERROR_INVALID_VALUE);
	pool *p = calloc(1, sizeof *p);
	p->device = want->device, p->alive = 1;
	account(POOLS, 1);
	*out = p->handle = new_handle(POOL, p);
	p->next = pools;
	pools = p;
	return leave(CUDA_SUCCESS);
}

static pool *pool_of(uintptr_t handle) {
	pool *p = object(POOL, handle);
	return p && p->alive && !p->closing ? p : NULL;
}

int cuMemPoolSetAttribute(uintptr_t handle, int attribute, uint64_t *value) {
	ENTER();
	return leave(pool_of(handle) && attribute == RELEASE_THRESHOLD && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

// cuMemPoolDestroy returns at once; the pool ends with its last memory.
int cuMemPoolDestroy(uintptr_t handle) {
	ENTER();
	pool *p = pool_of(handle);
	if (!p) return leave(CUDA_ERROR_INVALID_VALUE);
	p->closing = 1;
	if (!p->blocks) end_pool(p);
	return leave(CUDA_SUCCESS);
}

int cuMemAllocFromPoolAsync(uintptr_t *out, size_t n, uintptr_t handle, uintptr_t in) {
	ENTER_CONTEXT(c);
	pool *p = pool_of(handle);
	stream *s = stream_of(c, in);
	if (!p || !s || !n || p->device != c->device) return leave(CUDA_ERROR_INVALID_VALUE);
	block *b = take(DEVICE, n, NULL, handle, c->device);
	if (!b) return leave(CUDA_ERROR_OUT_OF_MEMORY);
	p->blocks++;
	*out = b->at;
	return leave(CUDA_SUCCESS);
}

static int run_free(void *arg, context *c) {
	pthread_mutex_lock(&fake_lock);
	block *b = *(block **)arg;
	pool *p = object(POOL, b->pool);
	give(b);
	if (!--p->blocks && p->closing) end_pool(p);
	return leave(0);
}

int cuMemFreeAsync(uintptr_t at, uintptr_t in) {
	ENTER_CONTEXT(c);
	stream *s = stream_of(c, in);
	block *b = inside(DEVICE, at, 1);
	if (!s || !b || b->at != at || !b->pool) return leave(CUDA_ERROR_INVALID_VALUE);
	block **arg = malloc(sizeof *arg);
	*arg = b;
	b->device = -1; // nobody may use it from here on
	submit(s, run_free, arg);
	return leave(CUDA_SUCCESS);
}

// fake_abandon ends pools that were destroyed while memory of theirs could not be
// freed, because the context is lost: as the process's end would.
void fake_abandon(void) {
	pthread_mutex_lock(&fake_lock);
	for (pool *p = pools; p; p = p->next)
		if (p->alive && p->closing) {
			free_memory_of_pool(p->handle);
			end_pool(p);
		}
	leave(0);
}
