/*
 * Python frames of the threads of a process, or of a core: read while a thread sleeps or stands, with names and
 * lines, for its code may be gone when it runs again.
 */
#ifndef REMOTE_PYTHON_H
#define REMOTE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/heap_memory.h"
#include "remote/python_meter.h"
#include "sfb/remote.h"
#include "symbols/process_maps.h"
#include "unwind/runtime/cpython.h"

/* A frame as it was read, before it is known in which C frame it ran. */
struct remote_python_frame {
    uint64_t anchor;   /* of its run: an address on the C stack; 0: not known */
    size_t name, file; /* offsets in the texts */
    uint32_t line;
    bool torn;     /* no frame: what follows is not certain */
    uint64_t code; /* with instruction: of equal ones the texts are the same */
    uint32_t instruction;
};

enum { REMOTE_PYTHON_SAME = 512 };

/* All zero at first; its room is used again. */
struct remote_python_stack {
    struct remote_python_frame *frames; /* innermost first, by states one behind the other */
    size_t count, room;
    char *texts;
    size_t text_size, text_room;
    uint32_t gil;    /* enum sfb_cpython_gil, which has the numbers of enum sfb_recording_gil */
    uint64_t gil_at; /* the GIL; 0: not known */
    uint32_t same[REMOTE_PYTHON_SAME]; /* index + 1 of frames by code and instruction; by code */
    uint32_t same_code[REMOTE_PYTHON_SAME];
};

/* The interpreter of a process. */
struct remote_python {
    struct sfb_cpython cpython;
    bool fits;
    bool not_started;           /* it may fit later */
    char what[SFB_REMOTE_NAME]; /* "CPython 3.11.2"; "": not found */
    char why[SFB_REMOTE_WHY];   /* why its frames are not shown; "": they are */
    struct sfb_memory *memory;
    struct remote_heap *heap; /* of a process: the policy is its; NULL: of a core */
    int tasks;                /* descriptor of /proc/PID/task */
    uint8_t *lines;           /* room for a table of lines */
    struct remote_python_meter meter;
};

/* How the file of a module is opened. */
struct remote_python_files {
    /* @return its bytes, good until the next call; NULL: not here */
    void *(*open)(void *user, size_t module, size_t *size);
    void *user;
};

/*
 * Looks for an interpreter among modules, and checks it.
 *
 * @param python  its memory is set; else as before, or all zero
 */
void remote_python_find(struct remote_python *python, const struct object_maps *maps,
                        const struct remote_python_files *files);

/* The same in a process. @return false: no memory */
bool remote_python_find_in(struct remote_python *python, pid_t pid, int tasks);

/*
 * Before each look of a recording: checks one again that was found before it had started. Cost: a few words of memory, while
 * it has not.
 */
void remote_python_retry(struct remote_python *python);

/*
 * Reads the frames of a thread, which sleeps or stands: as many as python_meter.h lets, and a torn one behind them.
 *
 * @param own_tid  its number in the process itself
 */
void remote_python_read(struct remote_python_stack *stack, struct remote_python *python,
                        pid_t own_tid);

/* The same of a thread by its number here. @param python  NULL: nothing is read */
void remote_python_look(struct remote_python_stack *stack, struct remote_python *python, pid_t tid);

/* The thread that was read sleeps on a futex: of the GIL, it waits for it. */
void remote_python_note_futex(struct remote_python_stack *stack, uint64_t futex);

/* @return the thread that holds a GIL, by its own number; 0: it is free, or not known */
pid_t remote_python_gil_owner(struct remote_python *python, uint64_t gil);

void remote_python_free(struct remote_python_stack *stack);

void remote_python_close(struct remote_python *python);

#endif
