// Copies. What they are to write holds garbage from their beginning to their end.
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>

enum { GARBAGE = 0xDB };

typedef struct {
	uintptr_t dst, src;
	size_t n;
	int upload, download;
	unsigned char staged[]; // the content of a pageable source, as it was at the call
} copy;

// there says whether the memory of a copy still is.
static int there(context *c, const copy *w) {
	pthread_mutex_lock(&fake_lock);
	int ok = (w->download || reachable(c, w->dst, w->n)) && (w->upload || reachable(c, w->src, w->n));
	leave(0);
	return ok;
}

static int move(context *c, const copy *w, const void *from) {
	if (!there(c, w)) return CUDA_ERROR_ILLEGAL_ADDRESS;
	unsigned char *to = (unsigned char *)alias(w->dst);
	if (w->dst != w->src) memset(to, GARBAGE, w->n);
	pause_for_copy(w->n);
	if (!there(c, w)) return CUDA_ERROR_ILLEGAL_ADDRESS;
	memmove(to, from, w->n);
	if (defect(w->upload ? "upload" : w->download ? "download" : "")) spoil(to, w->n);
	if (w->upload) {
		pthread_mutex_lock(&fake_lock);
		copied(w->src, w->dst, w->n);
		leave(0);
	}
	return 0;
}

static int run_staged(void *p, context *c) {
	copy *w = p;
	return move(c, w, w->staged);
}

static int run_direct(void *p, context *c) {
	copy *w = p;
	if (w->upload) {
		pthread_mutex_lock(&fake_lock);
		int there = inside(HOST, w->src, w->n) != NULL;
		if (!there) fault("page-locked memory was freed before its copy");
		leave(0);
		if (!there) return CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	return move(c, w, (void *)alias(w->src));
}

// upload starts a copy to the device. Of pageable memory the driver takes a copy
// first, for which it may wait for the stream.
static int upload(context *c, stream *s, uintptr_t dst, uintptr_t src, size_t n, int wait) {
	if (n == 0) return leave(CUDA_SUCCESS);
	if (!src || !reachable(c, dst, n)) return leave(CUDA_ERROR_INVALID_VALUE);
	int direct = pinned(src, n);
	if (!direct) wait_stream(s);
	if (c->sticky) return leave(c->sticky);
	copy *w = malloc(sizeof *w + (direct ? 0 : n));
	*w = (copy){.dst = dst, .src = src, .n = n, .upload = 1};
	if (!direct) memcpy(w->staged, (void *)src, n);
	submit(s, direct ? run_direct : run_staged, w);
	if (wait && direct) wait_stream(s);
	return leave(c->sticky);
}

// delay stops the first call for longer than a check waits, as a busy machine may.
static void delay(void) {
	static int begun;
	if (defect("delayed") && !begun++) pause_ns(300000000);
}

int cuMemcpyHtoDAsync_v2(uintptr_t dst, uintptr_t src, size_t n, uintptr_t in) {
	delay();
	ENTER_CONTEXT(c);
	stream *s = stream_of(c, in);
	if (!s) return leave(CUDA_ERROR_INVALID_HANDLE);
	return upload(c, s, dst, src, n, 0);
}

// cuMemcpyHtoD_v2 waits for copies of page-locked memory. Others may go on after it
// has returned.
int cuMemcpyHtoD_v2(uintptr_t dst, uintptr_t src, size_t n) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	return upload(c, c->legacy, dst, src, n, 1);
}

static int download(context *c, stream *s, uintptr_t dst, uintptr_t src, size_t n, int wait) {
	if (n == 0) return leave(CUDA_SUCCESS);
	if (!dst || !reachable(c, src, n)) return leave(CUDA_ERROR_INVALID_VALUE);
	copy *w = malloc(sizeof *w);
	*w = (copy){.dst = dst, .src = src, .n = n, .download = 1};
	submit(s, run_direct, w);
	if (wait || !pinned(dst, n)) wait_stream(s);
	return leave(c->sticky);
}

int cuMemcpyDtoH_v2(uintptr_t dst, uintptr_t src, size_t n) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	return download(c, c->legacy, dst, src, n, 1);
}

int cuMemcpyDtoHAsync_v2(uintptr_t dst, uintptr_t src, size_t n, uintptr_t in) {
	ENTER_CONTEXT(c);
	stream *s = stream_of(c, in);
	if (!s) return leave(CUDA_ERROR_INVALID_HANDLE);
	return download(c, s, dst, src, n, 0);
}

// cuMemcpy, here from device memory to device memory, does not wait.
int cuMemcpy(uintptr_t dst, uintptr_t src, size_t n) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	if (!reachable(c, dst, n) || !reachable(c, src, n)) {
		fault("cuMemcpy of other memory than the device's");
		return leave(CUDA_ERROR_INVALID_VALUE);
	}
	copy *w = malloc(sizeof *w);
	*w = (copy){.dst = dst, .src = src, .n = n};
	submit(c->legacy, run_direct, w);
	return leave(c->sticky);
}
