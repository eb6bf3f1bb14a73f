/*
 * Memory of another process, for what is read of it while one of its threads sleeps or stands: whole pages at
 * first sight, which are forgotten before the next thread.
 */
#ifndef REMOTE_HEAP_MEMORY_H
#define REMOTE_HEAP_MEMORY_H

#include "remote/target_memory.h"

enum { REMOTE_HEAP_PAGES = 64 };

struct remote_heap {
    struct sfb_memory memory; /* the policy */
    pid_t pid;
    struct remote_page pages[REMOTE_HEAP_PAGES]; /* by their addresses; walk is not used */
    struct remote_page_words words[REMOTE_HEAP_PAGES];
};

/* @return for free(); NULL: no memory */
struct remote_heap *remote_heap_open(pid_t pid);

/* Forgets all pages. */
void remote_heap_refresh(struct remote_heap *heap);

#endif
