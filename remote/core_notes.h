/*
 * The notes of a core: threads with their registers, what ended the process, and which files it had mapped.
 *
 * include/linux/elfcore.h has the structs. They are read by offsets, which x86-64 and AArch64 share: this
 * program may be of either.
 */
#ifndef REMOTE_CORE_NOTES_H
#define REMOTE_CORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/core_file.h"

/* Bytes, borrowed from the core's notes. */
struct remote_core_bytes {
    const uint8_t *at; /* NULL: no such note */
    size_t size;
};

/* NT_PRSTATUS. */
struct remote_core_status {
    pid_t tid;
    int signal;
    uint64_t cpu_time; /* ns; of the first thread it may be the whole process's */
    uint64_t *words;   /* registers in the kernel's order; a copy */
};

struct remote_core_notes {
    struct remote_core_status *threads; /* as in the file: the first one is the one that died */
    size_t thread_count, thread_room;
    struct remote_core_bytes process, signal, auxv, files; /* NT_PRPSINFO, _SIGINFO, _AUXV, _FILE */
    bool cut;                                              /* a note ends behind them all */
};

/* @return false: no thread, or no memory */
bool remote_core_notes_read(struct remote_core_notes *out, const struct remote_core_file *file,
                            struct sfb_remote_fault *fault);

void remote_core_notes_free(struct remote_core_notes *notes);

/* @return a word of the auxiliary vector; 0: not there */
uint64_t remote_core_auxv(const struct remote_core_notes *notes, uint64_t type);

/* What the notes say of the process: pid, names, signal. */
void remote_core_notes_describe(struct sfb_remote_core *out, const struct remote_core_notes *notes);

#endif
