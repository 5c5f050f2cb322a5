// The kernels of the self-test. selftest.ptx is made of this file, by its script ptx. The
// tests compile it as C++: no kernel uses shared memory or atomic operations.
#ifdef __CUDACC__
static __device__ unsigned long long globaltimer() {
	unsigned long long ns;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
	return ns;
}
#endif

#define THREAD (blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * (unsigned long long)blockDim.x)

// spin keeps a thread of the device busy.
extern "C" __global__ void spin(unsigned long long nanoseconds) {
	unsigned long long begun = globaltimer();
	while (globaltimer() - begun < nanoseconds) {}
}

// sums writes a weighted sum of n bytes: each thread its part.
extern "C" __global__ void sums(const unsigned char *p, unsigned long long n, unsigned long long *out) {
	unsigned long long sum = 0;
	for (unsigned long long i = THREAD; i < n; i += THREADS) sum += p[i] * (i % 65521 + 1);
	out[THREAD] = sum;
}

// change changes each of n bytes.
extern "C" __global__ void change(unsigned char *p, unsigned long long n) {
	for (unsigned long long i = THREAD; i < n; i += THREADS) p[i] = (unsigned char)(p[i] * 5 + i);
}

// poke writes to p.
extern "C" __global__ void poke(unsigned char *p) { *p = 1; }

// The steps of a perceptron with one layer of tanh units and a linear one, and the loss
// ½(y-target)². x is (rows, width), w is (width, units), v is (units).

// hidden computes h = tanh(x·w), of shape (rows, units).
extern "C" __global__ void hidden(const float *x, const float *w, float *h, unsigned rows, unsigned width, unsigned units) {
	for (unsigned long long t = THREAD; t < (unsigned long long)rows * units; t += THREADS) {
		unsigned long long row = t / units, unit = t % units;
		float sum = 0;
		for (unsigned i = 0; i < width; i++) sum += x[row * width + i] * w[(unsigned long long)i * units + unit];
		h[t] = tanhf(sum);
	}
}

// output computes off = h·v - target, of shape (rows).
extern "C" __global__ void output(const float *h, const float *v, const float *target, float *off, unsigned rows, unsigned units) {
	for (unsigned long long row = THREAD; row < rows; row += THREADS) {
		float sum = 0;
		for (unsigned unit = 0; unit < units; unit++) sum += h[row * units + unit] * v[unit];
		off[row] = sum - target[row];
	}
}

// descend_w steps w along its gradient, with the mean over the rows.
extern "C" __global__ void descend_w(const float *x, const float *h, const float *v, const float *off, float *w, unsigned rows, unsigned width,
	unsigned units, float rate) {
	for (unsigned long long t = THREAD; t < (unsigned long long)width * units; t += THREADS) {
		unsigned long long i = t / units, unit = t % units;
		float sum = 0;
		for (unsigned row = 0; row < rows; row++) {
			float value = h[(unsigned long long)row * units + unit];
			sum += off[row] * v[unit] * (1 - value * value) * x[(unsigned long long)row * width + i];
		}
		w[t] -= rate * sum / rows;
	}
}

// descend_v steps v.
extern "C" __global__ void descend_v(const float *h, const float *off, float *v, unsigned rows, unsigned units, float rate) {
	for (unsigned long long unit = THREAD; unit < units; unit += THREADS) {
		float sum = 0;
		for (unsigned row = 0; row < rows; row++) sum += off[row] * h[(unsigned long long)row * units + unit];
		v[unit] -= rate * sum / rows;
	}
}
