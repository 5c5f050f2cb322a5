// Handles, devices and contexts.
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Handles.

enum { STEP = 64 };
static uintptr_t first_handle;
static struct {
	int kind;
	void *object;
} *objects;
static size_t handles, room;

uintptr_t new_handle(int kind, void *object) {
	if (!first_handle) first_handle = (uintptr_t)mmap(NULL, (size_t)1 << 32, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (handles == room) {
		room = room ? 2 * room : 1024;
		objects = realloc(objects, room * sizeof objects[0]);
	}
	objects[handles].kind = kind;
	objects[handles].object = object;
	return first_handle + STEP * ++handles;
}

void *object(int kind, uintptr_t handle) {
	size_t i = (handle - first_handle) / STEP - 1;
	return handle > first_handle && handle % STEP == 0 && i < handles && objects[i].kind == kind ? objects[i].object : NULL;
}

// Devices.

enum { DEVICES = 8 };
static int devices = 1;
static context *primary[DEVICES];
static context *contexts;

void fake_devices(int n) { devices = n; }
void fake_devices_reset(void) { devices = 1; }

int cuDriverGetVersion(int *version) {
	ENTER();
	*version = 12040;
	return leave(CUDA_SUCCESS);
}

int cuDeviceGetCount(int *n) {
	ENTER();
	*n = devices;
	return leave(CUDA_SUCCESS);
}

int cuDeviceGet(int *device, int ordinal) {
	ENTER();
	if (ordinal < 0 || ordinal >= devices) return leave(CUDA_ERROR_INVALID_DEVICE);
	*device = ordinal;
	return leave(CUDA_SUCCESS);
}

int cuDeviceGetName(char *name, int n, int device) {
	ENTER();
	if (device < 0 || device >= devices) return leave(CUDA_ERROR_INVALID_DEVICE);
	snprintf(name, n, "Fake %d", device);
	return leave(CUDA_SUCCESS);
}

int cuDeviceGetPCIBusId(char *id, int n, int device) {
	ENTER();
	snprintf(id, n, "0000:%02X:00.0", device + 1);
	return leave(CUDA_SUCCESS);
}

// cuDeviceGetAttribute answers as CUDA devices since compute capability 7.5 do; the
// numbers are those of CUdevice_attribute.
int cuDeviceGetAttribute(int *value, int attribute, int device) {
	ENTER();
	if (device < 0 || device >= devices) return leave(CUDA_ERROR_INVALID_DEVICE);
	switch (attribute) {
	case 1: case 2: case 3: *value = 1024; break; // threads per block, block's x, y
	case 4: *value = 64; break;                   // block's z
	case 5: *value = 2147483647; break;           // grid's x
	case 6: case 7: *value = 65535; break;        // grid's y, z
	case 10: *value = 32; break;                  // warp
	case 16: *value = 4; break;                   // multiprocessors
	case 18: case 20: *value = 0; break;          // integrated, compute mode
	case 40: *value = 2; break;                   // engines for copies
	case 31: case 41: *value = 1; break;          // concurrent kernels, unified addresses
	case 75: *value = 7; break;                   // compute capability
	case 76: *value = 5; break;
	case 88: case 89: case 100: *value = 0; break; // access to pageable and managed memory
	default: return leave(CUDA_ERROR_INVALID_VALUE);
	}
	return leave(CUDA_SUCCESS);
}

// Contexts.

enum { DEPTH = 16 };
static _Thread_local context *stack[DEPTH];
static _Thread_local int depth;

context *current(void) { return depth ? stack[depth - 1] : NULL; }

static context *make(int device, int is_primary) {
	context *c = calloc(1, sizeof *c); // never freed: threads may have it current
	c->handle = new_handle(CONTEXT, c);
	c->device = device, c->primary = is_primary, c->alive = 1;
	c->legacy = new_stream(c, 1);
	c->next = contexts;
	contexts = c;
	account(CONTEXTS, 1);
	return c;
}

// end takes everything away that belongs to a context.
static void end(context *c) {
	c->alive = 0;
	pthread_cond_broadcast(&fake_changed);
	while (c->running) pthread_cond_wait(&fake_changed, &fake_lock);
	free_streams_of(c);
	free_events_of(c);
	free_modules_of(c);
	free_memory_of(c);
	account(CONTEXTS, -1);
}

int cuCtxCreate_v2(uintptr_t *out, unsigned flags, int device) {
	ENTER();
	if (device < 0 || device >= devices) return leave(CUDA_ERROR_INVALID_DEVICE);
	if (depth == DEPTH) return leave(CUDA_ERROR_OUT_OF_MEMORY);
	context *c = make(device, 0);
	stack[depth++] = c;
	*out = c->handle;
	return leave(CUDA_SUCCESS);
}

int cuCtxDestroy_v2(uintptr_t handle) {
	ENTER();
	context *c = object(CONTEXT, handle);
	if (!c || !c->alive || c->primary) {
		fault("cuCtxDestroy of no context");
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	}
	int code = c->sticky;
	if (!code) drain(c);
	end(c);
	if (current() == c) depth--;
	return leave(code);
}

int cuCtxSetCurrent(uintptr_t handle) {
	ENTER();
	if (!handle) {
		if (depth) depth--;
		return leave(CUDA_SUCCESS);
	}
	context *c = object(CONTEXT, handle);
	if (!c || !c->alive) return leave(CUDA_ERROR_INVALID_CONTEXT);
	if (!depth) depth = 1;
	stack[depth - 1] = c;
	return leave(CUDA_SUCCESS);
}

int cuCtxPushCurrent_v2(uintptr_t handle) {
	ENTER();
	context *c = object(CONTEXT, handle);
	if (!c || !c->alive) return leave(CUDA_ERROR_INVALID_CONTEXT);
	if (depth == DEPTH) return leave(CUDA_ERROR_OUT_OF_MEMORY);
	stack[depth++] = c;
	return leave(CUDA_SUCCESS);
}

int cuCtxPopCurrent_v2(uintptr_t *handle) {
	ENTER();
	if (!depth) return leave(CUDA_ERROR_INVALID_CONTEXT);
	context *c = stack[--depth];
	if (handle) *handle = c->handle;
	return leave(CUDA_SUCCESS);
}

int cuCtxGetCurrent(uintptr_t *handle) {
	ENTER();
	*handle = current() ? current()->handle : 0;
	return leave(CUDA_SUCCESS);
}

int cuCtxSynchronize(void) {
	ENTER_CONTEXT(c);
	drain(c);
	return leave(c->sticky);
}

static context *retain(int device, int counted) {
	context *c = primary[device];
	if (!c || !c->alive) c = primary[device] = make(device, 1);
	c->retained++;
	if (!counted) account(CONTEXTS, -c->alive), c->retained += 1 << 20;
	return c;
}

int cuDevicePrimaryCtxRetain(uintptr_t *handle, int device) {
	ENTER();
	if (device < 0 || device >= devices) return leave(CUDA_ERROR_INVALID_DEVICE);
	*handle = retain(device, 1)->handle;
	return leave(CUDA_SUCCESS);
}

int cuDevicePrimaryCtxRelease_v2(int device) {
	ENTER();
	context *c = device >= 0 && device < DEVICES ? primary[device] : NULL;
	if (!c || !c->alive || !c->retained) {
		fault("cuDevicePrimaryCtxRelease without a retain");
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	}
	int code = c->sticky;
	if (--c->retained == 0) {
		if (!code) drain(c);
		end(c);
	}
	return leave(code);
}

// fake_runtime_context is what NVIDIA's runtime, on which cuBLAS is built, works in:
// the current context, and where there is none the primary one, which becomes
// current and is kept until the process ends. 0 if the current one is destroyed.
uintptr_t fake_runtime_context(void) {
	static context *kept;
	pthread_mutex_lock(&fake_lock);
	context *c = current();
	if (!c) {
		if (!kept || !kept->alive) kept = retain(0, 0);
		c = kept;
		depth = 1;
		stack[0] = c;
	}
	uintptr_t handle = c->alive && !c->sticky ? c->handle : 0;
	leave(0);
	return handle;
}

// fake_primary is a device's primary context, if it is active.
uintptr_t fake_primary(int device) {
	pthread_mutex_lock(&fake_lock);
	uintptr_t handle = primary[device] && primary[device]->alive ? primary[device]->handle : 0;
	leave(0);
	return handle;
}

// fake_current is the current context's handle, destroyed or not.
uintptr_t fake_current(void) { return current() ? current()->handle : 0; }

// fake_context makes a context of somebody else, current nowhere.
uintptr_t fake_context(int device) {
	pthread_mutex_lock(&fake_lock);
	context *c = make(device, 0);
	leave(0);
	return c->handle;
}

void fake_end_context(uintptr_t handle) {
	pthread_mutex_lock(&fake_lock);
	end(object(CONTEXT, handle));
	leave(0);
}
