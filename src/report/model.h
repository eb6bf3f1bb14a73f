/*
 * What all reports are made of: samples by stack and thread, stacks leaf first, locations with the chain of functions
 * that were inlined there. Each address is asked for once.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include "report/data.h"
#include "report/functions.h"

/* Who knows names. Strings are good for the call only. */
struct report_named {
    const char *name;   /* NULL: not known */
    const char *module; /* base name; NULL: no module is there */
    uint64_t offset;    /* in the module, or the address: for what has no name */
};

struct report_namer {
    void *user;
    /* From now on addresses are of a process, with these modules. @return false: no memory */
    bool (*use)(void *user, const struct report_data *data, uint32_t process, uint32_t list);
    /* From the innermost inlined function to the one that contains them all, which always comes. */
    void (*find)(void *user, uint64_t lookup, void (*visit)(void *, const struct report_named *),
                 void *visit_user);
};

/* Where a frame is: functions of one address, innermost first. */
struct report_location {
    uint32_t at, count; /* in `chains` */
};

/* What stands for frames that are not there, as a location: behind all others. */
enum report_mark { REPORT_OMITTED = -1, REPORT_TRUNCATED = -2 };

struct report_stack {
    size_t at;      /* in `frames` */
    uint32_t count; /* leaf first */
    bool truncated;
};

/* The samples of one thread that have one stack. */
struct report_row {
    uint32_t thread; /* index */
    uint32_t stack;  /* index; REPORT_NONE: none was taken */
    uint64_t samples, weight;
};

struct report_model {
    const struct report_data *data;
    struct report_functions functions;
    REPORT_ARRAY(uint32_t) chains; /* functions */
    REPORT_ARRAY(struct report_location) locations;
    REPORT_ARRAY(uint32_t) frames; /* locations, or (uint32_t) of enum report_mark */
    REPORT_ARRAY(struct report_stack) stacks;
    REPORT_ARRAY(struct report_row) rows; /* in the order in which they came first */
    uint64_t samples, weight, unsampled;  /* ns */
    uint64_t truncated;                   /* samples whose stack is cut off */
    uint64_t by_end[256];                 /* samples by enum sfb_status; larger ones at 255 */
};

/* @return false: no memory; out is to be freed in any case */
bool report_model_make(struct report_model *out, const struct report_data *data,
                       const struct report_namer *namer);

void report_model_free(struct report_model *model);

#endif
