/* What a thread waits for: its system call in words. */
#ifndef CLI_STACK_WAITS_H
#define CLI_STACK_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <sfb/remote.h>

struct waits_text {
    char text[512]; /* any bytes */
};

/*
 * Says which call a thread is in and on what: "read on fd 0 (pipe:[4711])", "futex 0x7f12 (a mutex that
 * thread 12 holds)".
 *
 * @param pid  0: of a core
 * @return false: it is in no call, or that is not known
 */
bool waits_describe(struct waits_text *out, const struct sfb_remote *remote, pid_t pid,
                    const struct sfb_remote_thread *thread);

/* Tells whether two threads are in the same call with the same arguments: then it has the same description. */
bool waits_in_the_same(const struct sfb_remote_thread *a, const struct sfb_remote_thread *b);

/* The name of a state of proc(5). */
const char *waits_state(char state);

#endif
