/*
 * What all reports are made of: samples by stack and thread; stacks, leaf first; locations, which are places in
 * modules, with the chain of functions that were inlined there. Several recordings make one model: what they share
 * (by build-id and offset, by name) is there once.
 *
 * A model is made once (profiler/report/model/make.h) and never changes. Everything in it is found by number; what is not there is REPORT_NONE.
 */
#ifndef PROFILER_REPORT_MODEL_MODEL_H
#define PROFILER_REPORT_MODEL_MODEL_H

#include "profiler/report/model/amount.h"
#include "profiler/report/model/choice.h"
#include "profiler/report/model/data.h"
#include "profiler/report/model/namer.h"
#include "profiler/report/model/texts.h"
#include "util/strings.h"

/*
 * What a row counts: "samples" in "count", then "cpu" in "nanoseconds"; of a heap "alloc_objects" in "count" and
 * "alloc_space" in "bytes", then the same of inuse_, peak_ and temporary_. Words are pprof's, but for the last two.
 */
struct report_value_type {
    const char *type, *unit;
};

/* The module of what threads wait in: the innermost frame of a wait. */
#define REPORT_WAITING "[waiting]"

enum { REPORT_VALUES = 8 }; /* at most; CPU time has two */

/* Values of a heap, in pairs: blocks, bytes. */
enum report_heap_type {
    REPORT_ALLOC_OBJECTS,
    REPORT_ALLOC_SPACE,
    REPORT_INUSE_OBJECTS,
    REPORT_INUSE_SPACE,
    REPORT_PEAK_OBJECTS,
    REPORT_PEAK_SPACE,
    REPORT_TEMPORARY_OBJECTS,
    REPORT_TEMPORARY_SPACE
};

/* A recording that goes into a model. */
struct report_source {
    const struct report_data *data;
    struct report_namer namer;
    uint32_t group; /* 0; in a comparison: 0 the old recordings, 1 the new ones */
};

struct report_module {
    uint32_t path; /* string: as the process had it, "[vdso]"; of code that is in no module "" */
    uint32_t name; /* string: the path's last part */
    uint8_t build_id[64];
    uint32_t build_id_size;
    uint64_t start, end;            /* where it was loaded when it was first seen */
    uint32_t source, process, list; /* where that was */
    bool has_functions, has_files, has_lines, has_inlines; /* for at least one address */
};

struct report_function {
    uint32_t name; /* string: as shown; if unknown, "[0x1234]", an offset in its module */
    uint32_t
        system_name; /* string: as linked: "_ZN5shape4areaEi"; the same as name, or "": not known */
    uint32_t file;   /* string: where a line of it was first seen; "": not known */
    uint32_t module;
    bool known; /* it has a name */
};

/* A function at a place: the one that contains it, or one that was inlined into the next line's. */
struct report_line {
    uint32_t function;
    uint32_t file;         /* string: with its directory; "": not known */
    uint32_t line, column; /* 0: not known */
    bool inlined;
};

struct report_location {
    uint32_t module;
    enum report_kind kind;
    uint64_t offset;    /* in the module; of code in no module, the address */
    uint32_t at, count; /* in `lines`, innermost first; at least one */
};

/*
 * What stands among frames, as a location: behind all others. The first two stand for frames that are not there; from
 * REPORT_AWAIT on no frame called the one before, but awaits it.
 */
enum report_mark { REPORT_OMITTED = -1, REPORT_TRUNCATED = -2, REPORT_AWAIT = -3 };

struct report_stack {
    size_t at;      /* in `frames` */
    uint32_t count; /* leaf first */
    bool truncated;
    uint32_t first_frame, first_line; /* where views begin: fold.h. 0, 0: it is shown whole */
    uint32_t shown_as;                /* the first stack that looks the same; itself */
};

struct report_member { /* a thread of a recording */
    uint32_t source;   /* index */
    const struct report_thread *thread;
    const struct report_process *process;
    bool wanted;
    uint64_t ways[2]; /* CPU time of its wanted samples: by an agent, from outside */
    bool idle;        /* in model->idle */
};

/* How exact a heap's values are. */
struct report_estimates {
    double variances[REPORT_VALUES]; /* 0: exact */
    uint64_t samples[REPORT_VALUES]; /* that an estimate is made of */
};

