/* Names in <signal.h> of the crash signals and their codes. */
#ifndef SFB_CRASH_NAMES_H
#define SFB_CRASH_NAMES_H

/* @return "SIGSEGV"; "signal" for a signal that is not a crash */
const char *sfb_crash_signal_name(int number);

/* @return "SEGV_MAPERR"; "?" for an unknown code */
const char *sfb_crash_code_name(int number, int code);

#endif
