/* Stops threads by ptrace, without a signal, and lets them go on. */
#ifndef REMOTE_HALT_H
#define REMOTE_HALT_H

#include <signal.h>
#include <sys/types.h>

/* A thread that stands. */
struct remote_halt {
    pid_t tid;
    int signal; /* it was about to get this one, and gets it when it goes on; 0: none */
};

enum remote_halted {
    REMOTE_HALTED,
    REMOTE_HALT_GONE,
    REMOTE_HALT_REFUSED, /* errno says why */
    REMOTE_HALT_LATE /* it did not stop in time: in the kernel, uninterruptible. It does when it comes out, and
                        goes on when this thread settles, or ends */
};

/*
 * Around all that follows: this thread waits by a signal, which is blocked meanwhile.
 *
 * Threads: the thread that stopped another one lets it go on.
 */
void remote_halts_begin(sigset_t *mask);

void remote_halts_end(const sigset_t *mask);

/* Lets late threads go on that have stopped by now. remote_halts_begin() does it, too; a caller that waits long does it often. */
void remote_halts_settle(void);

/* Asks a thread to stop. @return REMOTE_HALTED: it will */
enum remote_halted remote_halt_ask(pid_t tid);

/* Waits, a second at most, until it stands. */
enum remote_halted remote_halt_wait(struct remote_halt *out, pid_t tid);

/* Lets it go on. Where this program ends before that, however it ends, the kernel does it. */
void remote_halt_end(const struct remote_halt *halt);

#endif
