#include "crash/crash.h"

const int sfb_crash_signals[SFB_CRASH_SIGNALS] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                                   SIGABRT, SIGTRAP, SIGSYS };

struct sfb_crash sfb_crash;
