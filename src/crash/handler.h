/* The handler that install.c installs for each signal. */
#ifndef SFB_CRASH_HANDLER_H
#define SFB_CRASH_HANDLER_H

#include <signal.h>

/* An SA_SIGINFO handler. */
void sfb_crash_handle(int number, siginfo_t *info, void *ucontext);

#endif
