// The part of cuBLAS that gorgonia's matrix products use, column by column as
// everything of BLAS. A handle works in the context that was current when it was
// made, the primary one if none was.
#include <stdint.h>
#include <stdlib.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, PRIMARY = 0xC0 };

int cuCtxGetCurrent(uintptr_t *context);
uintptr_t owner(const void *p);
int injected(const char *call);

typedef struct {
	uintptr_t context;
} handle;

static uintptr_t current(void) {
	uintptr_t c;
	cuCtxGetCurrent(&c);
	return c ? c : PRIMARY;
}

// works says whether the handle and the memory belong to the current context.
static int works(const handle *h, const void *memory) {
	return h->context == current() && owner(memory) == current();
}

int cublasCreate_v2(handle **h) {
	*h = malloc(sizeof **h);
	(*h)->context = current();
	return SUCCESS;
}

int cublasDestroy_v2(handle *h) {
	free(h);
	return SUCCESS;
}

#define PRODUCTS(T, gemm, gemv, ger) \
	int gemm(handle *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, \
		const T *beta, T *c, int ldc) { \
		if (!h) return NOT_INITIALIZED; \
		if (injected(__func__)) return EXECUTION_FAILED; \
		if (!works(h, a)) return EXECUTION_FAILED; \
		if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m) return INVALID_VALUE; \
		for (int j = 0; j < n; j++) \
			for (int i = 0; i < m; i++) { \
				double sum = 0; \
				for (int l = 0; l < k; l++) \
					sum += (double)(ta ? a[l + (int64_t)i * lda] : a[i + (int64_t)l * lda]) * \
						(tb ? b[j + (int64_t)l * ldb] : b[l + (int64_t)j * ldb]); \
				T *out = &c[i + (int64_t)j * ldc]; \
				*out = (T)(*alpha * sum + (*beta != 0 ? *beta * *out : 0)); \
			} \
		return SUCCESS; \
	} \
	int gemv(handle *h, int ta, int m, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, \
		T *y, int incy) { \
		if (!h) return NOT_INITIALIZED; \
		if (injected(__func__)) return EXECUTION_FAILED; \
		if (!works(h, a)) return EXECUTION_FAILED; \
		if (lda < m || incx < 1 || incy < 1) return INVALID_VALUE; \
		for (int i = 0; i < (ta ? n : m); i++) { \
			double sum = 0; \
			for (int l = 0; l < (ta ? m : n); l++) \
				sum += (double)(ta ? a[l + (int64_t)i * lda] : a[i + (int64_t)l * lda]) * x[(int64_t)l * incx]; \
			T *out = &y[(int64_t)i * incy]; \
			*out = (T)(*alpha * sum + (*beta != 0 ? *beta * *out : 0)); \
		} \
		return SUCCESS; \
	} \
	int ger(handle *h, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) { \
		if (!h) return NOT_INITIALIZED; \
		if (injected(__func__)) return EXECUTION_FAILED; \
		if (!works(h, a)) return EXECUTION_FAILED; \
		for (int j = 0; j < n; j++) \
			for (int i = 0; i < m; i++) a[i + (int64_t)j * lda] += *alpha * x[(int64_t)i * incx] * y[(int64_t)j * incy]; \
		return SUCCESS; \
	}

PRODUCTS(float, cublasSgemm_v2, cublasSgemv_v2, cublasSger_v2)
PRODUCTS(double, cublasDgemm_v2, cublasDgemv_v2, cublasDger_v2)
