/* Functions by another source than .sframe: what a cause is judged by. */
#ifndef TOOLCHAIN_CHECK_CAUSE_TRUTH_H
#define TOOLCHAIN_CHECK_CAUSE_TRUTH_H

#include "toolchain/check/check.h"

/*
 * A cause must explain 9 of 10 functions, while the section as it stands has less than half of them
 * right. Linkage tables do not count: linkers split them into other functions than .eh_frame does.
 * With fewer functions than these all may be chance.
 */
enum { TRUTH_LEAST = 4, TRUTH_LINKAGE_MOST = 3 };

/* Known functions; ascending by start. */
struct truth {
    struct object_range *list;
    size_t count;
    const char *by;
    bool split; /* a function may be several ranges in a row: it begins and ends with one */
};

/* @return false: none, or no memory. The list needs free(), whatever comes. */
bool truth_of_symbols(struct truth *out, const struct object *o);
bool truth_of_cfi(struct truth *out, const struct object *o);

/*
 * By the code (cause_sweep.c): a range ends where control does, at a return, a jump, or a call with no-ops behind it. Cost:
 * decodes all code.
 */
bool truth_of_code(struct truth *out, const struct object *o);

/* The function that starts there; NULL: none. */
const struct object_range *truth_at(const struct truth *t, uint64_t start);

/* How many of them start below an address. */
size_t truth_rank(const struct truth *t, uint64_t start);

/* Whether one ends there; they do not overlap. */
bool truth_ends_at(const struct truth *t, uint64_t end);

/* How many functions of a section that was read have a known start, and its size. */
struct check_share truth_fit(const struct check *c, const struct truth *t);

/* Whether these are so many that the section is sound. */
bool truth_fits(const struct check_share *n);

#endif
