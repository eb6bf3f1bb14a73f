/* Recordings of one program, whose module and functions have other numbers each time, for tests of sfb merge. */
#ifndef TESTS_REPORT_MERGE_MADE_H
#define TESTS_REPORT_MERGE_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"
#include "support/run.h"

#define MS UINT64_C(1000000)

/* Functions of Python. CODES as a call's: calls that are missing. */
enum { MAIN, CART, PRICE, PRICE_ELSEWHERE, CODES };

extern uint64_t merge_base; /* of the module */

/* Runs a line of the shell, where $SFB is sfb. @return what it printed, to be freed by run_free() */
struct run merge_run(int status, const char *line);

void merge_expect(const char *line, const char *want);

/* Begins a recording of threads 1, "main", and 2, "worker". @param code  the function with id 1 */
void merge_begin(uint64_t module, uint32_t code);

/* Ends it. @param name  of its file */
void merge_end(const char *name);

/* A stack of four frames of C. @param awaited  the last two await the others */
uint32_t merge_stack(bool awaited, const struct sfb_recording_code_frame *calls, size_t count);

#define MERGE_STACK(awaited, ...)                                                                  \
    merge_stack(awaited, (const struct sfb_recording_code_frame[]){ __VA_ARGS__ },                 \
                sizeof((const struct sfb_recording_code_frame[]){ __VA_ARGS__ }) /                 \
                    sizeof(struct sfb_recording_code_frame))

/* Stacks of one CBF with other calls, and without; one that is awaited, with a call behind the mark. */
void merge_put_samples(uint64_t weight);

/* @param at  ns after the beginning */
void merge_put_wait(uint32_t thread, uint32_t stack, uint64_t at, uint64_t weight, uint32_t state,
                    const char *call);

/* One of each kind: 63 times the weight. */
void merge_put_waits(uint64_t weight);

/* Writes `a` and `b`, and their source, shop.py. */
void merge_record(bool waits);

/* sfb report shows the same of `a b` and of `m`, and something. */
void merge_expect_same(const char *options);
void merge_expect_all_same(const char *const *options);

#endif
