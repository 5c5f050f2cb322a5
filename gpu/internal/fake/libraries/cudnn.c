// The part of cuDNN that gorgonia's rectifier uses, for float32. Calls return before
// the device has worked.
#include "library.h"

#include <stdlib.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, BAD_PARAM = 3, INTERNAL_ERROR = 4, EXECUTION_FAILED = 8, DESCRIPTOR_BYTES = 64 };

typedef struct {
	int n;
} descriptor;

int cudnnCreate(handle **out) {
	uintptr_t context = fake_runtime_context();
	if (!context) return NOT_INITIALIZED;
	*out = calloc(1, sizeof **out);
	(*out)->context = context;
	return SUCCESS;
}

int cudnnDestroy(handle *h) {
	if (!h) return NOT_INITIALIZED;
	if (h->context != fake_current()) {
		fake_fault("cudnnDestroy in another context than the handle's");
		return INTERNAL_ERROR;
	}
	free(h);
	return SUCCESS;
}

int cudnnCreateTensorDescriptor(descriptor **d) { return (*d = calloc(1, DESCRIPTOR_BYTES)) ? SUCCESS : EXECUTION_FAILED; }
int cudnnCreateActivationDescriptor(descriptor **d) { return cudnnCreateTensorDescriptor(d); }

int cudnnDestroyTensorDescriptor(descriptor *d) {
	free(d);
	return SUCCESS;
}

int cudnnDestroyActivationDescriptor(descriptor *d) { return cudnnDestroyTensorDescriptor(d); }

int cudnnSetTensor4dDescriptorEx(descriptor *d, int type, int n, int c, int h, int w, int ns, int cs, int hs, int ws) {
	d->n = n * c * h * w;
	return SUCCESS;
}

int cudnnSetActivationDescriptor(descriptor *d, int mode, int nan, double coefficient) { return SUCCESS; }

typedef struct {
	int n;
	float alpha, beta;
	uintptr_t x, slope, out; // slope: what flows back, 0 in the forward direction
} work;

static int run(void *arg, void *context) {
	const work *w = arg;
	const float *x = (const float *)fake_reachable(context, w->x);
	const float *slope = w->slope ? (const float *)fake_reachable(context, w->slope) : NULL;
	float *out = (float *)fake_reachable(context, w->out);
	if (!x || !out || (w->slope && !slope)) return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int i = 0; i < w->n; i++) {
		float v = x[i] > 0 ? (slope ? slope[i] : x[i]) : 0;
		out[i] = w->alpha * v + (w->beta != 0 ? w->beta * out[i] : 0);
	}
	return 0;
}

static int start(const handle *h, const char *call, work w) {
	if (!h) return NOT_INITIALIZED;
	if (fake_injected(call) || h->context != fake_current() || fake_submit(h->stream, run, &w, sizeof w)) return EXECUTION_FAILED;
	return SUCCESS;
}

int cudnnActivationForward(handle *h, descriptor *a, const float *alpha, const descriptor *xd, uintptr_t x, const float *beta,
	const descriptor *yd, uintptr_t y) {
	if (xd->n != yd->n) return BAD_PARAM;
	return start(h, __func__, (work){xd->n, *alpha, *beta, x, 0, y});
}

int cudnnActivationBackward(handle *h, descriptor *a, const float *alpha, const descriptor *yd, uintptr_t y, const descriptor *dyd,
	uintptr_t dy, const descriptor *xd, uintptr_t x, const float *beta, const descriptor *dxd, uintptr_t dx) {
	if (xd->n != dyd->n) return BAD_PARAM;
	return start(h, __func__, (work){xd->n, *alpha, *beta, x, dy, dx});
}
