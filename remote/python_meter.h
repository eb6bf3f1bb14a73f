/*
 * Bounds what is read of an interpreter: its structures are the target's, which may name any chain and any size.
 *
 * Units are words; a word on a page that was not read lately costs as much as PAGE_UNITS more. A look takes its units while
 * the thread stands: some 100 ms at the worst, which is 0.1 ms for most programs. All looks of a read share a larger number.
 */
#ifndef REMOTE_PYTHON_METER_H
#define REMOTE_PYTHON_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/memory.h"

enum {
    REMOTE_PYTHON_LOOK_UNITS = 1 << 22,
    REMOTE_PYTHON_READ_UNITS = 1 << 29,
    REMOTE_PYTHON_LOOK_FRAMES = 1 << 16,
    REMOTE_PYTHON_READ_FRAMES = 1 << 20,
    REMOTE_PYTHON_READ_TEXTS = 64 << 20, /* bytes of names and paths */
    REMOTE_PYTHON_METER_PAGES = 64
};

/* All zero: nothing is left. */
struct remote_python_meter {
    struct sfb_memory
        memory; /* a policy that takes units; nothing is readable when none are left */
    struct sfb_memory *of;
    uint64_t pages[REMOTE_PYTHON_METER_PAGES]; /* read lately, by their numbers */
    uint32_t look_units, look_frames;          /* left */
    uint32_t read_units, read_frames, read_texts;
};

/* Begins a read: of all threads, or one look of a recording. */
void remote_python_meter_read(struct remote_python_meter *meter);

/* Begins a look of it. @param of  the memory that is read */
void remote_python_meter_look(struct remote_python_meter *meter, struct sfb_memory *of);

/* Each @return false: fewer are left, and the look is over */
bool remote_python_meter_take(struct remote_python_meter *meter, uint64_t units);
bool remote_python_meter_take_frame(struct remote_python_meter *meter);
bool remote_python_meter_take_text(struct remote_python_meter *meter, size_t size);

/* Whether the look is over: what follows was not read. */
static inline bool remote_python_meter_is_over(const struct remote_python_meter *meter)
{
    return meter->look_units == 0;
}

#endif
