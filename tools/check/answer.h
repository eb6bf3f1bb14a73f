/* What .sframe says at a pc that only ascends, and how far it says that. */
#ifndef CHECK_ANSWER_H
#define CHECK_ANSWER_H

#include "stretches.h"

/* What it says there. */
struct answer {
    bool has_row;
    uint64_t end;
    struct sfb_rule rule;
    struct check_function function;
    uint32_t row;
    uint64_t position;
    bool begins;  /* the row begins at the pc ... */
    bool repeats; /* ... and says what the one before it says */
};

struct asker {
    struct stretches stretches;
    size_t next; /* the first stretch that does not end before the pc */
    struct row_cursor cursor;
    const struct sframe_entry *open; /* of the cursor */
    struct sfb_rule before;          /* of the row before, in the same function */
    const struct sframe_entry *before_of;
    uint32_t before_row;
    uint64_t visits; /* rows that may still be read */
    bool exhausted;  /* functions overlap so much that nothing is read any more */
};

/* @return false: no memory; close it all the same */
bool asker_open(struct asker *out, const struct check *c);

void asker_close(struct asker *a);

/* Up to a->end it stays so. */
void asker_ask(struct asker *m, uint64_t pc, struct answer *a);

#endif
