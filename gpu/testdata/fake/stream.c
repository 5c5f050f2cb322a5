// Streams and events. Work of a stream runs in order on its own thread.
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct event {
	pthread_cond_t ended;
	int64_t recorded, done; // generations: how often it was recorded, and reached
} event;

typedef struct work {
	struct work *next;
	enum { COPY, RECORD, WAIT, SUM } kind;
	const void *src;
	void *dst;
	size_t n;
	event *event;
	int64_t generation;
	int64_t delay;
} work;

typedef struct stream {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	work *first, **last;
	int ending;
	int64_t pending;
} stream;

static void await(event *e, int64_t generation) {
	pthread_mutex_lock(&fake_lock);
	while (e->done < generation) pthread_cond_wait(&e->ended, &fake_lock);
	pthread_mutex_unlock(&fake_lock);
}

static void sum(work *w) {
	struct timespec t = {0, w->delay};
	nanosleep(&t, NULL);
	uint64_t total = 0;
	if (!inside(DEVICE_BYTES, w->src, w->n)) return fault();
	for (size_t i = 0; i < w->n; i++) total += ((const unsigned char *)w->src)[i] * (uint64_t)(i % 251 + 1);
	__atomic_store_n((uint64_t *)w->dst, total, __ATOMIC_SEQ_CST);
}

static void perform(work *w) {
	switch (w->kind) {
	case COPY: // late, so that a source reused early is seen
		pause_for_copy(w->n);
		if (!inside(HOST_BYTES, w->src, w->n) || !inside(DEVICE_BYTES, w->dst, w->n)) return fault();
		memcpy(w->dst, w->src, w->n);
		return copied(w->src, w->dst, w->n);
	case RECORD:
		pthread_mutex_lock(&fake_lock);
		if (w->event->done < w->generation) w->event->done = w->generation;
		pthread_cond_broadcast(&w->event->ended);
		pthread_mutex_unlock(&fake_lock);
		return;
	case WAIT:
		return await(w->event, w->generation);
	case SUM:
		return sum(w);
	}
}

static void *run(void *p) {
	stream *s = p;
	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->first && !s->ending) pthread_cond_wait(&s->changed, &s->lock);
		work *w = s->first;
		if (!w) break;
		s->first = w->next;
		if (!s->first) s->last = &s->first;
		pthread_mutex_unlock(&s->lock);
		perform(w);
		free(w);
		pthread_mutex_lock(&s->lock);
		s->pending--;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int enqueue(stream *s, work w) {
	work *copy = malloc(sizeof w);
	*copy = w;
	copy->next = NULL;
	pthread_mutex_lock(&s->lock);
	*s->last = copy;
	s->last = &copy->next;
	s->pending++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return CUDA_SUCCESS;
}

static void drain(stream *s) {
	pthread_mutex_lock(&s->lock);
	while (s->pending) pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static int begin(stream **out) {
	stream *s = calloc(1, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->last = &s->first;
	if (pthread_create(&s->thread, NULL, run, s)) {
		free(s);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	account(STREAMS, 1);
	*out = s;
	return CUDA_SUCCESS;
}

static int end(stream *s) {
	pthread_mutex_lock(&s->lock);
	s->ending = 1;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	free(s);
	account(STREAMS, -1);
	return CUDA_SUCCESS;
}

int cuStreamCreate(stream **out, unsigned flags) {
	ENTER_CONTEXT();
	if (flags != 1) fault(); // NON_BLOCKING
	return begin(out);
}

int cuStreamDestroy_v2(stream *s) {
	ENTER_CONTEXT();
	return end(s);
}

// fake_stream is a stream of somebody else.
stream *fake_stream(void) {
	stream *s = NULL;
	begin(&s);
	return s;
}

void fake_end_stream(stream *s) { end(s); }

int cuStreamSynchronize(stream *s) {
	ENTER_CONTEXT();
	drain(s);
	return CUDA_SUCCESS;
}

int cuMemcpyHtoDAsync_v2(void *dst, const void *src, size_t n, stream *s) {
	ENTER_CONTEXT();
	if (!s || !inside(DEVICE_BYTES, dst, n)) return CUDA_ERROR_INVALID_VALUE;
	if (!inside(HOST_BYTES, src, n)) fault(); // the real driver would copy it through a buffer of its own
	return enqueue(s, (work){.kind = COPY, .src = src, .dst = dst, .n = n});
}

int cuEventCreate(event **out, unsigned flags) {
	ENTER_CONTEXT();
	if (flags != 3) fault(); // BLOCKING_SYNC, DISABLE_TIMING
	event *e = calloc(1, sizeof *e);
	pthread_cond_init(&e->ended, NULL);
	account(EVENTS, 1);
	*out = e;
	return CUDA_SUCCESS;
}

int cuEventRecord(event *e, stream *s) {
	ENTER_CONTEXT();
	pthread_mutex_lock(&fake_lock);
	int64_t generation = ++e->recorded;
	pthread_mutex_unlock(&fake_lock);
	return enqueue(s, (work){.kind = RECORD, .event = e, .generation = generation});
}

int cuEventSynchronize(event *e) {
	ENTER_CONTEXT();
	pthread_mutex_lock(&fake_lock);
	int64_t generation = e->recorded;
	pthread_mutex_unlock(&fake_lock);
	await(e, generation);
	return CUDA_SUCCESS;
}

int cuEventQuery(event *e) {
	ENTER_CONTEXT();
	pthread_mutex_lock(&fake_lock);
	int passed = e->done >= e->recorded;
	pthread_mutex_unlock(&fake_lock);
	return passed ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

int cuEventDestroy_v2(event *e) {
	ENTER_CONTEXT();
	pthread_mutex_lock(&fake_lock);
	int busy = e->done < e->recorded;
	pthread_mutex_unlock(&fake_lock);
	if (busy) {
		fault();
		return CUDA_ERROR_INVALID_VALUE;
	}
	free(e);
	account(EVENTS, -1);
	return CUDA_SUCCESS;
}

// fake_sum is a kernel: after delay nanoseconds it writes the weighted sum of
// the bytes at src into the host's memory.
void fake_sum(stream *s, const void *src, size_t n, uint64_t *out, int64_t delay) {
	enqueue(s, (work){.kind = SUM, .src = src, .n = n, .dst = out, .delay = delay});
}

static event gate = {.ended = PTHREAD_COND_INITIALIZER};

// fake_hold lets a stream go no further until fake_release.
void fake_hold(stream *s) {
	pthread_mutex_lock(&fake_lock);
	int64_t generation = ++gate.recorded;
	pthread_mutex_unlock(&fake_lock);
	enqueue(s, (work){.kind = WAIT, .event = &gate, .generation = generation});
}

void fake_release(void) {
	pthread_mutex_lock(&fake_lock);
	gate.done = gate.recorded;
	pthread_cond_broadcast(&gate.ended);
	pthread_mutex_unlock(&fake_lock);
}

// fake_drain waits until a stream has nothing to do.
void fake_drain(stream *s) { drain(s); }
