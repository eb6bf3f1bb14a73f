/*
 * Runs a function in a child process that may crash, loop or hang: it and all that it starts are
 * ended after HANG_SECONDS.
 */
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    int signal;     /* that ended it, 0: none */
    int status;     /* exit status */
    bool timed_out; /* it was killed after HANG_SECONDS */
    double ms;      /* it took */
    char *text;     /* what it wrote to the descriptor that it was given; to be freed */
};

/* One that has been started. */
struct child_started {
    pid_t pid;
    int fd;
    double at_ms;
};

/*
 * Calls run(with, fd) in a process group of its own, without core dumps; the child exits with
 * status 0 if it returns. Children that mostly wait are started many at a time, and waited for in
 * the order in which they were.
 *
 * @param fd  of run(): an empty file in memory
 */
struct child_started child_start(void (*run)(void *with, int fd), void *with);
struct child child_finish(const struct child_started *started);

/* Both, one behind the other. */
struct child child_run(void (*run)(void *with, int fd), void *with);

void child_free(struct child *child);

/*
 * For children that need more than this, and are made by fork(). The child calls child_begin(),
 * which gives it a process group and its parent's end. Its parent sets the limit, after which it and
 * all that it has started are killed; waits for it as it likes; and ends what it has left.
 *
 * @return of child_end(): whether it kept to the limit
 */
void child_begin(void);
void child_limit(pid_t pid);
bool child_end(pid_t pid);

#endif
