/* Stops a thread by ptrace, without a signal, and lets it go on. */
#ifndef REMOTE_HALT_H
#define REMOTE_HALT_H

#include <signal.h>
#include <sys/types.h>

struct remote_halt {
    pid_t tid;
    sigset_t mask; /* of this thread, restored when that one goes on */
    int signal;    /* it was about to get this one, and gets it when it goes on; 0: none */
};

enum remote_halted {
    REMOTE_HALTED,
    REMOTE_HALT_GONE,
    REMOTE_HALT_REFUSED, /* errno says why */
    REMOTE_HALT_LATE     /* it did not stop within a second: in the kernel, uninterruptible */
};

/*
 * Threads: one at a time, and the thread that stopped it lets it go on.
 */
enum remote_halted remote_halt(struct remote_halt *out, pid_t tid);

/* Lets it go on. Where this program ends before that, however it ends, the kernel does it. */
void remote_halt_end(const struct remote_halt *halt);

#endif
