/* Stacks as lists of addresses: ours, decoded from its bytes, and those of the oracles. */
#ifndef SUPPORT_TRACE_H
#define SUPPORT_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sframe_backtrace.h"

#define TRACE_MAX 1024

struct trace {
    uint64_t address[TRACE_MAX];
    uint8_t kind[TRACE_MAX];   /* enum sfb_frame_kind; libunwind's are all SFB_FRAME_RA */
    uint8_t source[TRACE_MAX]; /* enum sfb_source, of a walker's frames; else 0 */
    size_t count;
    uint64_t omitted;      /* all omit records together */
    size_t omit_at;        /* frames before the omit */
    int end;               /* 1: the outermost frame was reached, 0: not */
    enum sfb_status stop;  /* why the walk ended; SFB_OK: not known */
    enum sfb_status error; /* of the bytes, for a decoded one */
};

/* A CBF, strictly decoded, repeats expanded. */
void trace_decode(struct trace *out, const void *data, ssize_t size);

/* @return the first index at which they differ, in number of frames too; SIZE_MAX: the same */
size_t trace_differs(const struct trace *a, size_t skip_a, const struct trace *b, size_t skip_b);

/* Prints both, side by side, to stderr. */
void trace_print(const char *title, const struct trace *ours, const struct trace *theirs);

#endif
