// Streams, events and the work in them.
#define _GNU_SOURCE
#include "fake.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct event {
	context *owner;
	int alive, timed;
	int64_t recorded, done; // generations: how often it was recorded, and reached
	int64_t at;             // when, in ns
	struct event *next;
} event;

// A mark is a point in a stream.
typedef struct {
	stream *s;
	int64_t count;
} mark;

typedef struct work {
	struct work *next;
	perform f;
	void *arg;
	event *event; // to be recorded, or, with f NULL and wait, to be waited for
	int64_t generation;
	int wait;
	mark *behind; // points that must be passed before, the last has no stream
} work;

struct stream {
	context *owner;
	uintptr_t handle;
	int blocking, alive, foreign;
	pthread_cond_t wake;
	work *first, **last;
	int64_t submitted, completed;
	uintptr_t thread; // of a default stream of a thread, what tells threads apart
	struct stream *next;
};

static stream *streams;
static event *events;

static int passed(const mark *m) {
	for (; m && m->s; m++)
		if (m->s->completed < m->count) return 0;
	return 1;
}

static int busy; // some stream works

// run_work does a piece of work. It holds the lock, but for what f does.
static void run_work(stream *s, work *w) {
	context *c = s->owner;
	while (!passed(w->behind) && !c->sticky && c->alive) pthread_cond_wait(&fake_changed, &fake_lock);
	if (w->wait)
		while (w->event->done < w->generation && !c->sticky && c->alive) pthread_cond_wait(&fake_changed, &fake_lock);
	int code = 0;
	if (w->f) {
		if (!c->sticky && c->alive) code = work_fails();
		if (!c->sticky && c->alive && !code) {
			c->running++;
			while (busy && defect("serial")) pthread_cond_wait(&fake_changed, &fake_lock);
			busy = 1;
			pthread_mutex_unlock(&fake_lock);
			code = w->f(w->arg, c);
			pthread_mutex_lock(&fake_lock);
			busy = 0;
			pthread_cond_broadcast(&fake_changed);
			if (defect("unnoticed")) code = 0;
			c->running--;
		}
	} else if (w->event && !w->wait && w->event->done < w->generation) {
		w->event->done = w->generation;
		w->event->at = now_ns();
	}
	if (code) poison(c, code);
	free(w->arg);
	free(w->behind);
	free(w);
}

static void *run(void *p) {
	stream *s = p;
	pthread_mutex_lock(&fake_lock);
	for (;;) {
		while (!s->first && s->alive) pthread_cond_wait(&s->wake, &fake_lock);
		work *w = s->first;
		if (!w) break;
		s->first = w->next;
		if (!s->first) s->last = &s->first;
		run_work(s, w);
		s->completed++;
		pthread_cond_broadcast(&fake_changed);
	}
	pthread_mutex_unlock(&fake_lock);
	return NULL;
}

stream *new_stream(context *c, int blocking) {
	stream *s = calloc(1, sizeof *s); // never freed: others may have marks in it
	pthread_cond_init(&s->wake, NULL);
	s->last = &s->first;
	s->owner = c, s->blocking = blocking, s->alive = 1;
	s->handle = new_handle(STREAM, s);
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the program's
	pthread_t thread;
	int failed = pthread_create(&thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) abort();
	pthread_detach(thread);
	s->next = streams;
	streams = s;
	return s;
}

static void end_stream(stream *s) {
	s->alive = 0;
	pthread_cond_broadcast(&s->wake);
	stream **at = &streams;
	while (*at != s) at = &(*at)->next;
	if (s->completed >= s->submitted) *at = s->next; // others must wait for its last work
}

static int is_default(const stream *s) { return s == s->owner->legacy || s->thread; }

// behind_of are the points that work in s must wait for: default-stream semantics.
static mark *behind_of(stream *s) {
	if (!s->blocking) return NULL;
	size_t n = 1;
	for (stream *o = streams; o; o = o->next) n++;
	mark *marks = calloc(n, sizeof *marks), *m = marks;
	stream *legacy = s->owner->legacy;
	if (s != legacy) {
		if (legacy->completed < legacy->submitted) *m++ = (mark){legacy, legacy->submitted};
	} else {
		for (stream *o = streams; o; o = o->next)
			if (o != s && o->owner == s->owner && o->blocking && o->completed < o->submitted) *m++ = (mark){o, o->submitted};
	}
	return marks;
}

static int enqueue(stream *s, work w) {
	work *copy = malloc(sizeof w);
	*copy = w;
	copy->next = NULL;
	copy->behind = behind_of(s);
	*s->last = copy;
	s->last = &copy->next;
	s->submitted++;
	pthread_cond_broadcast(&s->wake);
	return CUDA_SUCCESS;
}

