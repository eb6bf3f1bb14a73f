/*
 * Python frames of a thread, read through the memory policy: of this process, another one, a core, or a copied
 * stack. Nothing of the interpreter is called, and no byte of it is trusted.
 *
 *     _PyRuntime -> interpreters -> threads -> frames -> code -> name, file, lines
 *
 * CPython 3.11 to 3.14, with the GIL: cpython_layout.c.
 */
#ifndef SFB_UNWIND_RUNTIME_CPYTHON_H
#define SFB_UNWIND_RUNTIME_CPYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/memory.h"
#include "unwind/runtime/cpython_layout.h"

/* Symbols of the interpreter, as loaded. */
struct sfb_cpython_place {
    uint64_t runtime;   /* _PyRuntime */
    uint64_t code_type; /* PyCode_Type */
    uint64_t version;   /* Py_Version */
};

/* In place of an instruction's offset: the function is being called. Its line is its first. */
#define SFB_CPYTHON_BEFORE UINT32_MAX

enum sfb_cpython_fit {
    SFB_CPYTHON_FITS,
    SFB_CPYTHON_NOT_STARTED,     /* no interpreter yet, or no more: ask again later */
    SFB_CPYTHON_UNKNOWN_VERSION, /* no table of this minor version */
    SFB_CPYTHON_FREE_THREADED,
    SFB_CPYTHON_OTHER_LAYOUT, /* of a known version, but it does not fit the table */
    SFB_CPYTHON_UNREADABLE
};

/* Why its frames are not read, in words; "" for SFB_CPYTHON_FITS. */
const char *sfb_cpython_fit_str(enum sfb_cpython_fit fit);

/* An interpreter whose layout was checked. A plain value. */
struct sfb_cpython {
    const struct sfb_cpython_layout *layout;
    struct sfb_cpython_place place;
    uint32_t version; /* PY_VERSION_HEX */
};

/*
 * Checks an interpreter against the table of its version.
 *
 * @param out  written on SFB_CPYTHON_FITS; its version in any case, 0: not readable
 */
enum sfb_cpython_fit sfb_cpython_attach(struct sfb_cpython *out, struct sfb_memory *memory,
                                        const struct sfb_cpython_place *place);

/* States of one thread: of each interpreter that it has run. More are left out. */
enum { SFB_CPYTHON_STATES = 4 };

/*
 * Finds the states of a thread. They stay where they are until the thread or its interpreter ends;
 * sfb_cpython_is_of() checks one.
 *
 * @param native_id  its number as gettid() gave it in the process itself
 * @return how many; 0: not one of Python's threads
 *
 * Cost: two words for each thread of Python.
 */
unsigned sfb_cpython_states(uint64_t out[SFB_CPYTHON_STATES], const struct sfb_cpython *cpython,
                            struct sfb_memory *memory, uint64_t native_id);

/* @return whether a state, found before, still is of that thread */
bool sfb_cpython_is_of(const struct sfb_cpython *cpython, struct sfb_memory *memory, uint64_t state,
                       uint64_t native_id);

#endif
