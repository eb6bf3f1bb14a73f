/* A pager on a terminal, as git has it: $PAGER, else less, which ends at once where all fits on the screen. */
#ifndef REPORT_PAGER_H
#define REPORT_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct report_pager {
    pid_t pid;
    int terminal; /* what standard output was */
    void (*old_signals[3])(int);
};

/*
 * From now on standard output goes to a pager. While it runs, SIGINT and SIGQUIT are its business.
 *
 * @return false: there is none, because none is wanted or could be started
 */
bool report_pager_begin(struct report_pager *out);

/*
 * Waits until the reader has seen enough.
 *
 * @return false: the pager was not found, and nothing was shown
 */
bool report_pager_end(struct report_pager *pager);

#endif