/* Values of rows, in blocks that stay where they are. A row of CPU time has two values, one of a heap eight and how exact they are. */
struct report_figures {
    struct report_figures *before;
    size_t used, room;
    uint64_t words[];
};

/* The samples of one thread that have one stack. */
struct report_row {
    uint32_t member; /* index */
    uint32_t stack;  /* index; REPORT_NONE: none was taken */
    uint32_t group;
    uint64_t *values;                   /* of the model's types: so many are there */
    struct report_estimates *estimates; /* NULL: the values are exact */
};

/* A site of a heap: what is known of it beside a row's values. */
struct report_site {
    uint32_t row;    /* index; several sites may be of one row */
    uint32_t source; /* index */
    const struct report_heap_site *site;
    const struct sfb_recording_heap_totals
        *totals; /* of the whole run, whatever time is chosen; NULL: not known */
};

/* One sample: for what is shown by time. */
struct report_point {
    uint64_t time;   /* ns from the beginning of its recording */
    uint64_t weight; /* its main value */
    uint32_t row;
};

/* Threads of a pool that wait nearly all of their time at one place: they stand outside of the sums. */
struct report_idle {
    uint32_t threads;
    uint64_t weight;  /* ns of their waits */
    uint32_t stack;   /* index, with what they wait in */
    const char *name; /* of the first thread */
};

/* What waits are counted by: a futex, which is a lock as a rule; or what ended them, a thread that woke the others up. */
struct report_cause {
    uint32_t name;           /* string: of a lock, of threads; "interrupt", "nginx (pid 4711)" */
    uint64_t waits;          /* that looks have seen */
    uint64_t total, longest; /* ns */
};

/*
 * Threads that waited for a lock, or had it meanwhile, in one place; places where wakers woke others up, and waits that they
 * ended.
 */
struct report_cause_part {
    uint32_t cause; /* index */
    uint32_t
        thread; /* string: name of the thread that had the lock, that was woken up; else REPORT_NONE */
    uint32_t stack; /* index; REPORT_NONE: not known */
    uint32_t wait;  /* index: the stack with what was waited in; REPORT_NONE: not asked for */
    uint64_t total; /* ns of the waits */
};

/* A thread that waited for a lock which another one had, or until another one woke it up. */
struct report_cause_share {
    uint32_t member; /* index */
    uint32_t other;  /* index of a member; REPORT_NONE: the waker is no thread of the recording */
    uint32_t cause;  /* index */
    uint64_t total;  /* ns */
};

struct report_causes {
    REPORT_ARRAY(struct report_cause) all;
    REPORT_ARRAY(struct report_cause_part) parts;
    REPORT_ARRAY(struct report_cause_share) shares;
};

/* What a thread waits in that wants the GIL. */
#define REPORT_WAIT_GIL "waiting for the GIL"

struct report_model {
    const struct report_source *sources; /* borrowed */
    size_t source_count;
    struct report_value_type types[REPORT_VALUES];
    size_t type_count;
    size_t main;    /* the type that shares are of: CPU time; of a heap as it was chosen */
    bool heap;      /* the recordings are of heaps */
    bool estimated; /* of a heap: at least one of them was sampled */
    bool live_only; /* of a heap: all are dumps of what lives, and nothing else is known */
    struct report_strings strings;
    REPORT_ARRAY(struct report_module) modules;
    REPORT_ARRAY(struct report_function) functions;
    REPORT_ARRAY(struct report_line) lines;
    REPORT_ARRAY(struct report_location) locations;
    REPORT_ARRAY(uint32_t) frames; /* locations, or (uint32_t) of enum report_mark */
    REPORT_ARRAY(struct report_stack) stacks;
    REPORT_ARRAY(struct report_member) members; /* all threads of all recordings */
    REPORT_ARRAY(struct report_row) rows;       /* in the order in which they came first */
    struct report_figures *figures;             /* of rows */
    REPORT_ARRAY(struct report_point) points;   /* of a recording by time */
    REPORT_ARRAY(struct report_site) sites;     /* of heaps: the wanted ones */
    uint64_t totals[REPORT_VALUES];             /* of all rows */
    double variances[REPORT_VALUES];
    uint64_t sampled[REPORT_VALUES]; /* samples that estimates are made of */
    uint64_t shrunk
        [2]; /* of a heap in a span of time: blocks, bytes by which sites had less at its end */
    uint64_t
        nearest; /* of a heap without events: the snapshot that stands for the end of the time chosen; 0: none */
    uint64_t
        unsampled; /* ns of wanted threads and processes; 0 if times or functions were chosen */
    REPORT_ARRAY(struct report_idle) idle;
    struct report_causes locks;  /* if waits say for what */
    struct report_causes wakers; /* if they say what ended them */
    bool has_wakers;             /* they were recorded, be there wanted ones or not */
    uint64_t unended;            /* ns of waits of which that is not known */
    uint64_t unplaced;           /* ns of waits that no look has seen */
    uint64_t truncated; /* samples whose stack is cut off; of a heap, blocks that were allocated */
    uint64_t by_end[256]; /* samples by enum sfb_status; larger ones at 255 */
    uint64_t by_other[8]; /* those by another engine than their recording began with */
    struct report_choice choice;
    const struct report_texts *texts; /* source files; NULL: none is at hand */
    bool names_advised;               /* texts say how missing names can be had on this machine */
};

