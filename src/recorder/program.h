/* What a file is that somebody wants to execute: as much as says whether an agent can be loaded into it. */
#ifndef RECORDER_PROGRAM_H
#define RECORDER_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum sfb_recorder_program_kind {
    SFB_PROGRAM_DYNAMIC, /* the loader takes LD_PRELOAD */
    SFB_PROGRAM_STATIC,  /* there is no loader */
    SFB_PROGRAM_OTHER_MACHINE,
    SFB_PROGRAM_NO_LOADER, /* the loader that it names does not exist */
    SFB_PROGRAM_SCRIPT,    /* "#!": interpreter says of what */
    SFB_PROGRAM_OTHER,     /* nothing that the kernel executes by itself: a shell reads it */
    SFB_PROGRAM_UNREADABLE /* errno says why */
};

struct sfb_recorder_program {
    enum sfb_recorder_program_kind kind;
    bool raised; /* setuid, setgid or with capabilities: the loader ignores LD_PRELOAD */
    char interpreter[PATH_MAX]; /* of a script; the loader of a program; "" */
};

/* Looks at a file. Nothing in it is trusted. */
void sfb_recorder_program_look(struct sfb_recorder_program *out, const char *path);

#endif
