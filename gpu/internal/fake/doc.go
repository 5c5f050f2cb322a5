// Package fake is a CUDA driver without a device, for tests of gpu and of the
// packages around it, on Linux. Streams are threads, device memory is the host's
// under addresses that only kernels and copies reach. Where NVIDIA's documentation
// leaves a choice the fake takes the one that is hardest on its callers:
//
//   - No address and no handle is used twice. Memory and handles belong to a context;
//     a destroyed one takes them with it, and remains current on other threads, as do
//     theirs. Use after the end is an error of the documentation's code.
//   - Taking or freeing device and page-locked memory waits for all of the context's
//     streams, and lets no other call of the context in meanwhile. Stream-ordered
//     memory does not.
//   - What a copy writes is garbage until it has ended. Copies of pageable memory read
//     it at the call, and may wait; they may go on after a synchronous call.
//   - The default streams are those of the documentation: 0 and 1 wait for every
//     blocking stream of the context and let them wait; 2 is the calling thread's.
//   - A sticky error comes back from every later call. A copy or kernel that fails is
//     reported by a later call than the one to blame.
//   - Kernels are .cu files compiled as C++. They run late, in their stream.
//
// It shows order, lifetimes and errors, and nothing about direct memory access, speed
// or NVIDIA's driver.
package fake
