/* CPU time by program, for a few programs. */
#ifndef PROFILER_COLLECTOR_RINGS_CPU_SUMS_H
#define PROFILER_COLLECTOR_RINGS_CPU_SUMS_H

#include <stddef.h>
#include <stdint.h>

enum { SFB_RECORDER_PROGRAMS = 16, SFB_RECORDER_PROGRAM_NAME = 32 };

/* Sums by program; only the first ones get their own. */
struct sfb_recorder_programs {
    struct {
        char name[SFB_RECORDER_PROGRAM_NAME];
        uint64_t cpu_ns;
    } of[SFB_RECORDER_PROGRAMS];
};

/* CPU time of no process in the recording. The rest belongs to programs that ended unseen. */
struct sfb_recorder_unrecorded {
    struct sfb_recorder_programs loading; /* before their agents began */
    struct sfb_recorder_programs without; /* without an agent */
};

/* @param program  a path or a name */
void sfb_recorder_programs_add(struct sfb_recorder_programs *programs, const char *program,
                               uint64_t cpu_ns);

uint64_t sfb_recorder_programs_sum(const struct sfb_recorder_programs *programs);

/*
 * Writes the three largest after the words `what`. Sums below a millisecond are left out.
 *
 * @return bytes, at most room
 */
size_t sfb_recorder_programs_put(char *out, size_t room, const char *what,
                                 const struct sfb_recorder_programs *programs);

#endif
