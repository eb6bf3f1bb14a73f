/*
 * All modules of this process, from the lists that the loader keeps for debuggers: they can be read
 * without its lock. Nothing in them is believed: each word is probed, and another thread may be
 * changing them.
 */
#ifndef SFB_UNWIND_PROCESS_IMAGE_LIST_H
#define SFB_UNWIND_PROCESS_IMAGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/memory.h"

/* Private: declare it, and call the functions below. */
struct sfb_image_list {
    struct sfb_memory memory;
    uint64_t debug;    /* struct r_debug: the next; 0: there are no more */
    uint64_t link_map; /* the next of this one */
    unsigned left;     /* a list that was overwritten may be a circle */
};

struct sfb_listed_image {
    uint64_t address; /* in the module */
    uint64_t name;    /* of its path, which may be empty; 0: there is none */
};

/* Threads, signals: safe. */
void sfb_image_list_begin(struct sfb_image_list *out);

/*
 * @return whether there was another one
 *
 * Threads, signals: safe.   Cost: two system calls at most.
 */
bool sfb_image_list_next(struct sfb_image_list *list, struct sfb_listed_image *out);

/*
 * Copies a path that the list gave.
 *
 * @return its bytes, the '\0' not counted; 0 also if it cannot be read; `room` or more: it does not fit
 *
 * Threads, signals: safe.
 */
uint64_t sfb_image_list_path(struct sfb_image_list *list, uint64_t name, char *out, uint64_t room);

#endif
