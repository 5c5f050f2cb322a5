// What tests ask for and look at, and what every call does first.
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;

static int64_t accounts[ACCOUNTS], faults, uploads, failures, captured;
static char last_fault[160];
static int64_t latency_ns, jitter_ns, bytes_per_us, lock_ns_per_mb;
static uint64_t random_state = 1;
static int work_code;
static int64_t work_left;
static int capturing, drains = 1, initialized;
static _Thread_local int capture_mode; // 0 is global, 2 relaxed

enum { CALLS = 96 };
static struct {
	char name[48];
	int64_t calls, fail_at;
	int code;
} calls[CALLS];

enum { LOG = 1 << 16 };
static struct {
	uint64_t src, dst, bytes;
} entries[LOG];

int64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

void pause_ns(int64_t ns) {
	if (ns > 0) nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

void account(int what, int64_t change) { accounts[what] += change; }

void fault(const char *what) {
	faults++;
	snprintf(last_fault, sizeof last_fault, "%s", what);
}

static int find(const char *name) {
	int i = 0;
	while (i < CALLS - 1 && calls[i].name[0] && strcmp(calls[i].name, name)) i++;
	if (!calls[i].name[0]) snprintf(calls[i].name, sizeof calls[i].name, "%s", name);
	return i;
}

// These leave the process, or the context, without any further work.
int sticky(int code) {
	return code == 226 || code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719) || code == 721 || code == 810;
}

void poison(context *c, int code) {
	if (c && !c->sticky) c->sticky = code;
	pthread_cond_broadcast(&fake_changed);
}

// injected is the failure that a call was told to report.
static int injected(const char *name) {
	int i = find(name);
	calls[i].calls++;
	if (calls[i].fail_at != calls[i].calls) return CUDA_SUCCESS;
	failures++;
	if (sticky(calls[i].code)) poison(current(), calls[i].code);
	return calls[i].code;
}

static int any_time(const char *name) {
	return !strcmp(name, "cuInit") || !strcmp(name, "cuDriverGetVersion") || !strncmp(name, "cuGetError", 10);
}

