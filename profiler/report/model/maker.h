/*
 * Makes stacks and rows from CBF. A stack depends on the mapped modules: one CBF gives two stacks if a library was
 * replaced between two of its samples. So a CBF is decoded, and an address looked up, once per list of modules. Equal
 * results (a place in a module, a stack of the same locations) are kept once, for all processes. Each pair of stack and
 * thread is a row. make.c does it for samples, make_heap.c for a heap.
 */
#ifndef PROFILER_REPORT_MODEL_MAKER_H
#define PROFILER_REPORT_MODEL_MAKER_H

#include "profiler/report/model/interpreted.h"
#include "profiler/report/model/locate.h"
#include "profiler/report/model/model.h"
#include "profiler/report/model/unpack.h"
#include "util/index.h"

/* What the last sample of a CBF became: mostly the next one is of the same modules and thread. */
struct report_maker_last {
    uint32_t list, stack; /* stack is known if `known` */
    uint32_t member, row; /* REPORT_NONE: none yet */
    bool known;
};

/* A wait, which may be recorded in parts: their sum. */
struct report_maker_wait {
    uint32_t cause; /* index + 1; 0: none yet */
    uint64_t sum;
};

/* How causes of waits are made: of locks, of wakers. */
struct report_maker_causes {
    struct report_index names;       /* by name: index in the model */
    struct report_index parts;       /* by cause and thread, and stack */
    struct report_index shares;      /* by thread, the other one and cause */
    struct report_maker_wait *waits; /* of each last part of the source */
};

struct report_maker {
    struct report_model *model;
    const struct report_choice *choice;
    struct report_locator locator;
    struct report_unpacker unpacker;
    struct report_unpacked interpreted; /* the stack at hand, with functions of an interpreter */
    struct report_index stacks;         /* of a recording: by CBF and list */
    struct report_index same;           /* by two hashes of the frames */
    struct report_index rows;           /* by thread and stack */
    struct report_maker_causes locks, wakers;
    char **awaited;     /* of the source's: names; NULL: not asked for yet */
    uint32_t *ends;     /* of each wait of the source: its last part; NULL: not wanted */
    uint32_t *stack_of; /* of what `stacks` numbers: the stack */
    size_t stack_count, stack_room;
    struct report_maker_last *last; /* of each CBF of the recording */
    uint32_t source;                /* index */
    uint32_t first_member;          /* its first thread in `members` */
    char *wanted;                   /* of each string: 0 not asked, 1 no, 2 yes */
    size_t wanted_room;
};

/*
 * @param number  index of a CBF of the recording; REPORT_NONE
 * @param time    when the process had it
 * @param out     the stack; REPORT_NONE: no stack
 * @return false: no memory
 */
bool report_maker_stack(struct report_maker *maker, uint32_t number, uint64_t time, uint32_t *out);

/* Gives a stack (REPORT_NONE: none) with what a thread waits in as its innermost frame. @return false: no memory */
bool report_maker_waiting(struct report_maker *maker, uint32_t stack, const char *name,
                          uint32_t *out);

/* Whether a stack has a function that is wanted. @return false: no memory */
bool report_maker_wants(struct report_maker *maker, uint32_t stack, bool *out);

/* Finds or makes the row of a thread and a stack. @return NULL: no memory */
struct report_row *report_maker_row(struct report_maker *maker, uint32_t member, uint32_t stack);

void report_maker_end(struct report_maker *maker);

#endif
