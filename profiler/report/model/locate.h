/* From an address of a recorded process to a location of the model: each is asked for once. */
#ifndef PROFILER_REPORT_MODEL_LOCATE_H
#define PROFILER_REPORT_MODEL_LOCATE_H

#include "profiler/report/model/model.h"

/* Most addresses of a stack are of the stack before, too. */
enum { REPORT_RECENT = 4096 };

struct report_recent {
    uint64_t lookup;
    uint32_t process, list, location;
    bool known;
};

struct report_locator {
    struct report_model *model;
    bool no_inlines;
    struct report_index addresses; /* of the source: by address, process and list */
    struct report_index places;    /* of all: by module and offset */
    struct report_index modules;   /* by path and build-id */
    struct report_index functions; /* by name, linkage name and module: the first of them */
    /* Functions of one name in one module may be several: static ones of C, each of another file. */
    struct report_index by_start; /* by the first of them and where they begin in the module */
    struct report_index by_file;  /* by the first of them and their file */
    struct report_strings build_ids;
    const char *
        last_path; /* of the place before, and its module: valid as long as the namer's modules are */
    const uint8_t *last_id;
    uint32_t last_module;
    uint32_t *found; /* of what `addresses` numbers: the location */
    size_t found_count, found_room;
    struct report_recent recent[REPORT_RECENT]; /* of the source */
    uint32_t source, process, list;             /* that the namer uses */
    uint32_t at;                                /* location that lines are being added to */
    struct report_index waits;                  /* by name */
    uint64_t base; /* of its module in its process; of code in no module 0 */
    bool failed;
};

void report_locator_begin(struct report_locator *locator, struct report_model *model,
                          bool no_inlines);

/* Where a location is looked for first. */
static inline size_t report_recent_slot(uint64_t lookup)
{
    return (lookup ^ lookup >> 12) % REPORT_RECENT;
}

/* Inline, as most calls end here. @return whether an address was located lately; then `out` is written */
static inline bool report_locate_recent(const struct report_locator *locator, uint32_t source,
                                        uint32_t process, uint32_t list, uint64_t lookup,
                                        uint32_t *out)
{
    const struct report_recent *recent = &locator->recent[report_recent_slot(lookup)];

    if (recent->lookup != lookup || recent->process != process || recent->list != list ||
        !recent->known || locator->source != source)
        return false;
    *out = recent->location;
    return true;
}

/* @return false: no memory */
bool report_locate(struct report_locator *locator, uint32_t source, uint32_t process, uint32_t list,
                   uint64_t lookup, uint32_t *out);

/* What a thread waits in, as a location: a function of the module "[waiting]". @return false: no memory */
bool report_locate_wait(struct report_locator *locator, const char *name, uint32_t *out);

/*
 * The same for a function of an interpreter, at a line.
 *
 * @param code  index of the source's; REPORT_NONE: its name is not known
 */
bool report_locate_code(struct report_locator *locator, uint32_t source, uint32_t code,
                        uint32_t line, uint32_t *out);

void report_locator_end(struct report_locator *locator);

#endif
