/* A pager on a terminal, as git has it: $PAGER, else less, which ends at once where all fits on the screen. */
#ifndef CLI_REPORT_PAGER_H
#define CLI_REPORT_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct report_pager {
    pid_t pid;
    int terminal; /* what standard output was */
    void (*old_signals[3])(int);
};

/*
 * Sends standard output to a pager from now on. While the pager runs, only it handles SIGINT and SIGQUIT.
 *
 * @return false: no pager is wanted, or it could not be started
 */
bool report_pager_begin(struct report_pager *out);

/*
 * Waits until the pager ends.
 *
 * @return false: the pager was not found, and nothing was shown
 */
bool report_pager_end(struct report_pager *pager);

#endif
