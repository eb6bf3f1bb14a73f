/* A CBF as a list of what its instructions say, and back: the parts of which the tree of stacks is made. */
#ifndef SFB_RECORDING_STACK_ITEMS_H
#define SFB_RECORDING_STACK_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/format.h"
#include "sfb/cbf.h"

struct sfb_stack_item {
    uint64_t value; /* address; count of an omit or rep; of a root what SYMBOL_ROOT says */
    uint32_t kind;  /* enum recording_symbol_kind */
};

/* The items that a CBF of its instructions needs, its beginning and its end. */
enum { SFB_STACK_BYTES_MAX = RECORDING_ITEMS_MAX * SFB_CBF_FRAME_SIZE_MAX + SFB_CBF_SIZE_MIN };

struct sfb_stack_items {
    struct sfb_stack_item at[RECORDING_ITEMS_MAX + 1]; /* innermost first; the last is the root */
    size_t count;
    uint64_t frames;                         /* repeats counted */
    uint8_t bytes[SFB_STACK_BYTES_MAX + 16]; /* sfb_stack_items_write() */
};

/*
 * Reads a CBF, strictly.
 *
 * @return SFB_OK; SFB_BUFFER_FULL: it is right, and has too many instructions or frames for the tree; SFB_CBF_*
 */
enum sfb_status sfb_stack_items_read(struct sfb_stack_items *out, const void *cbf, size_t size);

/*
 * Writes them as the encoder does into items->bytes.
 *
 * @return the size of the CBF; 0: they make none, or more than RECORDING_FRAMES_MAX frames
 */
size_t sfb_stack_items_write(struct sfb_stack_items *items);

#endif