int submit(stream *s, perform f, void *arg) { return enqueue(s, (work){.f = f, .arg = arg}); }

static void await(const mark *m, context *c) {
	while (!passed(m) && !c->sticky && c->alive) pthread_cond_wait(&fake_changed, &fake_lock);
}

void wait_stream(stream *s) {
	if (s == s->owner->legacy) enqueue(s, (work){0}); // it waits for the blocking ones
	mark m[2] = {{s, s->submitted}};
	await(m, s->owner);
}

void drain(context *c) {
	size_t n = 1;
	for (stream *o = streams; o; o = o->next) n++;
	mark *marks = calloc(n, sizeof *marks), *m = marks;
	for (stream *o = streams; o; o = o->next)
		if (o->owner == c) *m++ = (mark){o, o->submitted};
	await(marks, c);
	free(marks);
}

stream *stream_of(context *c, uintptr_t handle) {
	if (handle <= 1) return c->legacy;
	if (handle == 2) { // the calling thread's own
		uintptr_t me = (uintptr_t)pthread_self();
		for (stream *s = streams; s; s = s->next)
			if (s->alive && s->owner == c && s->thread == me) return s;
		stream *s = new_stream(c, 1);
		s->thread = me;
		return s;
	}
	stream *s = object(STREAM, handle);
	if (s && !s->alive) fault("a stream that was destroyed is used");
	return s && s->alive && s->owner == c ? s : NULL;
}

int cuStreamCreate(uintptr_t *out, unsigned flags) {
	ENTER_CONTEXT(c);
	if (flags > 1) return leave(CUDA_ERROR_INVALID_VALUE);
	*out = new_stream(c, !flags)->handle;
	account(STREAMS, 1);
	return leave(CUDA_SUCCESS);
}

int cuStreamDestroy_v2(uintptr_t handle) {
	ENTER_CONTEXT(c);
	stream *s = handle > 2 ? stream_of(c, handle) : NULL;
	if (!s) return leave(CUDA_ERROR_INVALID_HANDLE);
	end_stream(s);
	account(STREAMS, -1);
	return leave(CUDA_SUCCESS);
}

void free_streams_of(context *c) {
	for (stream *s = streams, *next; s; s = next) {
		next = s->next;
		if (s->owner != c || !s->alive) continue;
		if (!is_default(s) && !s->foreign) account(STREAMS, -1);
		end_stream(s);
	}
}

int cuStreamSynchronize(uintptr_t handle) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	stream *s = stream_of(c, handle);
	if (!s) return leave(CUDA_ERROR_INVALID_HANDLE);
	if (defect("hang")) stop();
	wait_stream(s);
	return leave(c->sticky);
}