void report_model_free(struct report_model *model);

/* @return a row's main value */
static inline uint64_t report_weight(const struct report_model *model, const struct report_row *row)
{
    return row->values[model->main];
}

/* @return a row's value of a type, with its error */
static inline struct report_amount report_row_amount(const struct report_row *row, size_t type)
{
    return (struct report_amount){ row->values[type],
                                   row->estimates ? row->estimates->variances[type] : 0.0,
                                   row->estimates ? row->estimates->samples[type] : 0 };
}

/* @return its main value, with its error */
static inline struct report_amount report_amount_of(const struct report_model *model,
                                                    const struct report_row *row)
{
    return report_row_amount(row, model->main);
}

/* @return all rows' value of a type */
static inline struct report_amount report_total(const struct report_model *model, size_t type)
{
    return (struct report_amount){ model->totals[type], model->variances[type],
                                   model->sampled[type] };
}

/* @return the text of a string */
static inline const char *report_text(const struct report_model *model, uint32_t string)
{
    return model->strings.all.at[string];
}

/* Whether a place is code: a line of an interpreter, or a wait, has no offset and no address. */
bool report_location_is_code(const struct report_model *model, const struct report_location *l);

/* @return the address of a place in the process; 0: it is no code */
uint64_t report_location_address(const struct report_model *model, const struct report_location *l);

/* @return what a function is called */
static inline const char *report_name(const struct report_model *model, uint32_t function)
{
    return report_text(model, model->functions.at[function].name);
}

/* @return the name of what a row's threads waited in; NULL: they ran */
const char *report_waits_in(const struct report_model *model, uint32_t stack);

/* What was never sampled of a thread that is in the model; 0 as `unsampled` says. */
uint64_t report_member_unsampled(const struct report_model *model, const struct report_member *m);

/* The same of a process, what is no thread's. */
uint64_t report_process_unsampled(const struct report_model *model,
                                  const struct report_process *process);

/* --- Stacks, function by function --------------------------------------------------------------- */

/* Steps through a stack from the leaf on, inlined functions included; of a folded stack, from its first frame shown. */
struct report_steps {
    const struct report_model *model;
    const struct report_stack *stack; /* NULL: none was taken */
    uint32_t frame, line;             /* next */
};

struct report_step {
    uint32_t location;              /* index; REPORT_NONE: a mark */
    const struct report_line *line; /* NULL: a mark */
    const char *mark; /* "[omitted]", "[truncated]", "[await]", "[no stack]"; NULL: a function */
};

/* Whether there is no frame to show: none was taken, or it is empty. */
static inline bool report_has_no_stack(const struct report_model *model, uint32_t stack)
{
    return stack == REPORT_NONE || model->stacks.at[stack].count == 0;
}

struct report_steps report_steps_of(const struct report_model *model, uint32_t stack);

/* The same with folded frames. */
struct report_steps report_steps_whole(const struct report_model *model, uint32_t stack);

/* @return steps that a view leaves out at the inner end */
uint32_t report_folded(const struct report_model *model, uint32_t stack);

/* @return false: the outermost one was given */
bool report_steps_next(struct report_steps *steps, struct report_step *out);

#endif
