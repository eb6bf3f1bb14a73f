/* What /proc says of processes that run already, told to a recording from outside. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ATTACH_TASKS_H
#define PROFILER_COLLECTOR_OUTSIDE_ATTACH_TASKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "profiler/collector/outside/outside.h"
#include "util/array.h"

/*
 * Introduces a process with its threads and its files.
 *
 * @param time  CLOCK_MONOTONIC, before this call
 * @return as attach_introduce_files()
 */
bool attach_introduce(struct outside *outside, pid_t pid, uint64_t time);

/* Introduces its files alone. @return false: its map could not be read just now, for want of a descriptor or of memory */
bool attach_introduce_files(struct outside *outside, pid_t pid);

/* @return a thread whose memory can be read: the first one may have ended before the others */
pid_t attach_live_task(pid_t pid);

/* A function of struct outside_options: the files of a process that runs. @param user  not used */
void attach_describe(void *user, struct sfb_copied_mapping *out, uint32_t pid,
                     const struct perf_mmap *record);

/* The same: the user of a process. */
uint32_t attach_owner(void *user, uint32_t pid);

struct attach_pids {
    REPORT_ARRAY(pid_t) pids;
    bool partial; /* for want of a descriptor or of memory: what is not in it may live */
};

/* Adds all processes of a user. @param user  -1: of all users. @return false: no memory */
bool attach_list_user(struct attach_pids *out, uid_t user);

/* Adds a process, and those below it. @return false: no memory */
bool attach_list_tree(struct attach_pids *out, pid_t pid, bool children);

#endif
