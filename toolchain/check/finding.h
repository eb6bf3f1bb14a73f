/* One finding of a check: what, where, and how grave. */
#ifndef TOOLCHAIN_CHECK_FINDING_H
#define TOOLCHAIN_CHECK_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "toolchain/check/codes.h"

/* What an offset counts from. */
enum finding_region { IN_SFRAME, IN_FILE, IN_EH_FRAME };

enum { FINDING_NONE = -1 };

/* A place in the file. */
struct finding_place {
    enum finding_region region;
    uint64_t offset;
    int64_t fde, fre; /* FINDING_NONE: not about a function, or a row */
    bool has_pc;      /* the place has a pc */
    uint64_t pc;      /* if has_pc */
};

/* The rules of both tables as text; NULL: no rule. */
struct finding_rules {
    const char *sframe, *eh_frame;
};

struct finding {
    enum check_code code;
    enum check_severity severity; /* by the caller's policy */
    struct finding_place place;
    struct finding_rules rules;
    const char *text;     /* the details */
    const char *known;    /* the release with this known fault; NULL: unknown */
    uint64_t fingerprint; /* fingerprint.h */
};

static inline struct finding_place in_sframe(uint64_t offset)
{
    return (struct finding_place){ IN_SFRAME, offset, FINDING_NONE, FINDING_NONE, false, 0 };
}

static inline struct finding_place in_file(uint64_t offset)
{
    return (struct finding_place){ IN_FILE, offset, FINDING_NONE, FINDING_NONE, false, 0 };
}

static inline struct finding_place in_eh_frame(uint64_t offset)
{
    return (struct finding_place){ IN_EH_FRAME, offset, FINDING_NONE, FINDING_NONE, false, 0 };
}

/* Adds a pc to a place. */
static inline struct finding_place of_pc(struct finding_place place, uint64_t pc)
{
    place.has_pc = true;
    place.pc = pc;
    return place;
}

#endif
