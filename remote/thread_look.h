/*
 * Registers and stack of one thread at one moment.
 *
 * Of a thread that sleeps: /proc has its turns on a CPU; its sp, pc and call. Its stack is copied. If it has had no
 * turn since, it has slept all the time, and nothing that was read has changed.
 */
#ifndef REMOTE_THREAD_LOOK_H
#define REMOTE_THREAD_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "remote/python.h"
#include "remote/target_memory.h"
#include "remote/task_files.h"
#include "sfb/context.h"

/* In place of an unknown fp: misaligned and not canonical, so that no rule gets anywhere with it. */
#define REMOTE_NO_FP UINT64_C(0xbad0f9bad0f9bad1)

enum remote_look_end {
    REMOTE_LOOK_DONE,
    REMOTE_LOOK_RUNS, /* it does not sleep, or not for long enough */
    REMOTE_LOOK_GONE,
    REMOTE_LOOK_REFUSED /* errno says why */
};

struct remote_look {
    pid_t tid;
    bool stopped; /* all registers are known, and the thread runs again */
    struct remote_task_call call;
    struct remote_task_run run;
    uint64_t at; /* CLOCK_MONOTONIC: a moment at which it was so */
    struct sfb_context registers;
    struct remote_stack stack[REMOTE_STACKS]; /* the second one of few threads */
    struct remote_python_stack python;
};

/* @param most  bytes of the stack */
enum remote_look_end remote_look_asleep(struct remote_look *out, const struct remote_memory *memory,
                                        int tasks, pid_t tid, size_t most);

void remote_look_free(struct remote_look *look);

/* @return whether the thread has not run since remote_look_asleep() */
bool remote_look_holds(const struct remote_look *look, int tasks);

#endif
