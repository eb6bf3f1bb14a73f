/* From an address of a recorded process to a location of the model: each is asked for once. */
#ifndef REPORT_LOCATE_H
#define REPORT_LOCATE_H

#include "report/model.h"

/* Functions of one name in one module may be several: static ones of C, each of another file. */
struct report_namesake {
    uint64_t start; /* in its module; 0: not known */
    uint32_t next;  /* function; REPORT_NONE */
};

struct report_locator {
    struct report_model *model;
    bool no_inlines;
    struct report_index addresses;     /* of the source: by address, process and list */
    struct report_index places;        /* of all: by module and offset */
    struct report_index modules;       /* by path and build-id */
    struct report_index functions;     /* by name, linkage name and module: the first of them */
    struct report_namesake *namesakes; /* of each function of the model */
    size_t namesake_count, namesake_room;
    uint32_t *found; /* of what `addresses` numbers: the location */
    size_t found_count, found_room;
    uint32_t source, process, list; /* that the namer uses */
    uint32_t at;                    /* location that lines are being added to */
    bool failed;
};

void report_locator_begin(struct report_locator *locator, struct report_model *model,
                          bool no_inlines);

/* @return false: no memory */
bool report_locate(struct report_locator *locator, uint32_t source, uint32_t process, uint32_t list,
                   uint64_t lookup, uint32_t *out);

void report_locator_end(struct report_locator *locator);

#endif
