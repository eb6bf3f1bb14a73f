/* The answer of .sframe at an ascending pc, and the range in which it holds. */
#ifndef TOOLCHAIN_CHECK_ANSWER_H
#define TOOLCHAIN_CHECK_ANSWER_H

#include "toolchain/check/stretches.h"

/* The answer at one pc. */
struct answer {
    bool has_row;
    uint64_t end;
    struct sfb_rule rule;
    struct check_function function;
    uint32_t row;
    uint64_t position;
    bool begins;  /* the row begins at the pc ... */
    bool repeats; /* ... and repeats the rule of the row before */
};

struct asker {
    struct stretches stretches;
    size_t next; /* the first stretch that ends behind the pc */
    struct row_cursor cursor;
    const struct sframe_entry *open; /* owner of the cursor's row */
    struct sfb_rule before;          /* of the row before, in the same function */
    const struct sframe_entry *before_of;
    uint32_t before_row;
    uint64_t visits; /* rows that may still be read: the limit of work */
    bool exhausted;  /* visits is used up: functions overlap too much */
};

/* @return false: no memory; asker_close() is needed all the same */
bool asker_open(struct asker *out, const struct check *c);

void asker_close(struct asker *a);

/* The answer at pc; it holds up to a->end. */
void asker_ask(struct asker *m, uint64_t pc, struct answer *a);

#endif
