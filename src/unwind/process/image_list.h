/*
 * Lists all modules of this process, from the loader's lists for debuggers, without its lock. Another
 * thread may be changing the lists: each word is probed and checked.
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
    uint64_t debug;    /* the next struct r_debug; 0: the end */
    uint64_t link_map; /* the next module of the present r_debug */
    unsigned left;     /* limit: an overwritten list may be a circle */
};

struct sfb_listed_image {
    uint64_t address;  /* in the module, nearly always its first byte */
    uint64_t link_map; /* the loader's; 0: a static program's module */
};

/* Threads, signals: safe. */
void sfb_image_list_begin(struct sfb_image_list *out);

/*
 * @return false: the end of the list
 *
 * Threads, signals: safe.   Cost: two system calls at most.
 */
bool sfb_image_list_next(struct sfb_image_list *list, struct sfb_listed_image *out);

/*
 * Describes a listed module, as it is mapped now.
 *
 * @return whether it is still mapped
 *
 * Threads, signals: safe.
 */
bool sfb_image_list_find(struct sfb_image_list *list, const struct sfb_listed_image *listed,
                         struct sfb_loaded *out);

/*
 * Copies the module's path, as the loader has it; for the program, the path that it was started by.
 *
 * @return its bytes without the '\0'; `room` or more: it does not fit
 *
 * Threads, signals: safe.
 */
uint64_t sfb_image_list_path(struct sfb_image_list *list, const struct sfb_listed_image *listed,
                             char *out, uint64_t room);

#endif
