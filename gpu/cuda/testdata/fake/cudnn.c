// The part of cuDNN that gorgonia's rectifier uses, for float32. A handle works in
// the context that was current when it was made. The arena's memory holds anything.
#include <stdint.h>
#include <stdlib.h>

enum { SUCCESS = 0, EXECUTION_FAILED = 8, DESCRIPTOR_BYTES = 64 };

int cuCtxGetCurrent(uintptr_t *context);
uintptr_t owner(const void *p);

typedef struct {
	uintptr_t context;
} handle;

typedef struct {
	int n;
} descriptor;

static uintptr_t current(void) {
	uintptr_t c;
	cuCtxGetCurrent(&c);
	return c;
}

int cudnnCreate(handle **h) {
	*h = malloc(sizeof **h);
	(*h)->context = current();
	return SUCCESS;
}

int cudnnDestroy(handle *h) {
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

// works says whether the handle and the memory belong to the current context.
static int works(const handle *h, const void *memory) { return h->context == current() && owner(memory) == current(); }

int cudnnActivationForward(handle *h, descriptor *a, const float *alpha, const descriptor *xd, const float *x, const float *beta,
	const descriptor *yd, float *y) {
	if (!works(h, x) || xd->n != yd->n) return EXECUTION_FAILED;
	for (int i = 0; i < xd->n; i++) y[i] = *alpha * (x[i] > 0 ? x[i] : 0) + (*beta != 0 ? *beta * y[i] : 0);
	return SUCCESS;
}

int cudnnActivationBackward(handle *h, descriptor *a, const float *alpha, const descriptor *yd, const float *y, const descriptor *dyd,
	const float *dy, const descriptor *xd, const float *x, const float *beta, const descriptor *dxd, float *dx) {
	if (!works(h, x) || xd->n != dyd->n) return EXECUTION_FAILED;
	for (int i = 0; i < xd->n; i++) dx[i] = *alpha * (x[i] > 0 ? dy[i] : 0) + (*beta != 0 ? *beta * dx[i] : 0);
	return SUCCESS;
}
