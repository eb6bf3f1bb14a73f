/*
 * The live table, as the heap hooks use it. In this mode a hook asks its allocator for SFB_LIVE_TAIL more bytes than the
 * program wants, and reports the result here.
 *
 * malloc(n):   p = real(n + SFB_LIVE_TAIL); sfb_live_allocated(p, n, usable(p), caller)
 * free(p):     sfb_live_freed(p, usable(p)); real(p)
 * realloc():   sfb_live_moving(), real, then sfb_live_moved() or sfb_live_stayed()
 *
 * `usable` is the result of the allocator's malloc_usable_size(). All functions may be called in a process without a
 * table: then they do next to nothing. None of them locks, or allocates from the heap.
 */
#ifndef PROFILER_AGENT_LIVE_LIVE_H
#define PROFILER_AGENT_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/live.h"
#include "sfb/context.h"

struct sfb_live_how {
    uint64_t size; /* of the map, in bytes */
    uint32_t
        freed; /* freed blocks that are remembered, as far as an eighth of the map has room; 0: none */
    bool no_file;     /* private memory */
    bool no_children; /* a child of fork() gets no table; else one of its own, empty at first */
};

/*
 * Blocks of this size and larger take no room for a tail: the hook asks for the size that the program wants. 0: no block
 * does, for the allocator reports the sizes of its blocks. Set before the first table begins.
 */
extern size_t sfb_live_large;

/*
 * The last bytes of a new block are read: if they name its slot, the block was freed past the agent. Set where these bytes
 * have memory, and no tool takes the read for the program's.
 */
extern bool sfb_live_reads_fresh;

/* A block during realloc(). */
struct sfb_live_move {
    uint32_t slot;  /* 0: the block has no slot */
    uint32_t epoch; /* of the slot's table */
    uint64_t block;
    void *marked; /* the block, if it had a mark */
    size_t usable;
};

/*
 * Begins a table of this process.
 *
 * @return false: it has one already, or no memory: see errno
 */
bool sfb_live_start(const struct sfb_live_how *how);

/* Stops the table and removes its file. Blocks with a tail are freed like any others. */
void sfb_live_stop(void);

/* Whether this process has a table. */
bool sfb_live_is_on(void);

/*
 * At the process's exit: removes the file, unless blocks were overrun: then a line on stderr names it. The table stays for
 * later calls of free().
 */
void sfb_live_end(void);

/*
 * Before the process becomes another user for good: its file loses its name. The table stays mapped.
 *
 * Signals: safe.
 */
void sfb_live_leave_user(void);

/* At the calling thread's exit. */
void sfb_live_thread_end(void);

/* In a child of fork(). A child made without fork()'s handlers notices by itself. */
void sfb_live_continue_in_child(void);

/*
 * Records an allocated block.
 *
 * @param usable  at least size + SFB_LIVE_TAIL
 * @param caller  where the program called the hook
 */
void sfb_live_allocated(void *p, size_t size, size_t usable, const struct sfb_regs *caller);

/* Records a block, not NULL, that is about to be freed. */
void sfb_live_freed(void *p, size_t usable);

/* Whether freed blocks are remembered: then sfb_live_freed() follows sfb_live_remember(). */
bool sfb_live_remembers(void);

/* Remembers a block, not NULL, that is about to be freed. @param caller  where it is freed */
void sfb_live_remember(void *p, size_t usable, const struct sfb_regs *caller);

/* The same of a block that realloc() has moved, before sfb_live_moved(). */
void sfb_live_remember_moved(const struct sfb_live_move *move, const struct sfb_regs *caller);

/* @return bytes of a block that the program may use */
size_t sfb_live_usable(const void *p, size_t usable);

/* Before realloc(): hides the block until sfb_live_stayed() or sfb_live_moved(). */
void sfb_live_moving(struct sfb_live_move *out, void *p, size_t usable);

/* realloc() failed: the block is unchanged. */
void sfb_live_stayed(const struct sfb_live_move *move);

/* The block moved, or has another size: sfb_live_allocated() follows. Or it was freed. */
void sfb_live_moved(const struct sfb_live_move *move);

#endif
