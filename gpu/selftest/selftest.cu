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
