/* CPU time by program, of few programs. */
#ifndef RECORDER_CPU_SUMS_H
#define RECORDER_CPU_SUMS_H

#include <stddef.h>
#include <stdint.h>

enum { SFB_RECORDER_PROGRAMS = 16, SFB_RECORDER_PROGRAM_NAME = 32 };

/* Sums by program: of those that came first. */
struct sfb_recorder_programs {
    struct {
        char name[SFB_RECORDER_PROGRAM_NAME];
        uint64_t cpu_ns;
    } of[SFB_RECORDER_PROGRAMS];
};

/* CPU time that no process of the recording has. The rest is of programs that ended before they were looked at. */
struct sfb_recorder_unrecorded {
    struct sfb_recorder_programs loading; /* before their agents were there */
    struct sfb_recorder_programs without; /* they have none */
};

/* @param program  a path or a name */
void sfb_recorder_programs_add(struct sfb_recorder_programs *programs, const char *program,
                               uint64_t cpu_ns);

uint64_t sfb_recorder_programs_sum(const struct sfb_recorder_programs *programs);

/*
 * Writes the three that used most, behind the words what. Less than a millisecond is left out.
 *
 * @return bytes, at most room
 */
size_t sfb_recorder_programs_put(char *out, size_t room, const char *what,
                                 const struct sfb_recorder_programs *programs);

#endif