int enter(const char *name, context **out) {
	pthread_mutex_lock(&fake_lock);
	int code = injected(name);
	if (code) return code;
	if (!initialized && !any_time(name)) return CUDA_ERROR_NOT_INITIALIZED;
	if (!out) return CUDA_SUCCESS;
	context *c = current();
	if (!c) return CUDA_ERROR_INVALID_CONTEXT;
	if (c->sticky && defect("forgetful")) {
		int once = c->sticky;
		c->sticky = 0;
		return once;
	}
	while (c->alive && c->draining && !c->sticky) pthread_cond_wait(&fake_changed, &fake_lock);
	if (!c->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*out = c;
	return c->sticky;
}

int leave(int code) {
	if (code == CUDA_ERROR_INVALID_VALUE && defect("lenient")) code = CUDA_SUCCESS;
	pthread_mutex_unlock(&fake_lock);
	return code;
}

// fake_injected is for the libraries that are built on the driver.
int fake_injected(const char *name) {
	pthread_mutex_lock(&fake_lock);
	return leave(injected(name));
}

void fake_fault(const char *what) {
	pthread_mutex_lock(&fake_lock);
	fault(what);
	leave(0);
}

int prohibited(void) {
	if (!capturing || capture_mode == 2) return 0;
	captured++;
	return 1;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
	ENTER();
	int before = capture_mode;
	if (*mode < 0 || *mode > 2) return leave(CUDA_ERROR_INVALID_VALUE);
	capture_mode = *mode;
	*mode = before;
	return leave(CUDA_SUCCESS);
}

int cuInit(unsigned flags) {
	ENTER();
	if (flags) return leave(CUDA_ERROR_INVALID_VALUE);
	initialized = 1;
	return leave(CUDA_SUCCESS);
}

void copied(uintptr_t src, uintptr_t dst, size_t n) {
	int i = uploads++ % LOG;
	entries[i].src = src, entries[i].dst = dst, entries[i].bytes = n;
}

// pause_for_copy takes as long as the bus that fake_speed describes.
void pause_for_copy(size_t n) {
	pthread_mutex_lock(&fake_lock);
	int64_t ns = latency_ns + (defect("early") ? 2000000 : 0);
	if (jitter_ns) {
		random_state = random_state * 6364136223846793005u + 1442695040888963407u;
		ns += (random_state >> 33) % jitter_ns;
	}
	if (bytes_per_us) ns += (int64_t)n * 1000 / bytes_per_us;
	leave(0);
	pause_ns(ns);
}

// work_fails is the error of the piece of work that was told to fail.
int work_fails(void) {
	if (work_left <= 0 || --work_left) return 0;
	failures++;
	return work_code;
}

void drain_locked(context *c, size_t n) {
	if (!drains) return;
	c->draining = 1;
	drain(c);
	if (lock_ns_per_mb) {
		pthread_mutex_unlock(&fake_lock);
		pause_ns((int64_t)(n >> 10) * lock_ns_per_mb >> 10);
		pthread_mutex_lock(&fake_lock);
	}
	c->draining = 0;
	pthread_cond_broadcast(&fake_changed);
}

void fake_devices_reset(void);

// fake_reset forgets everything but what lives, and that cuInit was called.
void fake_reset(void) {
	pthread_mutex_lock(&fake_lock);
	faults = uploads = failures = captured = latency_ns = jitter_ns = bytes_per_us = lock_ns_per_mb = work_left = 0;
	capturing = 0, drains = 1, random_state = 1, last_fault[0] = 0;
	memset(calls, 0, sizeof calls);
	leave(0);
	fake_devices_reset();
}

// fake_restart makes cuInit necessary again.
void fake_restart(void) { initialized = 0; }

// fake_speed sets what a copy costs: latency, up to jitter more, and the bytes
// at so many per microsecond; 0 bytes per microsecond is no limit.
void fake_speed(int64_t latency, int64_t jitter, int64_t bandwidth) {
	pthread_mutex_lock(&fake_lock);
	latency_ns = latency, jitter_ns = jitter, bytes_per_us = bandwidth;
	leave(0);
}

// fake_drains sets whether calls that may wait for the context's streams do, as they
// do by default, and for how long they hold the driver's lock per MB.
void fake_drains(int on, int64_t ns_per_mb) {
	pthread_mutex_lock(&fake_lock);
	drains = on, lock_ns_per_mb = ns_per_mb;
	leave(0);
}

// fake_capture says that another thread captures a graph in global mode.
void fake_capture(int on) {
	pthread_mutex_lock(&fake_lock);
	capturing = on;
	leave(0);
}

// fake_fail makes the n-th call from now of that name report code. A sticky code is
// the current context's from then on.
void fake_fail(const char *name, int64_t n, int code) {
	pthread_mutex_lock(&fake_lock);
	int i = find(name);
	calls[i].fail_at = n > 0 ? calls[i].calls + n : 0;
	calls[i].code = code;
	leave(0);
}

// fake_poison makes the n-th copy or kernel that runs from now on fail, which calls
// learn of later.
void fake_poison(int code, int64_t n) {
	pthread_mutex_lock(&fake_lock);
	work_code = code, work_left = n;
	leave(0);
}

static int64_t locked(int64_t *v) {
	pthread_mutex_lock(&fake_lock);
	int64_t n = *v;
	leave(0);
	return n;
}

int64_t fake_live(int what) { return locked(&accounts[what]); }
// fake_failures counts the calls and works that failed because they were told to.
int64_t fake_failures(void) { return locked(&failures); }
int64_t fake_faults(void) { return locked(&faults); }
// fake_captured counts the calls that would have broken another thread's capture.
int64_t fake_captured(void) { return locked(&captured); }
// fake_uploads counts the copies to the device that have ended.
int64_t fake_uploads(void) { return locked(&uploads); }

void fake_last_fault(char *text, int64_t n) {
	pthread_mutex_lock(&fake_lock);
	snprintf(text, n, "%s", last_fault);
	leave(0);
}

int64_t fake_calls(const char *name) {
	pthread_mutex_lock(&fake_lock);
	int64_t n = calls[find(name)].calls;
	leave(0);
	return n;
}

// fake_upload is source, destination and size of an upload.
void fake_upload(int64_t i, uint64_t *entry) {
	pthread_mutex_lock(&fake_lock);
	memcpy(entry, &entries[i % LOG], sizeof entries[0]);
	leave(0);
}

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
	{46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
	{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
	{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int describe(int code, int text, const char **s) {
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].code == code) {
			*s = text ? errors[i].text : errors[i].name;
			return CUDA_SUCCESS;
		}
	*s = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

int cuGetErrorName(int code, const char **name) {
	ENTER();
	return leave(describe(code, 0, name));
}

int cuGetErrorString(int code, const char **text) {
	ENTER();
	return leave(describe(code, 1, text));
}
