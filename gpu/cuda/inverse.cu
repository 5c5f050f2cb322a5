// 1/x and 1/√x under the names that gorgonia v0.9.18 looks for. Its own
// elemunaryop.cu has the first one under the name inverse, and does not have the
// second one. So without these kernels a run with either ends with an error.
#define KERNEL(name, type, value)                                                                      \
	extern "C" __global__ void name(type *x, int n) {                                                  \
		int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;                    \
		int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;              \
		int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;                               \
		if (i < n) x[i] = value;                                                                       \
	}

KERNEL(inv_f32, float, 1.0f / x[i])
KERNEL(inv_f64, double, 1.0 / x[i])
KERNEL(invSqrt_f32, float, 1.0f / sqrtf(x[i]))
KERNEL(invSqrt_f64, double, 1.0 / sqrt(x[i]))
