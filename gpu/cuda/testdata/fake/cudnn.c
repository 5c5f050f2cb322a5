// cuDNN's handles, which gorgonia's VM makes and destroys. What would use them is
// not emulated.
#include <stdlib.h>

int cudnnCreate(void **h) {
	*h = malloc(1);
	return 0;
}

int cudnnDestroy(void *h) {
	free(h);
	return 0;
}
