/*
 * Systematic faults of a part of the section, or of its rows: each repair (fix.h) is tried, and the one
 * that removes most findings is the cause.
 *
 *     cause_hunt.c    the trials, and what counts as an explanation
 *     cause_header.c  faults of the header, of the sizes and the order of entries
 *     cause_entries.c faults of the functions' fields
 *     cause_rows.c    faults of the rows
 *     cause_stretch.c faults of the rows of some functions; cause_pairs.c has the rules
 *     cause_code.c    rows that functions should have, by their code; cause_sweep.c: where these begin
 *     cause_base.c    entries that count from another place; cause_index.c: how rules search
 *     cause_lost.c    rows whose entries are gone
 */
#ifndef TOOLCHAIN_CHECK_CAUSE_HUNT_H
#define TOOLCHAIN_CHECK_CAUSE_HUNT_H

#include "toolchain/check/cause_found.h"
#include "toolchain/check/cause_truth.h"

/* A stretch of functions, or what is voted on, needs so many to be no chance. */
enum { HUNT_LEAST = 8 };

struct stretch_rules;

struct hunt {
    const struct check *c;
    const struct check *as_it_stands; /* read, and placed */
    const struct truth *truth;
    struct findings found; /* as it stands */
    uint64_t all;          /* errors and warnings of it */
    uint64_t left;         /* of the best repair so far */
    unsigned trials;
    struct cause *out;
    struct stretch_rules *rules; /* of hunt_stretch(); NULL: not read yet */
    bool has_rules;              /* ... and could be read */
    bool by_code; /* ... and rows are compared with the code, which is not known to its end */
};

/* What a repair is called, and whose fault it mends. */
struct hunt_name {
    enum check_code code;
    const char *tool;
};

/* Tries a repair: it counts if it removes 9 of 10 errors and warnings, and is better than those before. */
void hunt_try(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a field of the header, where few findings may be its consequences. */
void hunt_try_header(struct hunt *h, struct hunt_name name, struct sframe_fix fix,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for a stretch of functions, by which alone half of all findings must be explained. */
void hunt_try_part(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/*
 * The same for a set of functions, each of which one rule makes: it must explain some findings.
 *
 * @param few  so few functions that they must be half of what is wrong
 */
void hunt_try_functions(struct hunt *h, struct hunt_name name, struct sframe_fix fix, bool few,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for a section that cannot be read: its functions must be known ones then. */
void hunt_try_fit(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* A cause without a trial: all findings of these codes follow from it. */
void hunt_settle(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* How often a code was found. */
uint64_t hunt_count(const struct hunt *h, enum check_code code);

/* The functions of the section, and one by its number in findings. */
uint32_t hunt_functions(const struct hunt *h);
struct check_function hunt_function(const struct hunt *h, uint32_t index);

/* All functions: for a repair. */
static inline struct sframe_fix hunt_all(enum fix_kind kind, int64_t amount)
{
    return (struct sframe_fix){ .kind = kind, .to = UINT32_MAX, .amount = amount };
}

void hunt_header(struct hunt *h);
void hunt_entries(struct hunt *h);
void hunt_rows(struct hunt *h);
/* @param last  nothing else is found: rules that say little count, too */
void hunt_stretch(struct hunt *h, bool last);
void hunt_stretch_close(struct hunt *h);
void hunt_order(struct hunt *h);
void hunt_lost(struct hunt *h); /* entries that are gone */
void hunt_last(struct hunt *h); /* if nothing else is found */

/* @return whether there is a cause */
bool cause_hunt(struct cause *out, const struct check *c, const struct check *as_it_stands,
                const struct truth *truth);

#endif
