/* The path of this process's program: the loader has no name for it. */
#ifndef SFB_UNWIND_PROCESS_PROGRAM_H
#define SFB_UNWIND_PROCESS_PROGRAM_H

/*
 * @return its path when the library was loaded; without /proc the name that it was executed by; ""
 *
 * Threads, signals: safe.   Cost: constant.
 */
const char *sfb_program_path(void);

/* Learns it. The library's constructor calls it; code that may run in earlier constructors calls it first. */
void sfb_program_begin(void);

#endif
