// What a .cu file needs to be compiled as C++: its kernels run a thread after the
// other. Of CUDA's language it has what the kernels here use.
#pragma once

#include <cmath>
#include <cstring>
#include <ctime>
#include <tuple>
#include <utility>

#include "kernel.h"

using std::isinf;
using std::isnan;

struct fake_index { unsigned x, y, z; };
static thread_local fake_index threadIdx, blockIdx, blockDim, gridDim;

#define __global__ __attribute__((visibility("hidden")))
#define __device__ static __attribute__((unused))

// globaltimer is nanoseconds; in PTX it is a register. Who asks waits, and sleeps.
static __attribute__((unused)) unsigned long long globaltimer() {
	timespec t = {0, 20000};
	nanosleep(&t, nullptr);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

template <class T> struct fake_parameter {
	static bool reach(T &, void *) { return true; }
};
template <class T> struct fake_parameter<T *> {
	static bool reach(T *&p, void *context) { return (p = (T *)fake_reachable(context, (uintptr_t)p)) != nullptr; }
};

template <auto f> struct fake_entry;
template <class... A, void (*f)(A...)> struct fake_entry<f> {
	typedef std::tuple<A...> parameters;

	static void pack(void *to, void **args) { pack(to, args, std::index_sequence_for<A...>()); }
	template <size_t... i> static void pack(void *to, void **args, std::index_sequence<i...>) {
		parameters p;
		((void)std::memcpy(&std::get<i>(p), args[i], sizeof std::get<i>(p)), ...);
		std::memcpy(to, (void *)&p, sizeof p);
	}

	static int run(void *from, const unsigned *grid, const unsigned *block, void *context) {
		parameters p;
		std::memcpy((void *)&p, from, sizeof p);
		bool reached = std::apply([&](A &...a) { return (fake_parameter<A>::reach(a, context) && ...); }, p);
		if (!reached) return 700; // CUDA_ERROR_ILLEGAL_ADDRESS
		gridDim = {grid[0], grid[1], grid[2]}, blockDim = {block[0], block[1], block[2]};
		for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
			for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
				for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
					for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
						for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
							for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) std::apply(f, p);
		return 0;
	}

	explicit fake_entry(const char *name) {
		static kernel k;
		k.name = name, k.bytes = sizeof(parameters), k.pack = pack, k.run = run;
		fake_kernel(&k);
	}
};

// KERNEL_OF adds a kernel of the file to the driver's.
#define KERNEL_OF(name) static fake_entry<name> fake_entry_##name(#name);
