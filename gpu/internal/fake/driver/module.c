// Modules and kernels. A kernel is a function of a .cu file that was compiled for the
// processor; a module has it if its PTX has an entry of the name.
#define _GNU_SOURCE
#include "fake.h"
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct module {
	context *owner;
	int alive;
	char *text;
	struct module *next;
} module;

typedef struct {
	module *of;
	const kernel *code;
} function;

static module *modules;
static int64_t launches;
static const kernel *kernels;

// fake_kernel adds a kernel, when the library is loaded.
void fake_kernel(kernel *k) {
	k->next = kernels;
	kernels = k;
}

int64_t fake_launches(void) { return __atomic_load_n(&launches, __ATOMIC_SEQ_CST); }

int cuModuleLoadData(uintptr_t *out, const char *text) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	if (!strstr(text, ".entry ")) return leave(CUDA_ERROR_INVALID_PTX);
	module *m = calloc(1, sizeof *m);
	m->owner = c, m->alive = 1, m->text = strdup(text);
	m->next = modules;
	modules = m;
	account(MODULES, 1);
	*out = new_handle(MODULE, m);
	return leave(CUDA_SUCCESS);
}

static void end_module(module *m) {
	m->alive = 0;
	free(m->text);
	m->text = NULL;
	account(MODULES, -1);
	module **at = &modules;
	while (*at != m) at = &(*at)->next;
	*at = m->next;
}

void free_modules_of(context *c) {
	for (module *m = modules, *next; m; m = next) {
		next = m->next;
		if (m->owner == c) end_module(m);
	}
}

int cuModuleUnload(uintptr_t handle) {
	ENTER_CONTEXT(c);
	PROHIBITED();
	module *m = object(MODULE, handle);
	if (!m || !m->alive || m->owner != c) return leave(CUDA_ERROR_INVALID_HANDLE);
	end_module(m);
	return leave(CUDA_SUCCESS);
}

int cuModuleGetFunction(uintptr_t *out, uintptr_t handle, const char *name) {
	ENTER_CONTEXT(c);
	module *m = object(MODULE, handle);
	if (!m || !m->alive || m->owner != c) return leave(CUDA_ERROR_INVALID_HANDLE);
	char entry[128] = ".entry ";
	strncat(entry, name, 100);
	strcat(entry, "(");
	const kernel *k = kernels;
	while (k && strcmp(k->name, name)) k = k->next;
	if (!k || !strstr(m->text, entry)) return leave(CUDA_ERROR_NOT_FOUND);
	function *f = calloc(1, sizeof *f);
	f->of = m, f->code = k;
	*out = new_handle(FUNCTION, f);
	return leave(CUDA_SUCCESS);
}

typedef struct {
	const kernel *code;
	unsigned grid[3], block[3];
	unsigned char parameters[];
} launch;

static int run_launch(void *p, context *c) {
	launch *l = p;
	return l->code->run(l->parameters, l->grid, l->block, c);
}

uintptr_t fake_reachable(void *c, uintptr_t p) {
	pthread_mutex_lock(&fake_lock);
	int ok = reachable(c, p, 1) != NULL;
	leave(0);
	return ok ? alias(p) : 0;
}

int cuLaunchKernel(uintptr_t handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, uintptr_t in, void **args, void **extra) {
	ENTER_CONTEXT(c);
	__atomic_add_fetch(&launches, 1, __ATOMIC_SEQ_CST);
	function *f = object(FUNCTION, handle);
	stream *s = stream_of(c, in);
	if (!f || !f->of->alive || f->of->owner != c || !s) return leave(CUDA_ERROR_INVALID_HANDLE);
	uint64_t threads = (uint64_t)bx * by * bz, blocks = (uint64_t)gx * gy * gz;
	if (!threads || !blocks || threads > 1024 || bz > 64 || gy > 65535 || gz > 65535) return leave(CUDA_ERROR_INVALID_VALUE);
	launch *l = calloc(1, sizeof *l + f->code->bytes);
	*l = (launch){.code = f->code, .grid = {gx, gy, gz}, .block = {bx, by, bz}};
	f->code->pack(l->parameters, args);
	static int64_t count;
	if (defect("leak-device")) use(256);
	if (defect("kernel") && every(&count, 7)) { // it does not run
		free(l);
		return leave(c->sticky);
	}
	submit(s, run_launch, l);
	return leave(c->sticky);
}

typedef struct {
	perform f;
	unsigned char arg[];
} call;

static int run_call(void *p, context *c) {
	call *w = p;
	return w->f(w->arg, c);
}

// fake_submit lets a library's work run in a stream of the current context.
int fake_submit(uintptr_t in, perform f, const void *arg, size_t n) {
	ENTER_CONTEXT(c);
	stream *s = stream_of(c, in);
	if (!s) return leave(CUDA_ERROR_INVALID_HANDLE);
	call *w = malloc(sizeof *w + n);
	w->f = f;
	memcpy(w->arg, arg, n);
	submit(s, run_call, w);
	return leave(CUDA_SUCCESS);
}
