/* A recording that a test writes: each figure in it is known. */
#ifndef TESTS_REPORT_MADE_H
#define TESTS_REPORT_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"
#include "support/compiler.h"

extern char made_path[]; /* of the recording */
extern struct sfb_recording_writer *made_writer;
extern const struct sfb_recording_start made_start;

/* Functions that stacks are made of; nobody calls them. */
NOINLINE int report_inner(int x);
NOINLINE int report_outer(int x);
NOINLINE int report_host(int x); /* report_inlined() is inlined into it */
NOINLINE int report_long(int x); /* of more than 2,000 instructions */

/* Begins a recording, with process 1 and its thread 1, "main". */
void made_begin(void);

/* The same of another kind, without a process. */
void made_begin_as(const struct sfb_recording_start *start);

/* @param reason  NULL: it is cut off */
void made_end(const char *reason);

void made_process(uint32_t id);
void made_thread(uint32_t id, uint32_t process, const char *name);
void made_modules(uint64_t time, const void *map, size_t size);

/* Those of this process. */
void made_own_modules(void);

/* @return an address in a function */
uint64_t made_inside(int (*function)(int));

/* @return a static function that is called namesake */
int (*made_namesake(void))(int);

/* @return a return address in report_inlined(), in report_host() */
uint64_t made_inside_inlined(void);

/* A pc in one function, called from others. @return its id */
uint32_t made_stack(uint64_t pc, const uint64_t *callers, size_t count, bool truncated);

void made_sample(uint32_t thread, uint32_t stack, uint64_t time, uint64_t weight,
                 enum sfb_status how);

/* What threads of process 1 wait for. */
void made_awaited(uint32_t id, uint32_t kind, uint64_t address, uint64_t start, const char *name);

/* @param wait  its times are ns after the beginning */
void made_wait(struct sfb_recording_wait wait);

/* The same of one that ended `at` ms after the beginning, of `length` ms. */
#define MADE_WAIT(at, length, in, of, ...)                                                         \
    made_wait((struct sfb_recording_wait){ .time = (at)*UINT64_C(1000000),                         \
                                           .weight = (length)*UINT64_C(1000000),                   \
                                           .state = SFB_STATE_##in,                                \
                                           .call = (of),                                           \
                                           __VA_ARGS__ })

/*
 * Writes a recording of 16 ms, 997 Hz, with two threads and one process, 101:
 *
 *     main (201)       6 ms at 0.5 s and 4 ms at 0.6 s  report_inner, called by report_outer twice
 *     wor;k\n (202)    2 ms at 0.7 s                    report_outer, cut off
 *                      2.5 ms at 0.8 s                  no stack
 *                      1 ms                             never sampled
 *     no thread        0.5 ms                           never sampled
 *
 * 7 samples are lost.
 *
 * @param reason  NULL: it is cut off
 */
void made_all(const char *reason);

/* Its own lines become "made.c:N": which line an address is of depends on the compiler, and its options. */
void made_hide_lines(char *text);

/* Runs `sfb report OPTIONS` on it, and compares, with lines hidden. @param want_err  a part of what stderr has; NULL: anything */
void made_expect(int status, const char *options, const char *want_out, const char *want_err);

#endif
