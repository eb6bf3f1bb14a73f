/*
 * Where CPython keeps what a walk needs: a table of offsets for each minor version. Facts alone; QUIRKS.md says
 * how they were found and when to look again.
 */
#ifndef SFB_UNWIND_RUNTIME_CPYTHON_LAYOUT_H
#define SFB_UNWIND_RUNTIME_CPYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How a run of Python frames is tied to the C frame of the evaluation loop that executes it. */
enum sfb_cpython_tie {
    SFB_CPYTHON_CFRAME, /* a _PyCFrame on the C stack names its innermost frame; the outermost has is_entry */
    SFB_CPYTHON_SHIM /* behind the outermost frame follows one that lies on the C stack itself */
};

/* A word of _Py_DebugOffsets, at the start of _PyRuntime, and what this table has in its place. */
struct sfb_cpython_debug {
    uint8_t index; /* in words of 8 bytes */
    uint16_t value;
};

enum { SFB_CPYTHON_DEBUG_MAX = 24 };

/* Offsets in bytes. */
struct sfb_cpython_layout {
    uint8_t major, minor;
    uint8_t tie;        /* enum sfb_cpython_tie */
    uint8_t shim_owner; /* SFB_CPYTHON_SHIM: the least `owner` of a frame on the C stack */
    bool by_cframe;     /* thread_frame is of a pointer to a _PyCFrame, not to a frame */
    uint8_t tag_bits;   /* low bits of frame_code that are no part of the pointer */
    uint16_t runtime_interpreters;
    uint16_t interpreter_next, interpreter_threads;
    uint16_t interpreter_runtime; /* a pointer back to _PyRuntime; 0: not kept */
    uint16_t thread_next, thread_interpreter, thread_frame, thread_native_id;
    uint16_t gil; /* 3.11: the GIL in _PyRuntime; else in an interpreter, a pointer to it */
    uint16_t cframe_current, cframe_previous;
    uint16_t frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
    uint16_t frame_locals, frame_stack; /* its variables and its stack; where that ends */
    bool
        stack_by_pointer; /* frame_stack is of a pointer behind the top, else of a number of words */
    uint16_t generator_frame; /* of generators and coroutines: the frame itself */
    uint16_t task_coroutine, task_name, task_waiter; /* of asyncio.Task, in C */
    /* 3.14, of futures as well; bytes but for the first */
    uint16_t task_awaited_by, task_awaited_by_is_set, task_is_task;
    uint16_t thread_running_task; /* 0: not kept */
    uint16_t code_first_line, code_file, code_qualified_name, code_lines, code_instructions;
    uint16_t string_ascii, string_other; /* characters of a compact string behind its head */
    struct sfb_cpython_debug debug[SFB_CPYTHON_DEBUG_MAX]; /* value 0 ends them */
};

/* Of all versions that the table has. */
enum {
    SFB_CPYTHON_OBJECT_COUNT = 0, /* ob_refcnt */
    SFB_CPYTHON_OBJECT_TYPE = 8,
    SFB_CPYTHON_OBJECT_SIZE = 16, /* ob_size of variable ones; length of a string */
    SFB_CPYTHON_BYTES = 32,       /* the first byte of a bytes object */
    SFB_CPYTHON_STRING_STATE = 32,
    SFB_CPYTHON_STRING_KIND_SHIFT = 2, /* three bits: bytes of a character */
    SFB_CPYTHON_STRING_COMPACT = 0x20,
    SFB_CPYTHON_STRING_ASCII = 0x40,

    /* struct _gil_runtime_state: what threads wait for are conditions and mutexes of pthreads, behind each other. */
    SFB_CPYTHON_GIL_HOLDER = 8, /* state of the thread that holds it, or did last */
    SFB_CPYTHON_GIL_LOCKED = 16,
    SFB_CPYTHON_GIL_WAITS = 32,
    SFB_CPYTHON_GIL_WAITS_SIZE = 176 /* two of each, as glibc has them */
};

/*
 * @param version  PY_VERSION_HEX: 0x030b02f0 is 3.11.2
 * @return the table of its minor version; NULL: not known
 */
const struct sfb_cpython_layout *sfb_cpython_layout(uint32_t version);

#endif
