/* What <signal.h> calls the signals that are crashes, and the reasons that come with them. */
#ifndef SFB_CRASH_NAMES_H
#define SFB_CRASH_NAMES_H

/* @return "SIGSEGV"; "signal" for one that is none of them */
const char *sfb_crash_signal_name(int number);

/* @return "SEGV_MAPERR"; "?" for a reason that is not known */
const char *sfb_crash_code_name(int number, int code);

#endif
