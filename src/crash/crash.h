/* The state of the crash handler: install.c writes it, the handler reads it. */
#ifndef SFB_CRASH_CRASH_H
#define SFB_CRASH_CRASH_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sframe_backtrace_crash.h"

enum { SFB_CRASH_SIGNALS = 7 };

/* The signals, by their index in `previous`. */
extern const int sfb_crash_signals[SFB_CRASH_SIGNALS];

/* Written only while the handler is not installed, except for `active`, and for SA_RESETHAND in `previous`. */
struct sfb_crash {
    atomic_bool active; /* else signals are only passed on */
    int fd;
    bool fd_waits;       /* writing to it may block for ever */
    bool fd_is_terminal; /* or another character device */
    dev_t device;        /* of the file at fd, when installed */
    ino_t inode;
    uint32_t flags, max_frames, outermost;
    struct sigaction previous[SFB_CRASH_SIGNALS];
};

extern struct sfb_crash sfb_crash;

#endif