int cuStreamQuery(uintptr_t handle) {
	ENTER_CONTEXT(c);
	stream *s = stream_of(c, handle);
	if (!s) return leave(CUDA_ERROR_INVALID_HANDLE);
	return leave(s->completed < s->submitted ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

enum { DISABLE_TIMING = 2 };

int cuEventCreate(uintptr_t *out, unsigned flags) {
	ENTER_CONTEXT(c);
	if (flags & ~7u) return leave(CUDA_ERROR_INVALID_VALUE);
	event *e = calloc(1, sizeof *e);
	e->owner = c, e->alive = 1, e->timed = !(flags & DISABLE_TIMING);
	e->next = events;
	events = e;
	account(EVENTS, 1);
	*out = new_handle(EVENT, e);
	return leave(CUDA_SUCCESS);
}

static event *event_of(uintptr_t handle) {
	event *e = object(EVENT, handle);
	if (e && !e->alive) fault("an event that was destroyed is used");
	return e && e->alive ? e : NULL;
}

int cuEventRecord(uintptr_t handle, uintptr_t in) {
	ENTER_CONTEXT(c);
	event *e = event_of(handle);
	stream *s = stream_of(c, in);
	if (!e || !s || e->owner != c) return leave(CUDA_ERROR_INVALID_HANDLE);
	if (defect("early")) e->done = e->recorded + 1, e->at = now_ns();
	return leave(enqueue(s, (work){.event = e, .generation = ++e->recorded}));
}

int cuStreamWaitEvent(uintptr_t in, uintptr_t handle, unsigned flags) {
	ENTER_CONTEXT(c);
	event *e = event_of(handle);
	stream *s = stream_of(c, in);
	if (!e || !s) return leave(CUDA_ERROR_INVALID_HANDLE);
	return leave(enqueue(s, (work){.event = e, .generation = e->recorded, .wait = 1}));
}

int cuEventSynchronize(uintptr_t handle) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	event *e = event_of(handle);
	if (!e) return leave(CUDA_ERROR_INVALID_HANDLE);
	int64_t generation = e->recorded;
	while (e->done < generation && !c->sticky && c->alive) pthread_cond_wait(&fake_changed, &fake_lock);
	return leave(c->alive ? c->sticky : CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

int cuEventQuery(uintptr_t handle) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	event *e = event_of(handle);
	if (!e) return leave(CUDA_ERROR_INVALID_HANDLE);
	return leave(e->done >= e->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

int cuEventElapsedTime(float *ms, uintptr_t begin, uintptr_t end) {
	ENTER_CONTEXT(c);
	event *b = event_of(begin), *e = event_of(end);
	if (!b || !e || !b->timed || !e->timed || !b->recorded || !e->recorded) return leave(CUDA_ERROR_INVALID_HANDLE);
	if (b->done < b->recorded || e->done < e->recorded) return leave(CUDA_ERROR_NOT_READY);
	*ms = (float)((double)(e->at - b->at) / 1e6);
	return leave(CUDA_SUCCESS);
}

static void end_event(event *e) {
	e->alive = 0;
	account(EVENTS, -1);
	event **at = &events;
	while (*at != e) at = &(*at)->next;
	*at = e->next;
}

int cuEventDestroy_v2(uintptr_t handle) {
	ENTER_CONTEXT(c);
	event *e = event_of(handle);
	if (!e) return leave(CUDA_ERROR_INVALID_HANDLE);
	end_event(e);
	return leave(CUDA_SUCCESS);
}

void free_events_of(context *c) {
	for (event *e = events, *next; e; e = next) {
		next = e->next;
		if (e->owner == c) end_event(e);
	}
}

// Streams of somebody else, and what tests let them do.

// fake_stream is a stream of somebody else in the context of a handle.
uintptr_t fake_stream(uintptr_t in, int blocking) {
	pthread_mutex_lock(&fake_lock);
	context *c = object(CONTEXT, in);
	stream *s = c && c->alive ? new_stream(c, blocking) : NULL;
	if (s) s->foreign = 1;
	leave(0);
	return s ? s->handle : 0;
}

void fake_end_stream(uintptr_t handle) {
	pthread_mutex_lock(&fake_lock);
	stream *s = object(STREAM, handle);
	if (s->alive) {
		mark m[2] = {{s, s->submitted}};
		await(m, s->owner);
		end_stream(s);
	}
	leave(0);
}

typedef struct {
	uintptr_t src;
	size_t n;
	uint64_t *out;
	int64_t delay;
} sum;

static int run_sum(void *p, context *c) {
	sum *w = p;
	pause_ns(w->delay);
	pthread_mutex_lock(&fake_lock);
	int there = reachable(c, w->src, w->n) != NULL;
	leave(0);
	if (!there && w->n) return CUDA_ERROR_ILLEGAL_ADDRESS;
	uint64_t total = 0;
	for (size_t i = 0; i < w->n; i++) total += ((const unsigned char *)alias(w->src))[i] * (uint64_t)(i % 251 + 1);
	__atomic_store_n(w->out, total, __ATOMIC_SEQ_CST);
	return 0;
}

// fake_sum is a kernel: after delay nanoseconds it writes the weighted sum of
// the bytes at src into the host's memory.
void fake_sum(uintptr_t handle, uintptr_t src, size_t n, uint64_t *out, int64_t delay) {
	sum *w = malloc(sizeof *w);
	*w = (sum){src, n, out, delay};
	pthread_mutex_lock(&fake_lock);
	submit(object(STREAM, handle), run_sum, w);
	leave(0);
}

static int held, released;

static int run_hold(void *p, context *c) {
	pthread_mutex_lock(&fake_lock);
	while (released < *(int *)p && !c->sticky && c->alive) pthread_cond_wait(&fake_changed, &fake_lock);
	leave(0);
	return 0;
}

// fake_hold lets a stream go no further until fake_release.
void fake_hold(uintptr_t handle) {
	int *number = malloc(sizeof *number);
	pthread_mutex_lock(&fake_lock);
	*number = ++held;
	submit(object(STREAM, handle), run_hold, number);
	leave(0);
}

void fake_release(void) {
	pthread_mutex_lock(&fake_lock);
	released = held;
	pthread_cond_broadcast(&fake_changed);
	leave(0);
}

// fake_drain waits until a stream has nothing to do.
void fake_drain(uintptr_t handle) {
	pthread_mutex_lock(&fake_lock);
	stream *s = object(STREAM, handle);
	mark m[2] = {{s, s->submitted}};
	await(m, s->owner);
	leave(0);
}

// fake_pending is how many works streams have still to do.
int64_t fake_pending(void) {
	int64_t n = 0;
	pthread_mutex_lock(&fake_lock);
	for (stream *s = streams; s; s = s->next) n += s->submitted - s->completed;
	leave(0);
	return n;
}
