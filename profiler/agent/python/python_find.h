/*
 * The interpreter of this process. One that the program is linked with is found by weak references. One that it loads itself, by
 * dlopen() of libpython, is looked for whenever the modules are listed, and known until it is closed.
 */
#ifndef PROFILER_AGENT_PYTHON_PYTHON_FIND_H
#define PROFILER_AGENT_PYTHON_PYTHON_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/runtime/cpython.h"

// NOLINTNEXTLINE(bugprone-reserved-identifier): CPython's name
extern char _PyRuntime[] __attribute__((weak));

/* Not 0: an interpreter is loaded by dlopen(); another one, or at another place, has another number. */
extern uint32_t sfb_python_opened;

/* Whether this process has an interpreter. */
static inline bool sfb_python_is_linked(void)
{
    return _PyRuntime != NULL || __atomic_load_n(&sfb_python_opened, __ATOMIC_RELAXED) != 0;
}

/*
 * Looks through the modules that are loaded now, after a list of them was written: by their names, then by their exported
 * symbols. Does nothing in a program that is linked with one, nor while a thread is in dlclose(), which looks itself at its
 * end.
 *
 * Threads: one at a time, but for dlclose(): then nothing is changed twice.   Signals: safe; no allocation.
 * Cost: some ten words a module, and a few hundred of libpython; each is probed.
 */
void sfb_python_look_for(void);

/* After fork() in the child: a look of another thread does not go on here. */
void sfb_python_continue_in_child(void);

/*
 * @param out  written: where its parts are
 * @return its number; 0: there is no interpreter, or not all of its parts are exported
 */
uint32_t sfb_python_where(struct sfb_cpython_place *out);

#endif
