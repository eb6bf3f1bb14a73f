/*
 * A repair of a table while it is read: what the bytes would say without one systematic fault. The search
 * for a cause tries them; the section itself is never changed.
 */
#ifndef TOOLCHAIN_CHECK_FIX_H
#define TOOLCHAIN_CHECK_FIX_H

#include <stdbool.h>
#include <stdint.h>

enum fix_kind {
    FIX_NONE,
    /* entries; `amount` as named */
    FIX_START,           /* bytes added to the start */
    FIX_START_NEIGHBOUR, /* the address of the entry so many places behind */
    FIX_START_RAW,       /* the field of that entry */
    FIX_SIZE,            /* bytes added to the size */
    FIX_SIZE_NEIGHBOUR,
    FIX_SIZE_KNOWN, /* the size of the symbol, or of .eh_frame, with that start */
    FIX_ROWS_AT,    /* bytes added to the offset of the rows, where only that makes them possible */
    FIX_ROWS_NEIGHBOUR,
    FIX_ROW_COUNT, /* rows added */
    FIX_INFO,      /* bits of the function's info that are the other way round */
    FIX_ROW_TYPE,  /* another type of row starts, where only that makes the rows possible */
    /* rows */
    FIX_CFA,        /* bytes added to the offset of the CFA */
    FIX_BASE,       /* sp and fp exchanged */
    FIX_SAVED,      /* bytes added to the offsets of RA and fp */
    FIX_SAVED_SWAP, /* RA and fp exchanged */
    FIX_ROW_START,  /* bytes added to starts; of rows behind the first, if it starts at 0 */
    FIX_ROW_SCALE,  /* starts shifted left, or right if negative */
    FIX_SIGNED,     /* the bit of a signed return address is the other way round */
    /* the section */
    FIX_HEADER,     /* the field at `at`, `width` bytes, is `amount` */
    FIX_ADDRESS,    /* bytes added to the section's address */
    FIX_ENTRY_SIZE, /* bytes of an entry */
    FIX_SWAP_ENTRIES,
    FIX_SWAP_ROWS,
    FIX_SWAP_TABLES,  /* both tables have the other byte order */
    FIX_SWAP_MACHINE, /* all is in the order of the magic number, whatever the ABI says */
    /* what is not judged */
    FIX_ANY_ORDER,
    FIX_TWICE,     /* entries that are in the table already */
    FIX_OUTERMOST, /* rows without a caller */
    FIX_LOST,      /* rows without an entry, and the code from low to high */
    FIX_FUNCTIONS, /* the functions of a set */
    FIX_FOREIGN    /* everything that is beside the section */
};

struct sframe_fix {
    enum fix_kind kind;
    uint32_t from, to; /* functions, as findings count them; to: behind the last */
    int64_t amount;
    uint8_t at, width;
    uint64_t low, high;
    uint8_t *set; /* FIX_FUNCTIONS: a bit for each function; its owner is the cause */
};

static inline bool fix_is(const struct sframe_fix *fix, enum fix_kind kind)
{
    return fix && fix->kind == kind;
}

/* Whether the fix is of this kind, and changes this function. */
static inline bool fix_at(const struct sframe_fix *fix, enum fix_kind kind, uint32_t function)
{
    return fix_is(fix, kind) && function >= fix->from && function < fix->to;
}

#endif
