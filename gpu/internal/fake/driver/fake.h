// A CUDA driver without a device, for tests: streams are threads, device memory is
// the host's under other addresses. Where NVIDIA's documentation leaves a choice it
// takes the one that is hardest on its callers. Of speed, of direct memory access and
// of the real driver it says nothing.
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
};

// What lives: the accounts of fake_live.
enum { HOST_BYTES, DEVICE_BYTES, STREAMS, EVENTS, CONTEXTS, MODULES, ACCOUNTS };

typedef struct stream stream;

typedef struct context {
	uintptr_t handle;
	int device, primary, retained, alive;
	int sticky;   // the error that every later call returns
	int running;  // works of its streams, right now
	int draining; // a call waits for the context's streams and holds the driver's lock
	stream *legacy;
	struct context *next;
} context;

// fake_lock guards everything; fake_changed tells of every end of work and of every
// drain's.
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;

// Handles are addresses that nothing lies at, and are never used again.
enum { CONTEXT, STREAM, EVENT, MODULE, FUNCTION };
uintptr_t new_handle(int kind, void *object);
// object is what a handle stands for, NULL if it is of another kind, or no handle.
void *object(int kind, uintptr_t handle);

// enter does what every call does first, and reports why the call fails. With c it
// is a call that needs the current context.
int enter(const char *call, context **c);
// leave unlocks; the calls below hold the lock between ENTER and leave.
int leave(int code);

#define ENTER()                                        \
	do {                                               \
		int code_ = enter(__func__, NULL);             \
		if (code_) return leave(code_);                \
	} while (0)

#define ENTER_CONTEXT(c)                               \
	context *c = NULL;                                 \
	do {                                               \
		int code_ = enter(__func__, &c);               \
		if (code_) return leave(code_);                \
	} while (0)

// PROHIBITED fails a call that is unsafe while another thread captures a graph.
#define PROHIBITED()                                                          \
	do {                                                                      \
		if (prohibited()) return leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); \
	} while (0)
int prohibited(void);

void account(int what, int64_t change);
// fault counts something that no correct caller does, and says what.
void fault(const char *what);
context *current(void);
int sticky(int code);
// poison makes an error the context's last.
void poison(context *c, int code);
int64_t now_ns(void);
void pause_ns(int64_t ns);

// Memory.
enum { HOST = 1, DEVICE = 2, MANAGED = 4 };
typedef struct block {
	uintptr_t at;
	size_t n;
	int kind, alive;
	context *owner;
} block;
block *take(int kind, size_t n, context *owner);
void give(block *b);
// pinned reports whether copies of n bytes at p are direct.
int pinned(uintptr_t p, size_t n);
// use takes or gives device memory of no block.
void use(int64_t n);
// inside is the live block of these kinds that n bytes at p lie in.
block *inside(int kinds, uintptr_t p, size_t n);
// reachable is inside for memory that a context's work may use.
block *reachable(context *c, uintptr_t p, size_t n);
// alias is where the host can reach the memory at p.
uintptr_t alias(uintptr_t p);
void free_memory_of(context *c);

// Work of a stream runs in order on its own thread, without the lock. perform
// returns an error that poisons the context.
typedef int (*perform)(void *arg, context *c);
int submit(stream *s, perform f, void *arg);
// stream_of is the stream of a handle, the context's own for 0, 1 and 2, or NULL.
stream *stream_of(context *c, uintptr_t handle);
stream *new_stream(context *c, int blocking);
void wait_stream(stream *s);
void drain(context *c);
// drain_locked is drain under the driver's lock: other calls wait too.
void drain_locked(context *c, size_t n);
void free_streams_of(context *c);
void free_events_of(context *c);
void free_modules_of(context *c);

// Defects, which a program's environment chooses.
int defect(const char *name);
int every(int64_t *count, int64_t n);
void spoil(unsigned char *p, size_t n);
void stop(void);
void fake_speed(int64_t latency, int64_t jitter, int64_t bandwidth);

// Copies.
void copied(uintptr_t src, uintptr_t dst, size_t n);
void pause_for_copy(size_t n);
int work_fails(void);

#ifdef __cplusplus
}
#endif

#endif
