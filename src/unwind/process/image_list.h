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
#include "unwind/process/image.h"

/* Private: declare it, and call the functions below. */
struct sfb_image_list {
    struct sfb_memory memory;
    uint64_t debug;    /* struct r_debug: the next; 0: there are no more */
    uint64_t link_map; /* the next of this one */
    unsigned left;     /* a list that was overwritten may be a circle */
};

struct sfb_listed_image {
    uint64_t address;  /* in the module, nearly always its first byte */
    uint64_t link_map; /* of the loader; 0: of a static program */
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
 * Looks at what is there now.
 *
 * @return whether it is there still
 *
 * Threads, signals: safe.
 */
bool sfb_image_list_find(struct sfb_image_list *list, const struct sfb_listed_image *listed,
                         struct sfb_loaded *out);

/*
 * Copies the path that the loader has for it; for the program, that which it began with.
 *
 * @return its bytes, the '\0' not counted; `room` or more: it does not fit
 *
 * Threads, signals: safe.
 */
uint64_t sfb_image_list_path(struct sfb_image_list *list, const struct sfb_listed_image *listed,
                             char *out, uint64_t room);

#endif
