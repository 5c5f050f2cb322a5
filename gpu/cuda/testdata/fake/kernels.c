#define _GNU_SOURCE
#include "kernels.h"
#include "fake.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct kernel {
	char name[48];
	double (*binary)(double, double);
	double (*unary)(double);
	int left, right; // whether the operand is a tensor
	int wide;        // float64
	int spin;        // bench/gpu's, which takes as many nanoseconds as it is told
};

static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static double mul(double a, double b) { return a * b; }
static double quotient(double a, double b) { return a / b; }
static double gt(double a, double b) { return a > b; }
static double gte(double a, double b) { return a >= b; }
static double lt(double a, double b) { return a < b; }
static double lte(double a, double b) { return a <= b; }
static double eq(double a, double b) { return a == b; }
static double ne(double a, double b) { return a != b; }

static const struct {
	const char *name;
	double (*f)(double, double);
} binaries[] = {{"add", add}, {"sub", sub}, {"mul", mul}, {"div", quotient}, {"pow", pow}, {"mod", fmod},
	{"gt", gt}, {"gte", gte}, {"lt", lt}, {"lte", lte}, {"eq", eq}, {"ne", ne}};

static double sign(double a) { return (a > 0) - (a < 0); }
static double square(double a) { return a * a; }
static double cube(double a) { return a * a * a; }
static double neg(double a) { return -a; }
static double inverse(double a) { return 1 / a; }
static double inverse_sqrt(double a) { return 1 / sqrt(a); }
static double softplus(double a) { return a > 16 ? a : log1p(exp(a)); }
static double sigmoid(double a) { return 1 / (1 + exp(-a)); }

static const struct {
	const char *name;
	double (*f)(double);
} unaries[] = {{"cos", cos}, {"sin", sin}, {"exp", exp}, {"ln", log}, {"log2", log2}, {"sqrt", sqrt}, {"tanh", tanh},
	{"log1p", log1p}, {"expm1", expm1}, {"abs", fabs}, {"ceil", ceil}, {"floor", floor}, {"sign", sign},
	{"square", square}, {"cube", cube}, {"neg", neg}, {"inverse", inverse}, {"inv", inverse}, {"invSqrt", inverse_sqrt},
	{"softplus", softplus}, {"sigmoid", sigmoid}};

#define LENGTH(a) (sizeof a / sizeof a[0])

// parse takes a name apart. Names that are none of the above give 0.
static int parse(const char *name, kernel *k) {
	char text[sizeof k->name];
	if (strlen(name) >= sizeof text) return 0;
	strcpy(text, name);
	strcpy(k->name, name);
	if (!strcmp(name, "spin")) return k->spin = 1;
	char *type = strrchr(text, '_');
	if (!type || (strcmp(type, "_f32") && strcmp(type, "_f64"))) return 0;
	k->wide = type[2] == '6';
	*type = 0;
	for (size_t i = 0; i < LENGTH(unaries); i++)
		if (!strcmp(text, unaries[i].name)) k->unary = unaries[i].f;
	char *operands = strrchr(text, '_');
	if (k->unary || !operands || strlen(operands) != 3) return 1;
	k->left = operands[1] == 'v', k->right = operands[2] == 'v';
	*operands = 0;
	for (size_t i = 0; i < LENGTH(binaries); i++)
		if (!strcmp(text, binaries[i].name)) k->binary = binaries[i].f;
	return 1;
}

enum { KERNELS = 512 };

const kernel *find_kernel(const char *name) {
	static kernel all[KERNELS];
	static int n;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const kernel *found = NULL;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n && !found; i++)
		if (!strcmp(all[i].name, name)) found = &all[i];
	if (!found && n < KERNELS) {
		memset(&all[n], 0, sizeof all[n]);
		if (parse(name, &all[n])) found = &all[n++];
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static double get(const kernel *k, const void *p, int64_t i) { return k->wide ? ((double *)p)[i] : ((float *)p)[i]; }

static void put(const kernel *k, void *p, int64_t i, double v) {
	if (k->wide) ((double *)p)[i] = v;
	else ((float *)p)[i] = (float)v;
}

enum { CUDA_ERROR_ILLEGAL_ADDRESS = 700 };

// The result goes to the first operand, and where that is a scalar and the second a
// tensor to the second, as in gorgonia's elembinop.cu.
int launch(const kernel *k, uint64_t threads, void **args) {
	if (k->spin) {
		uint64_t ns = *(uint64_t *)args[0];
		nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
		return CUDA_SUCCESS;
	}
	void *a = *(void **)args[0];
	void *b = k->binary ? *(void **)args[1] : NULL;
	int64_t n = *(int32_t *)args[k->binary ? 2 : 1];
	size_t width = k->wide ? 8 : 4;
	if (!k->binary && !k->unary) return CUDA_ERROR_LAUNCH_FAILED; // one that is not emulated
	if (n < 0 || threads < (uint64_t)n) return CUDA_ERROR_INVALID_VALUE;
	int a_scalar = k->binary && !k->left, b_scalar = k->binary && !k->right;
	if (!inside(DEVICE_BYTES, a, a_scalar ? width : n * width) || (b && !inside(DEVICE_BYTES, b, b_scalar ? width : n * width))) {
		fault();
		return CUDA_ERROR_LAUNCH_FAILED;
	}
	if (owner(a) != fake_current || (b && owner(b) != fake_current)) return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (k->unary) {
		for (int64_t i = 0; i < n; i++) put(k, a, i, k->unary(get(k, a, i)));
		return CUDA_SUCCESS;
	}
	void *out = a_scalar && !b_scalar ? b : a;
	if (a_scalar && b_scalar) n = 1;
	for (int64_t i = 0; i < n; i++) put(k, out, i, k->binary(get(k, a, a_scalar ? 0 : i), get(k, b, b_scalar ? 0 : i)));
	return CUDA_SUCCESS;
}
