/*
 * Modules at addresses, and their names, for the lines of a report.
 *
 * They come from the loader, which reads memory from malloc(): after a heap overrun this may fault.
 * From then on, the library's own cache of modules is used.
 */
#ifndef SFB_CRASH_PLACES_H
#define SFB_CRASH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crash/text.h"

/* Clears the results of the last report. */
void sfb_places_begin(void);

/* "libfoo.so+0x1234 build-id 0a1b", or "?" */
void sfb_place_put(struct sfb_text *text, uint64_t address);

/* Start addresses of modules, ascending. */
struct sfb_places {
    uint64_t *start;
    size_t count, max;
};

/* Adds all cached modules; some may be unloaded by now. */
void sfb_places_add_known(struct sfb_places *places);

/* Adds the module at an address, if any. */
void sfb_places_add(struct sfb_places *places, uint64_t address);

/* Writes the line of the module that begins there; nothing if it is unloaded. */
void sfb_place_put_module(struct sfb_text *text, uint64_t start);

#endif
