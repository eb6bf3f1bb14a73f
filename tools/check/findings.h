/*
 * What a check of one file found: a bounded list, and counts of everything.
 *
 * A fault that is everywhere must not drown one that is somewhere: of each code the first few are
 * kept, and the rest is counted.
 */
#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codes.h"

/* What an offset counts from. */
enum finding_region { IN_SFRAME, IN_FILE, IN_EH_FRAME };

enum { FINDING_NONE = -1 };

/* Where something is. */
struct finding_place {
    enum finding_region region;
    uint64_t offset;
    int64_t fde, fre; /* FINDING_NONE: of no function, of no row */
};

struct finding {
    enum check_code code;
    struct finding_place place;
    char *text;
};

struct findings {
    struct finding *list; /* what was kept, in the order in which it was found */
    size_t count, capacity;
    size_t limit, limit_of_code; /* how many to keep; 0: all */
    uint64_t *of_code;           /* how often each code came, in the order of check_codes */
    uint64_t by_severity[3];     /* the same, by enum check_severity */
    bool no_memory;              /* something is missing from the list */
};

/* @return false: no memory */
bool findings_init(struct findings *f, size_t limit);

void findings_free(struct findings *f);

/* Adds one; `format` says what is particular about it, and may lack what the place tells. */
void findings_add(struct findings *f, enum check_code code, struct finding_place place,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* How many of a code are not in the list. */
uint64_t findings_left_out(const struct findings *f, enum check_code code);

/* Whether there is an error or a warning. */
bool findings_bad(const struct findings *f);

static inline struct finding_place in_sframe(uint64_t offset)
{
    return (struct finding_place){ IN_SFRAME, offset, FINDING_NONE, FINDING_NONE };
}

static inline struct finding_place in_file(uint64_t offset)
{
    return (struct finding_place){ IN_FILE, offset, FINDING_NONE, FINDING_NONE };
}

static inline struct finding_place in_eh_frame(uint64_t offset)
{
    return (struct finding_place){ IN_EH_FRAME, offset, FINDING_NONE, FINDING_NONE };
}

#endif
