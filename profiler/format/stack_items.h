/* Converts a CBF to a list of its instructions, the parts of the tree of stacks, and back. */
#ifndef PROFILER_FORMAT_STACK_ITEMS_H
#define PROFILER_FORMAT_STACK_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/format/format.h"
#include "sfb/cbf.h"

struct sfb_stack_item {
    uint64_t value; /* address; count of an omit or rep; SYMBOL_ROOT's value */
    uint32_t kind;  /* enum recording_symbol_kind */
};

/* Largest CBF of these items: instructions, beginning and end. */
enum { SFB_STACK_BYTES_MAX = RECORDING_ITEMS_MAX * SFB_CBF_FRAME_SIZE_MAX + SFB_CBF_SIZE_MIN };

struct sfb_stack_items {
    struct sfb_stack_item at[RECORDING_ITEMS_MAX + 1]; /* innermost first; the last is the root */
    size_t count;
    uint64_t frames;                         /* with repeats */
    uint8_t bytes[SFB_STACK_BYTES_MAX + 16]; /* from sfb_stack_items_write() */
};

/*
 * Decodes a CBF, strictly.
 *
 * @return SFB_OK; SFB_BUFFER_FULL: valid, but too many instructions or frames for the tree; SFB_CBF_*
 */
enum sfb_status sfb_stack_items_read(struct sfb_stack_items *out, const void *cbf, size_t size);

/*
 * Encodes the items into items->bytes.
 *
 * @return the size of the CBF; 0: they are not a stack, or have more than RECORDING_FRAMES_MAX frames
 */
size_t sfb_stack_items_write(struct sfb_stack_items *items);

#endif
