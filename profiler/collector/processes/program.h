/* Tells what kind of program a file is: enough to know whether an agent can be loaded into it. */
#ifndef PROFILER_COLLECTOR_PROCESSES_PROGRAM_H
#define PROFILER_COLLECTOR_PROCESSES_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum sfb_recorder_program_kind {
    SFB_PROGRAM_DYNAMIC, /* its loader uses LD_PRELOAD */
    SFB_PROGRAM_STATIC,  /* without a loader */
    SFB_PROGRAM_OTHER_MACHINE,
    SFB_PROGRAM_NO_LOADER, /* its loader does not exist */
    SFB_PROGRAM_SCRIPT,    /* "#!": see interpreter */
    SFB_PROGRAM_OTHER,     /* not executable by the kernel: a shell reads it */
    SFB_PROGRAM_UNREADABLE /* see errno */
};

struct sfb_recorder_program {
    enum sfb_recorder_program_kind kind;
    bool raised; /* setuid, setgid or with capabilities: the loader ignores LD_PRELOAD */
    char interpreter[PATH_MAX]; /* of a script, or a program's loader; or "" */
};

/* Inspects a file. No byte of it is trusted. */
void sfb_recorder_program_look(struct sfb_recorder_program *out, const char *path);

#endif
