// Defects that a driver or device might have. The environment variable
// FAKE_CUDA_DEFECT names one of them, so that a program of its own meets it from its
// start; FAKE_CUDA_SPEED is how many bytes a microsecond copies move.
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int defect(const char *name) {
	const char *has = getenv("FAKE_CUDA_DEFECT");
	return has && !strcmp(has, name);
}

// every reports each n-th call of a counter. The caller holds the lock.
int every(int64_t *count, int64_t n) { return ++*count % n == 0; }

// spoil changes the last of n bytes.
void spoil(unsigned char *p, size_t n) { p[n - 1] ^= 1; }

// stop never returns.
void stop(void) {
	for (;;) pause();
}

__attribute__((constructor)) static void speed(void) {
	const char *s = getenv("FAKE_CUDA_SPEED");
	if (s) fake_speed(0, 0, atoll(s));
}
