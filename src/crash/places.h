/*
 * What lies at an address: modules and their names, for the lines of a report.
 *
 * The loader is asked, which reads what malloc() gave it: after a heap overrun that may be a fault.
 * Then, as for what follows, the library's own memory has to do.
 */
#ifndef SFB_CRASH_PLACES_H
#define SFB_CRASH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crash/text.h"

/* Forgets what the last report has found. */
void sfb_places_begin(void);

/* "libfoo.so+0x1234 build-id 0a1b", or "?" */
void sfb_place_put(struct sfb_text *text, uint64_t address);

/* Where modules begin, ascending. */
struct sfb_places {
    uint64_t *start;
    size_t count, max;
};

/* Adds all modules that the library remembers; they may be gone by now. */
void sfb_places_add_known(struct sfb_places *places);

/* Adds the module at an address, if there is one. */
void sfb_places_add(struct sfb_places *places, uint64_t address);

/* Writes the line of a module that begins there, or nothing if it is gone. */
void sfb_place_put_module(struct sfb_text *text, uint64_t start);

#endif
