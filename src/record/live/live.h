/*
 * The live table, as the heap hooks see it: in this mode a hook asks its allocator for SFB_LIVE_TAIL more bytes than the
 * program wants, and tells here what it got.
 *
 * malloc(n):   p = real(n + SFB_LIVE_TAIL); sfb_live_allocated(p, n, usable(p), caller)
 * free(p):     sfb_live_freed(p, usable(p)); real(p)
 * realloc():   sfb_live_moving(), real, then sfb_live_moved() or sfb_live_stayed()
 *
 * `usable` is what the allocator's malloc_usable_size() says. All functions may be called in a process that has no table:
 * then they do next to nothing. None of them locks, or allocates from the heap.
 */
#ifndef SFB_RECORD_LIVE_LIVE_H
#define SFB_RECORD_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/live.h"
#include "sfb/context.h"

struct sfb_live_how {
    uint64_t size;    /* of the map */
    bool no_file;     /* private memory */
    bool no_children; /* a child of fork() has no table; else one of its own, empty at first */
};

/* A block that realloc() is about to move. */
struct sfb_live_move {
    uint32_t slot;  /* 0: it had none */
    uint32_t epoch; /* of the table that the slot is of */
    uint64_t block;
};

/*
 * Begins a table of this process.
 *
 * @return false: there is one already, or no memory: errno says why
 */
bool sfb_live_start(const struct sfb_live_how *how);

/* Ends it: the file goes. What was given a tail is freed as any block. */
void sfb_live_stop(void);

/* Whether this process has a table. */
bool sfb_live_is_on(void);

/* The process ends: its file goes. The table stays, for those who still free. */
void sfb_live_end(void);

/* The calling thread ends. */
void sfb_live_thread_end(void);

/* In a child of fork(). One that is made without its handlers finds out by itself. */
void sfb_live_continue_in_child(void);

/*
 * A block was allocated.
 *
 * @param usable  at least size + SFB_LIVE_TAIL
 * @param caller  where the program called the hook
 */
void sfb_live_allocated(void *p, size_t size, size_t usable, const struct sfb_regs *caller);

/* A block will be freed now. p is not NULL. */
void sfb_live_freed(void *p, size_t usable);

/* @return what the program may use of a block */
size_t sfb_live_usable(const void *p, size_t usable);

/* Before realloc(): nobody sees the block until one of the two that follow. */
void sfb_live_moving(struct sfb_live_move *out, void *p, size_t usable);

/* It failed: the block is where it was. */
void sfb_live_stayed(const struct sfb_live_move *move);

/* It is elsewhere, or has another size; sfb_live_allocated() follows, unless it was freed. */
void sfb_live_moved(const struct sfb_live_move *move);

#endif
