/*
 * Writes a dump of a live table as log lines: docs/FORMATS.md, "Log lines". Used in the process itself and by `sfb ctl`.
 *
 *     heap[PID] ... ~h# base64   begins a dump, begins another module list, or ends the dump
 *     heap[PID] ... ~i# base64   a module: Compact ImageMap with one image
 *     heap[PID] ... ~c# base64   a stack: CBF, then the count of numbers, then the numbers
 *
 * The pid separates the dumps of several processes in one log. Each function writes one whole line, with its newline and
 * without a '\0'. Numbers are LEB128.
 * Threads, signals: safe.
 */
#ifndef PROFILER_PROTOCOL_LIVE_LINES_H
#define PROFILER_PROTOCOL_LIVE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/live.h"
#include "profiler/protocol/live_sum.h"

#define SFB_LIVE_LINE_OF     "heap["
#define SFB_LIVE_LINE_HEAD   "~h#"
#define SFB_LIVE_LINE_MODULE "~i#"
#define SFB_LIVE_LINE_STACK  "~c#"

enum {
    SFB_LIVE_LINES_VERSION = 1,
    SFB_LIVE_LINE_MAX = 8192,  /* bytes of a line */
    SFB_LIVE_LINE_BYTES = 5600 /* bytes that its base64 encodes */
};

/* Kind of a head line: its second number. */
enum sfb_live_head { SFB_LIVE_HEAD_BEGIN = 1, SFB_LIVE_HEAD_LIST = 2, SFB_LIVE_HEAD_END = 3 };

/* Numbers of a BEGIN, after version and kind; the program's path follows. */
enum sfb_live_begin_number {
    SFB_LIVE_BEGIN_PID,
    SFB_LIVE_BEGIN_TICKS,
    SFB_LIVE_BEGIN_REALTIME, /* of the dump, ns */
    SFB_LIVE_BEGIN_MONOTONIC,
    SFB_LIVE_BEGIN_STARTED, /* CLOCK_MONOTONIC of the table */
    SFB_LIVE_BEGIN_ABI,
    SFB_LIVE_BEGIN_FLAGS,
    SFB_LIVE_BEGIN_LEVEL,
    SFB_LIVE_BEGIN_LEVEL_MOST,
    SFB_LIVE_BEGIN_PATH_SIZE,
    SFB_LIVE_BEGIN_NUMBERS
};

/* Numbers of an END. */
enum sfb_live_end_number {
    SFB_LIVE_END_STACKS,
    SFB_LIVE_END_BLOCKS,
    SFB_LIVE_END_BYTES,
    SFB_LIVE_END_SAMPLES,
    SFB_LIVE_END_FOREIGN,
    SFB_LIVE_END_OVERRUNS,
    SFB_LIVE_END_UNIDENTIFIED,
    SFB_LIVE_END_UNSAMPLED,
    SFB_LIVE_END_NO_SLOT,
    SFB_LIVE_END_NO_STACK,
    SFB_LIVE_END_NO_LIST,
    SFB_LIVE_END_CHANGED,
    SFB_LIVE_END_BAD,
    SFB_LIVE_END_CHECKED,       /* tails checked; 0: not requested */
    SFB_LIVE_END_OVERRUNS_LIVE, /* overwritten tails among them */
    SFB_LIVE_END_UNREADABLE,
    SFB_LIVE_END_UNSEEN, /* allocated or freed past the agent; those without a tail are not in the sums */
    SFB_LIVE_END_NUMBERS
};

/* Numbers of a stack. Trailing zeros are omitted, except of the first two. */
enum sfb_live_stack_number {
    SFB_LIVE_STACK_BLOCKS,
    SFB_LIVE_STACK_BYTES,
    SFB_LIVE_STACK_OVERRUNS,       /* live blocks with an overwritten tail: --check-tails */
    SFB_LIVE_STACK_OVERRUNS_FREED, /* found when they were freed */
    SFB_LIVE_STACK_SAMPLES,        /* 0: as many as blocks */
    SFB_LIVE_STACK_BLOCKS_VARIANCE,
    SFB_LIVE_STACK_BYTES_VARIANCE,
    SFB_LIVE_STACK_NUMBERS
};

/* @return bytes of the line; 0: it does not fit one */
size_t sfb_live_line_begin(char out[SFB_LIVE_LINE_MAX],
                           const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *path);
size_t sfb_live_line_list(char out[SFB_LIVE_LINE_MAX], uint64_t pid, uint64_t list);
size_t sfb_live_line_end(char out[SFB_LIVE_LINE_MAX], uint64_t pid,
                         const uint64_t numbers[SFB_LIVE_END_NUMBERS]);
size_t sfb_live_line_module(char out[SFB_LIVE_LINE_MAX], uint64_t pid, const void *map,
                            size_t size);

/* The numbers of a stack. */
void sfb_live_stack_numbers(uint64_t out[SFB_LIVE_STACK_NUMBERS],
                            const struct sfb_live_amount *amount, uint64_t overruns_freed);
size_t sfb_live_line_stack(char out[SFB_LIVE_LINE_MAX], uint64_t pid, const void *cbf, size_t size,
                           const uint64_t numbers[SFB_LIVE_STACK_NUMBERS]);

#endif
