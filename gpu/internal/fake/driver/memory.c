// Page-locked, device and managed memory. No address is used twice; beyond the end,
// and where memory was freed, lie pages that nobody may touch. The host cannot touch
// device memory either: its content lies elsewhere, at alias.
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGNMENT = 256 }; // of every allocation, by CUDA's programming guide
static const size_t RESERVED = (size_t)1 << 36, TOTAL = (size_t)1 << 32;

// A region is where allocations of a kind lie, one after the other.
typedef struct {
	uintptr_t base, next;
	uintptr_t shadow; // of the content, base but for device memory
	block **blocks;   // by address
	size_t count, room;
} region;

static region host, device, managed;
static size_t used; // of the devices' memory

static uintptr_t reserve(void) {
	void *p = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? 0 : (uintptr_t)p;
}

static region *region_of(int kind) {
	region *r = kind == HOST ? &host : kind == DEVICE ? &device : &managed;
	if (!r->base) {
		r->base = r->next = reserve();
		r->shadow = kind == DEVICE ? reserve() : r->base;
	}
	return r->base && r->shadow ? r : NULL;
}

uintptr_t alias(uintptr_t p) {
	return device.base && p >= device.base && p < device.base + RESERVED ? p - device.base + device.shadow : p;
}

static size_t pages(size_t n) { return (n + PAGE - 1) / PAGE * PAGE; }

block *take(int kind, size_t n, context *owner) {
	region *r = region_of(kind);
	if (!r || n == 0 || n > RESERVED / 4 || r->next + pages(n) + PAGE > r->base + RESERVED) return NULL;
	if (kind != HOST && used + n > TOTAL) return NULL;
	uintptr_t begin = r->next + r->shadow - r->base;
	if (mprotect((void *)begin, pages(n), PROT_READ | PROT_WRITE)) return NULL;
	block *b = calloc(1, sizeof *b);
	b->n = n, b->kind = kind, b->owner = owner, b->alive = 1;
	b->at = r->next; // page-locked memory is aligned to a page; what overruns the others meets the next one
	if (kind != HOST) b->at += pages(n) - (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	r->next += pages(n) + PAGE;
	memset((void *)alias(b->at), 0xA5, n);
	if (r->count == r->room) {
		r->room = r->room ? 2 * r->room : 256;
		r->blocks = realloc(r->blocks, r->room * sizeof r->blocks[0]);
	}
	r->blocks[r->count++] = b;
	if (kind != HOST) used += n;
	account(kind == HOST ? HOST_BYTES : DEVICE_BYTES, (int64_t)n);
	return b;
}

void give(block *b) {
	uintptr_t begin = alias(b->at) / PAGE * PAGE;
	mmap((void *)begin, pages(alias(b->at) + b->n - begin), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	b->alive = 0;
	if (b->kind != HOST) used -= b->n;
	account(b->kind == HOST ? HOST_BYTES : DEVICE_BYTES, -(int64_t)b->n);
}

static block *find(region *r, uintptr_t p) {
	size_t from = 0, to = r->count;
	while (from < to) {
		size_t middle = (from + to) / 2;
		if (r->blocks[middle]->at <= p) from = middle + 1;
		else to = middle;
	}
	return from ? r->blocks[from - 1] : NULL;
}

block *inside(int kinds, uintptr_t p, size_t n) {
	region *regions[] = {&host, &device, &managed};
	for (int i = 0; i < 3; i++) {
		if (!(kinds & 1 << i)) continue;
		block *b = find(regions[i], p);
		if (b && b->alive && p + n <= b->at + b->n) return b;
	}
	return NULL;
}

int pinned(uintptr_t p, size_t n) { return inside(HOST, p, n) && !defect("pageable"); }

void use(int64_t n) { used += n; }

block *reachable(context *c, uintptr_t p, size_t n) {
	block *b = inside(DEVICE | MANAGED, p, n);
	return b && b->owner == c ? b : NULL;
}

void free_memory_of(context *c) {
	region *regions[] = {&host, &device, &managed};
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < regions[i]->count; k++)
			if (regions[i]->blocks[k]->alive && regions[i]->blocks[k]->owner == c) give(regions[i]->blocks[k]);
}

static int allocate(context *c, int kind, uintptr_t *p, size_t n) {
	if (!p || n == 0) return leave(CUDA_ERROR_INVALID_VALUE);
	drain_locked(c, n);
	if (c->sticky) return leave(c->sticky);
	block *b = take(kind, n, c);
	if (!b) return leave(CUDA_ERROR_OUT_OF_MEMORY);
	*p = b->at;
	return leave(CUDA_SUCCESS);
}

int cuMemHostAlloc(uintptr_t *p, size_t n, unsigned flags) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	if (flags != 1) fault("cuMemHostAlloc without PORTABLE");
	return allocate(c, HOST, p, n);
}

int cuMemAlloc_v2(uintptr_t *p, size_t n) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	return allocate(c, DEVICE, p, n);
}

int cuMemAllocManaged(uintptr_t *p, size_t n, unsigned flags) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	return allocate(c, MANAGED, p, n);
}

static int release(context *c, int kinds, uintptr_t p) {
	block *b = inside(kinds, p, 1);
	if (!b && defect("crash")) abort();
	if (!b || b->at != p || b->owner != c) {
		fault("memory that is not taken is freed");
		return leave(CUDA_ERROR_INVALID_VALUE);
	}
	drain_locked(c, b->n);
	if (c->sticky) return leave(c->sticky);
	give(b);
	return leave(CUDA_SUCCESS);
}

int cuMemFreeHost(uintptr_t p) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	return release(c, HOST, p);
}

int cuMemFree_v2(uintptr_t p) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	return release(c, DEVICE | MANAGED, p);
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
	ENTER_CONTEXT(c);
	*available = TOTAL - used, *total = TOTAL;
	return leave(CUDA_SUCCESS);
}

int cuDeviceTotalMem_v2(size_t *total, int dev) {
	ENTER();
	*total = TOTAL;
	return leave(CUDA_SUCCESS);
}

int cuMemHostGetFlags(unsigned *flags, uintptr_t p) {
	ENTER_CONTEXT(c);
	block *b = inside(HOST, p, 1);
	if (!b) return leave(CUDA_ERROR_INVALID_VALUE);
	*flags = defect("flags") ? 0 : 1;
	return leave(CUDA_SUCCESS);
}

enum { MEMORY_TYPE = 2, TYPE_HOST = 1, TYPE_DEVICE = 2 };

// cuPointerGetAttribute knows nothing of pageable memory.
int cuPointerGetAttribute(void *out, int attribute, uintptr_t p) {
	ENTER_CONTEXT(c);
	block *b = inside(HOST | DEVICE | MANAGED, p, 1);
	if (!b || attribute != MEMORY_TYPE || (b->kind == HOST && defect("attribute"))) return leave(CUDA_ERROR_INVALID_VALUE);
	*(unsigned *)out = b->kind == HOST ? TYPE_HOST : TYPE_DEVICE;
	return leave(CUDA_SUCCESS);
}
