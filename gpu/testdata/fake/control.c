// Devices, contexts, and what tests ask for and look at.
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
_Thread_local uintptr_t fake_current;

static int devices = 1;
static int64_t accounts[ACCOUNTS], faults, uploads, failures;
static int64_t latency_ns, jitter_ns, bytes_per_us;
static uint64_t random_state;
static int retained[8];

enum { CALLS = 64 };
static struct {
	char name[48];
	int64_t calls, fail_at;
	int code;
} calls[CALLS];

enum { LOG = 1 << 16 };
static struct {
	uint64_t src, dst, bytes;
} entries[LOG];

void account(int what, int64_t change) {
	pthread_mutex_lock(&fake_lock);
	accounts[what] += change;
	pthread_mutex_unlock(&fake_lock);
}

void fault(void) {
	pthread_mutex_lock(&fake_lock);
	faults++;
	pthread_mutex_unlock(&fake_lock);
}

static int find(const char *name) {
	int i = 0;
	while (i < CALLS - 1 && calls[i].name[0] && strcmp(calls[i].name, name)) i++;
	if (!calls[i].name[0]) snprintf(calls[i].name, sizeof calls[i].name, "%s", name);
	return i;
}

int injected(const char *name) {
	pthread_mutex_lock(&fake_lock);
	int i = find(name);
	calls[i].calls++;
	int code = calls[i].fail_at == calls[i].calls ? calls[i].code : CUDA_SUCCESS;
	if (code != CUDA_SUCCESS) failures++;
	pthread_mutex_unlock(&fake_lock);
	return code;
}

void copied(const void *src, const void *dst, size_t n) {
	pthread_mutex_lock(&fake_lock);
	int i = uploads++ % LOG;
	entries[i].src = (uint64_t)src;
	entries[i].dst = (uint64_t)dst;
	entries[i].bytes = n;
	pthread_mutex_unlock(&fake_lock);
}

// pause_for_copy takes as long as the bus that fake_speed describes.
void pause_for_copy(size_t n) {
	pthread_mutex_lock(&fake_lock);
	int64_t ns = latency_ns;
	if (jitter_ns) {
		random_state = random_state * 6364136223846793005u + 1442695040888963407u;
		ns += (random_state >> 33) % jitter_ns;
	}
	if (bytes_per_us) ns += (int64_t)n * 1000 / bytes_per_us;
	pthread_mutex_unlock(&fake_lock);
	if (ns) nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

// fake_reset forgets everything but what lives.
void fake_reset(void) {
	pthread_mutex_lock(&fake_lock);
	devices = 1;
	faults = uploads = failures = latency_ns = jitter_ns = bytes_per_us = 0;
	memset(calls, 0, sizeof calls);
	pthread_mutex_unlock(&fake_lock);
}

void fake_devices(int n) { devices = n; }

// fake_speed sets what a copy costs: latency, up to jitter more, and the bytes
// at so many per microsecond; 0 bytes per microsecond is no limit.
void fake_speed(int64_t latency, int64_t jitter, int64_t bandwidth) {
	pthread_mutex_lock(&fake_lock);
	latency_ns = latency, jitter_ns = jitter, bytes_per_us = bandwidth;
	pthread_mutex_unlock(&fake_lock);
}

// fake_fail makes the n-th call from now of that name report code.
void fake_fail(const char *name, int64_t n, int code) {
	pthread_mutex_lock(&fake_lock);
	int i = find(name);
	calls[i].fail_at = calls[i].calls + n;
	calls[i].code = code;
	pthread_mutex_unlock(&fake_lock);
}

static int64_t locked(int64_t *v) {
	pthread_mutex_lock(&fake_lock);
	int64_t n = *v;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

int64_t fake_live(int what) { return locked(&accounts[what]); }
// fake_failures counts the calls that failed because they were told to.
int64_t fake_failures(void) { return locked(&failures); }
int64_t fake_faults(void) { return locked(&faults); }
// fake_uploads counts the copies to the device that have ended.
int64_t fake_uploads(void) { return locked(&uploads); }

int64_t fake_calls(const char *name) {
	pthread_mutex_lock(&fake_lock);
	int64_t n = calls[find(name)].calls;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

// fake_upload is source, destination and size of an upload.
void fake_upload(int64_t i, uint64_t *entry) {
	pthread_mutex_lock(&fake_lock);
	memcpy(entry, &entries[i % LOG], sizeof entries[0]);
	pthread_mutex_unlock(&fake_lock);
}

int cuInit(unsigned flags) {
	ENTER();
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int cuDriverGetVersion(int *version) {
	ENTER();
	*version = 12040;
	return CUDA_SUCCESS;
}

int cuDeviceGetCount(int *n) {
	ENTER();
	*n = devices;
	return CUDA_SUCCESS;
}

int cuDeviceGet(int *device, int ordinal) {
	ENTER();
	if (ordinal < 0 || ordinal >= devices) return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

int cuDeviceGetName(char *name, int n, int device) {
	ENTER();
	snprintf(name, n, "Fake %d", device);
	return CUDA_SUCCESS;
}

int cuDevicePrimaryCtxRetain(uintptr_t *context, int device) {
	ENTER();
	pthread_mutex_lock(&fake_lock);
	retained[device]++;
	accounts[CONTEXTS]++;
	pthread_mutex_unlock(&fake_lock);
	*context = 0xC0 + device;
	return CUDA_SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
	ENTER();
	pthread_mutex_lock(&fake_lock);
	int ok = retained[device] > 0;
	if (ok) retained[device]--, accounts[CONTEXTS]--;
	pthread_mutex_unlock(&fake_lock);
	return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

int cuCtxSetCurrent(uintptr_t context) {
	ENTER();
	fake_current = context;
	return CUDA_SUCCESS;
}

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
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
	return describe(code, 0, name);
}

int cuGetErrorString(int code, const char **text) {
	ENTER();
	return describe(code, 1, text);
}
