/* What figures are of: functions, source files, lines, modules, threads, processes. Each is known by a number. */
#ifndef PROFILER_REPORT_TEXT_ENTITY_H
#define PROFILER_REPORT_TEXT_ENTITY_H

#include "profiler/report/model/model.h"

enum report_by {
    REPORT_BY_FUNCTION,
    REPORT_BY_FILE,
    REPORT_BY_LINE,
    REPORT_BY_MODULE,
    REPORT_BY_THREAD, /* by name */
    REPORT_BY_PROCESS,
    REPORT_BY_CALL, /* what threads waited in */
    REPORT_BY_LOCK, /* views of their own: causes.h */
    REPORT_BY_WAKER
};

/* What stands for frames and time that are not there comes first. */
enum {
    REPORT_ENTITY_UNSAMPLED,
    REPORT_ENTITY_NO_STACK,
    REPORT_ENTITY_OMITTED,
    REPORT_ENTITY_TRUNCATED,
    REPORT_ENTITY_AWAIT,
    REPORT_ENTITY_MARKS
};

struct report_entity {
    const char *name;
    const char *module; /* its last part, and a file if others have the name; "": nothing new */
};

struct report_entities {
    const struct report_model *model;
    enum report_by by;
    bool comparison; /* there are two groups of recordings */
    REPORT_ARRAY(struct report_entity) all;
    uint32_t *of_line;             /* of each line of the model; NULL: of threads and processes */
    uint32_t *of_member;           /* of each member, for threads and processes */
    uint32_t *of_stack;            /* of each stack of the model, by call; NULL: not by call */
    uint32_t running;              /* of stacks without a wait, by call */
    uint32_t no_thread;            /* of time that is no thread's, by thread */
    struct report_index namesakes; /* of functions: the first of their name in a module */
    bool *ambiguous;               /* of each function: others have its name */
    struct report_strings own;
    struct report_index index;
};

/* Reads "function", "file", ... @return false: unknown word */
bool report_by_parse(const char *text, enum report_by *out);

/* @return what a column of them is called: "function (module)" */
const char *report_by_heading(enum report_by by);

/* Whether they are in stacks: they have time of their own, and time of what they call. */
static inline bool report_by_is_called(enum report_by by)
{
    return by < REPORT_BY_THREAD;
}

/* @return false: no memory; out is to be freed in any case */
bool report_entities_make(struct report_entities *out, const struct report_model *model,
                          enum report_by by);

/* Whether they need what waits are for: report_choice's `awaited`. */
static inline bool report_by_is_of_waits(enum report_by by)
{
    return by >= REPORT_BY_CALL;
}

/* Whether they are no entities, but a view of their own. */
static inline bool report_by_is_of_causes(enum report_by by)
{
    return by >= REPORT_BY_LOCK;
}

/* @return number of the entity at a step. Requires report_by_is_called() */
uint32_t report_entity_of_step(const struct report_entities *entities,
                               const struct report_step *step);

/* @return number of the entity of a row. Requires that it is not report_by_is_called() */
static inline uint32_t report_entity_of_row(const struct report_entities *e,
                                            const struct report_row *row)
{
    if (e->by != REPORT_BY_CALL)
        return e->of_member[row->member];
    return row->stack == REPORT_NONE ? e->running : e->of_stack[row->stack];
}

/* Finds that of a process, for time that is no thread's. @return false: no memory */
bool report_entity_of_process(struct report_entities *entities,
                              const struct report_process *process, uint32_t *out);

void report_entities_free(struct report_entities *entities);

#endif
