// spin.ptx in CUDA's C++, for the driver of the tests, whose globaltimer is a
// function.
extern "C" __global__ void spin(unsigned long long nanoseconds) {
	unsigned long long begun = globaltimer();
	while (globaltimer() - begun < nanoseconds) {}
}
