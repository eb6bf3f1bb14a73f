/* Which part of the recordings a report is of. */
#ifndef PROFILER_REPORT_MODEL_CHOICE_H
#define PROFILER_REPORT_MODEL_CHOICE_H

#include "profiler/report/model/data.h"

/* Which of a heap's values is the main one. */
enum report_heap_value {
    REPORT_HEAP_USUAL, /* what lives; where nothing does, the peak */
    REPORT_HEAP_ALLOCATED,
    REPORT_HEAP_LIVE,
    REPORT_HEAP_PEAK,
    REPORT_HEAP_TEMPORARY
};

/* Which of a recording's time is counted. */
enum report_time_value {
    REPORT_TIME_USUAL, /* wall time, where waits were recorded; else CPU time */
    REPORT_TIME_CPU,
    REPORT_TIME_WALL,     /* CPU time and all waits */
    REPORT_TIME_OFFCPU,   /* all waits */
    REPORT_TIME_RUNNABLE, /* waits for a CPU */
    REPORT_TIME_BLOCKED,  /* all other waits */
    REPORT_TIME_CALLS     /* no time: calls of a trace */
};

/* Which functions of a stack are shown where an interpreter ran. */
enum report_languages {
    REPORT_MIXED,      /* its functions in place of the C function that ran them */
    REPORT_NATIVE_TOO, /* both */
    REPORT_PYTHON_ONLY /* its functions alone; a stack without any is shown whole */
};

/* Which samples are wanted. Zero: all. Of a heap, a span of time is what lives at its end less what lived before it. */
struct report_choice {
    uint64_t from, to; /* ns from the beginning of a recording; to 0: its end */
    const char *from_mark,
        *to_mark;        /* from and to are these marks of each recording; NULL: they are not */
    bool at_instant;     /* of a heap: what lives at `to`, which may be 0 then */
    const char *thread;  /* a name or a tid; NULL: all */
    const char *process; /* the base name of a program, or a pid */
    /* Whether one of a stack's functions is wanted: asked once for each name. NULL: all are */
    bool (*function)(void *user, const char *name);
    void *user;
    bool no_names;   /* no names are wanted: missing ones are not reported */
    bool no_inlines; /* inlined functions count as their callers */
    enum report_languages languages;
    uint32_t gil; /* only stacks whose thread had it so: enum sfb_recording_gil; 0: all */
    enum report_heap_value value;
    enum report_time_value time_value;
    bool awaited; /* names of waits say for what: "asleep in recvfrom tcp 127.0.0.1:5432" */
    bool ended;   /* what ended waits is wanted; with `awaited` it is in any case */
    bool blocks;  /* the main value of a heap is a number of blocks, not of bytes */
    /* What lives of a heap is what did before the last part of the run, too: so much of it at most. 0: of all of it */
    uint64_t tail;
    double tail_percent;
};

bool report_choice_has_process(const struct report_choice *c, const struct report_process *process);
bool report_choice_has_thread(const struct report_choice *c, const struct report_thread *thread);

/* Sets from and to by a recording's marks, where marks are wanted. One that it lacks changes nothing. */
void report_choice_use_marks(struct report_choice *choice, const struct report_data *data);

/* @param stack  index; REPORT_NONE */
bool report_choice_has_stack(const struct report_choice *c, const struct report_data *data,
                             uint32_t stack);

/* @param time  ns from the beginning of its recording */
bool report_choice_has_time(const struct report_choice *c, uint64_t time);

/* Whether it is of a part of the run. */
static inline bool report_choice_is_timed(const struct report_choice *c)
{
    return c->from > 0 || c->to > 0 || c->at_instant;
}

/* @return whether a text is "allocated", "live", "peak" or "temporary" */
bool report_heap_value_parse(const char *text, enum report_heap_value *out);

/* @return whether a text is "held", "waited" or "released" */
bool report_gil_parse(const char *text, uint32_t *out);

/* @return whether a text is "cpu", "wall", "offcpu", "runnable" or "blocked" */
bool report_time_value_parse(const char *text, enum report_time_value *out);

/* @return "CPU time", "wall time", ..., "calls" */
const char *report_time_value_name(enum report_time_value value);

static inline bool report_time_has_cpu(enum report_time_value value)
{
    return value <= REPORT_TIME_WALL || value == REPORT_TIME_CALLS;
}

/* @param state  enum sfb_recording_state */
bool report_time_has_wait(enum report_time_value value, uint32_t state);

/* What was never sampled has no time and no stack: whether it is wanted all the same. */
bool report_choice_has_unsampled(const struct report_choice *c);

#endif
