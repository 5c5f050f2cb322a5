// Package fake is a CUDA driver without a device, for tests of gpu and its subpackages
// on Linux. Its streams are threads. Its device memory is host memory at addresses that
// only kernels and copies can access. Where NVIDIA's documentation allows several
// behaviours, the fake takes the one that is hardest for its callers:
//
//   - No address and no handle is used twice. Memory and handles belong to a context and
//     are destroyed with it. A destroyed context stays current on other threads. Use
//     after destruction returns the error code that the documentation names.
//   - Allocating or freeing device memory or page-locked memory waits for all streams of
//     the context, and blocks all other calls of the context meanwhile.
//   - The destination of a copy holds garbage until the copy is complete. A copy of
//     pageable memory reads it during the call, and may wait. It may still run after a
//     synchronous call has returned.
//   - The default streams are as documented: 0 and 1 wait for every blocking stream of
//     the context, and such streams wait for them; 2 is the calling thread's own.
//   - A sticky error is returned by every later call. The failure of a copy or kernel is
//     returned by a later call than the one that caused it.
//   - Kernels are .cu files compiled as C++. They run late, in their stream.
//
// The environment variable FAKE_CUDA_DEFECT makes the fake misbehave, for tests of what
// has to notice; driver/defect.c and its callers have the names. FAKE_CUDA_SPEED is the
// bytes that copies move per microsecond.
//
// Tests on the fake check order, lifetimes and errors. They show nothing about direct
// memory access, speed or NVIDIA's own driver.
package fake
