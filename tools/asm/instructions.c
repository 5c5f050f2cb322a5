// A plugin of QEMU that counts the instructions of a program, and prints their number when the program ends.
// What it calls is declared here, because Debian has no package with QEMU's header for plugins.

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin;
typedef struct block block; // instructions that are translated, and executed, at once

extern size_t qemu_plugin_tb_n_insns(const block *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin, void (*)(plugin, block *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(block *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_atexit_cb(plugin, void (*)(plugin, void *), void *);

int qemu_plugin_version = 1; // of the interface, which QEMU 7 and 8 have

static uint64_t count;

static void executed(unsigned processor, void *instructions) { __atomic_fetch_add(&count, (uintptr_t)instructions, __ATOMIC_RELAXED); }

static void translated(plugin p, block *b) { qemu_plugin_register_vcpu_tb_exec_cb(b, executed, 0, (void *)qemu_plugin_tb_n_insns(b)); }

static void ended(plugin p, void *none) { fprintf(stderr, "%" PRIu64 " instructions\n", count); }

int qemu_plugin_install(plugin p, const void *about, int n, char **arguments) {
	qemu_plugin_register_vcpu_tb_trans_cb(p, translated);
	qemu_plugin_register_atexit_cb(p, ended, NULL);
	return 0;
}
