/* The state of the crash handler: install.c sets it, the handler goes by it. */
#ifndef SFB_CRASH_CRASH_H
#define SFB_CRASH_CRASH_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sframe_backtrace_crash.h"

enum { SFB_CRASH_SIGNALS = 7 };

/* The signals, by their place in `previous`. */
extern const int sfb_crash_signals[SFB_CRASH_SIGNALS];

/* Set while nothing is installed; but for the atomic one, and for SA_RESETHAND. */
struct sfb_crash {
    atomic_bool active; /* else signals are only passed on */
    int fd;
    bool fd_waits;       /* writing to it may block for ever */
    bool fd_is_terminal; /* or another character device */
    dev_t device;        /* what fd leads to */
    ino_t inode;
    uint32_t flags, max_frames, outermost;
    struct sigaction previous[SFB_CRASH_SIGNALS];
};

extern struct sfb_crash sfb_crash;

#endif
