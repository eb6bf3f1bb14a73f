/** Recorded stacks, and what the CBF encoder makes of them. */
#ifndef BENCH_STACKS_H
#define BENCH_STACKS_H

#include "sfb/frame.h"

#include <stddef.h>
#include <stdint.h>

/* Stacks behind each other, innermost frame first. */
struct stacks {
    char name[64];
    size_t stack_count;
    size_t frame_count;
    uint64_t *addresses;           /* [frame_count] */
    uint32_t *depths;              /* [stack_count] */
    enum sfb_frame_kind innermost; /* of the first frame of each; the others are ra */
    size_t cbf_size;               /* of all, written by stacks_verify() */
};

/*
 * Reads a text file: a stack on each line, hexadecimal addresses. The innermost is a pc.
 * @return 0, or -1: said on stderr
 */
int stacks_read(struct stacks *out, const char *path);

/* Takes over one stack that was captured here: ra throughout. @return 0, or -1 */
int stacks_copy(struct stacks *out, const char *name, void *const *addresses, size_t depth);

/* Encodes every stack count times and says how long that took. */
uint64_t stacks_encode(const struct stacks *stacks, unsigned count);

/* Encodes every stack, decodes it again, and compares. @return 0, or -1: said on stderr */
int stacks_verify(struct stacks *stacks);

#endif
