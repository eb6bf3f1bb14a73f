/*
 * Memory of another process, as a policy for a walk.
 *
 * Three kinds of words:
 *
 * - the copy of a thread's stack, made while the thread slept or was stopped;
 * - code and mapped files, which do not change while a thread runs: read when wanted, and kept;
 * - all else, such as the stack below an alternate one: read only of a thread that has not run since
 *   the copy, which the walk's caller finds out afterwards.
 */
#ifndef REMOTE_TARGET_MEMORY_H
#define REMOTE_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sfb/memory.h"

enum { REMOTE_PAGE = 4096, REMOTE_PAGES = 512 };

struct remote_page {
    uint64_t at;   /* 0: empty */
    uint32_t walk; /* it may be used in this walk alone; 0: in all */
    bool is_there;
};

struct remote_page_words {
    uint64_t word[REMOTE_PAGE / sizeof(uint64_t)];
};

/* A mapping: [start, end). */
struct remote_area {
    uint64_t start, end;
    bool executable;
};

struct remote_python;

struct remote_memory {
    pid_t pid;
    struct remote_python *python; /* read with a thread's stack; NULL: not wanted */
    struct remote_area *areas;    /* ascending */
    size_t area_count;
    uint32_t walk;                   /* number of the present one */
    struct remote_page *pages;       /* by their addresses, REMOTE_PAGES of them */
    struct remote_page_words *words; /* of these pages; NULL: none was read yet */
};

/* Stacks of one thread: the one that sp is on, and one that a signal's frame leads to. */
enum { REMOTE_STACKS = 2 };

/* The copied part of a stack. */
struct remote_stack {
    uint64_t at; /* of the first byte; a multiple of 8 */
    uint8_t *bytes;
    size_t size, room;
};

/* The memory of one walk; `memory` is the policy. */
struct remote_words {
    struct sfb_memory memory;
    struct remote_memory *target;
    const struct remote_stack *stacks; /* REMOTE_STACKS of them */
    bool only_copy; /* the thread runs again: its stacks cannot be read any more */
    bool more;      /* words were read that are in no copy */
    uint64_t cut;   /* one that was wanted, and is in no copy; 0: none */
};

/* @return false: no memory */
bool remote_memory_open(struct remote_memory *out, pid_t pid);

/* Forgets all pages, and takes the mappings as they are now. @return false: errno says why not */
bool remote_memory_refresh(struct remote_memory *memory);

void remote_memory_close(struct remote_memory *memory);

/* Reads what is readable from an address on. @return bytes */
size_t remote_memory_read(pid_t pid, uint64_t address, void *out, size_t size);

/* Makes room, so that a copy of so many bytes takes one system call. @return false: no memory */
bool remote_stack_reserve(struct remote_stack *stack, size_t size);

/*
 * Copies a stack from sp outwards, up to the end of its mapping or so many bytes. What lies up to 128 bytes
 * further in is copied, too: leaf functions may use it.
 *
 * @return false: not one word; no memory
 */
bool remote_stack_copy(struct remote_stack *out, const struct remote_memory *memory, uint64_t sp,
                       size_t most);

void remote_words_begin(struct remote_words *out, struct remote_memory *target,
                        const struct remote_stack *stacks, bool only_copy);

#endif
