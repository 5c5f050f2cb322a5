// The part of cuBLAS that gorgonia's matrix products use, column by column as
// everything of BLAS. Calls return before the device has worked.
#include "library.h"

#include <stdlib.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, INTERNAL_ERROR = 14 };

int cublasCreate_v2(handle **out) {
	uintptr_t context = fake_runtime_context();
	if (!context) return NOT_INITIALIZED;
	*out = calloc(1, sizeof **out);
	(*out)->context = context;
	return SUCCESS;
}

int cublasDestroy_v2(handle *h) {
	if (!h) return NOT_INITIALIZED;
	if (h->context != fake_current()) {
		fake_fault("cublasDestroy in another context than the handle's");
		return INTERNAL_ERROR;
	}
	free(h);
	return SUCCESS;
}

int cublasSetStream_v2(handle *h, uintptr_t stream) {
	if (!h) return NOT_INITIALIZED;
	h->stream = stream;
	return SUCCESS;
}

// start gives work to the handle's stream.
static int start(const handle *h, const char *call, fake_perform f, const void *arg, size_t n) {
	if (!h) return NOT_INITIALIZED;
	if (fake_injected(call) || h->context != fake_current() || fake_submit(h->stream, f, arg, n)) return EXECUTION_FAILED;
	return SUCCESS;
}

#define REACH(T, name) \
	T *name = (T *)fake_reachable(context, w->name); \
	if (!name) return CUDA_ERROR_ILLEGAL_ADDRESS;

#define PRODUCTS(T, gemm, gemv, ger) \
	typedef struct { \
		int ta, tb, m, n, k, lda, ldb, ldc; \
		T alpha, beta; \
		uintptr_t a, b, c; \
	} gemm##_work; \
	static int run_##gemm(void *arg, void *context) { \
		const gemm##_work *w = arg; \
		REACH(const T, a) REACH(const T, b) REACH(T, c) \
		for (int j = 0; j < w->n; j++) \
			for (int i = 0; i < w->m; i++) { \
				double sum = 0; \
				for (int l = 0; l < w->k; l++) \
					sum += (double)(w->ta ? a[l + (int64_t)i * w->lda] : a[i + (int64_t)l * w->lda]) * \
						(w->tb ? b[j + (int64_t)l * w->ldb] : b[l + (int64_t)j * w->ldb]); \
				T *out = &c[i + (int64_t)j * w->ldc]; \
				*out = (T)(w->alpha * sum + (w->beta != 0 ? w->beta * *out : 0)); \
			} \
		return 0; \
	} \
	int gemm(handle *h, int ta, int tb, int m, int n, int k, const T *alpha, uintptr_t a, int lda, uintptr_t b, int ldb, \
		const T *beta, uintptr_t c, int ldc) { \
		if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m) return INVALID_VALUE; \
		gemm##_work w = {ta, tb, m, n, k, lda, ldb, ldc, *alpha, *beta, a, b, c}; \
		return start(h, __func__, run_##gemm, &w, sizeof w); \
	} \
	typedef struct { \
		int ta, m, n, lda, incx, incy; \
		T alpha, beta; \
		uintptr_t a, x, y; \
	} gemv##_work; \
	static int run_##gemv(void *arg, void *context) { \
		const gemv##_work *w = arg; \
		REACH(const T, a) REACH(const T, x) REACH(T, y) \
		for (int i = 0; i < (w->ta ? w->n : w->m); i++) { \
			double sum = 0; \
			for (int l = 0; l < (w->ta ? w->m : w->n); l++) \
				sum += (double)(w->ta ? a[l + (int64_t)i * w->lda] : a[i + (int64_t)l * w->lda]) * x[(int64_t)l * w->incx]; \
			T *out = &y[(int64_t)i * w->incy]; \
			*out = (T)(w->alpha * sum + (w->beta != 0 ? w->beta * *out : 0)); \
		} \
		return 0; \
	} \
	int gemv(handle *h, int ta, int m, int n, const T *alpha, uintptr_t a, int lda, uintptr_t x, int incx, const T *beta, \
		uintptr_t y, int incy) { \
		if (lda < m || incx < 1 || incy < 1) return INVALID_VALUE; \
		gemv##_work w = {ta, m, n, lda, incx, incy, *alpha, *beta, a, x, y}; \
		return start(h, __func__, run_##gemv, &w, sizeof w); \
	} \
	typedef struct { \
		int m, n, incx, incy, lda; \
		T alpha; \
		uintptr_t x, y, a; \
	} ger##_work; \
	static int run_##ger(void *arg, void *context) { \
		const ger##_work *w = arg; \
		REACH(const T, x) REACH(const T, y) REACH(T, a) \
		for (int j = 0; j < w->n; j++) \
			for (int i = 0; i < w->m; i++) \
				a[i + (int64_t)j * w->lda] += w->alpha * x[(int64_t)i * w->incx] * y[(int64_t)j * w->incy]; \
		return 0; \
	} \
	int ger(handle *h, int m, int n, const T *alpha, uintptr_t x, int incx, uintptr_t y, int incy, uintptr_t a, int lda) { \
		if (lda < m || incx < 1 || incy < 1) return INVALID_VALUE; \
		ger##_work w = {m, n, incx, incy, lda, *alpha, x, y, a}; \
		return start(h, __func__, run_##ger, &w, sizeof w); \
	}

PRODUCTS(float, cublasSgemm_v2, cublasSgemv_v2, cublasSger_v2)
PRODUCTS(double, cublasDgemm_v2, cublasDgemv_v2, cublasDger_v2)
