/*
 * Writes .eh_frame_hdr and .eh_frame field by field, in either byte order, good ones and bad ones.
 *
 * It shares no constant with src/eh_frame: the layout is written down here a second time, from LSB
 * and DWARF.
 */
#ifndef SUPPORT_EH_FRAME_BYTES_H
#define SUPPORT_EH_FRAME_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/eh_frame.h"

/* A field: instructions, expressions and augmentation data are lists of these. */
struct item {
    enum { ITEMS_END, BYTES_1, BYTES_2, BYTES_4, BYTES_8, ULEB, SLEB, FILL } kind;
    uint64_t value;
};

/* clang-format off */
#define B(value)    { BYTES_1, (value) }
#define H(value)    { BYTES_2, (uint64_t)(value) }
#define W(value)    { BYTES_4, (uint64_t)(value) }
#define Q(value)    { BYTES_8, (uint64_t)(value) }
#define U(value)    { ULEB, (value) }
#define S(value)    { SLEB, (uint64_t)(int64_t)(value) }
#define ZEROS(size) { FILL, (size) }
/* clang-format on */

/* ITEMS(B(0x0c), U(7), U(8)) */
#define ITEMS(...)                                                                                 \
    (const struct item[])                                                                          \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            ITEMS_END, 0                                                                           \
        }                                                                                          \
    }

struct eh_function {
    int64_t start; /* from the start of .eh_frame_hdr */
    uint64_t size;
    const struct item *program;
};

enum { FUNCTIONS_MAX = 16 };

/* Zero members are the plain case, what GNU ld writes. */
struct eh_layout {
    enum sfb_abi abi;
    uint64_t address;            /* where the segment lies */
    uint8_t gap;                 /* bytes before .eh_frame_hdr */
    uint8_t cie_version;         /* 0: 1 */
    const char *augmentation;    /* NULL: "zR" */
    const struct item *data;     /* of the augmentation; NULL: the encoding */
    uint16_t encoding;           /* of the code's addresses; 0: pcrel sdata4 */
    uint32_t code_align;         /* 0: 1, on AArch64 4 */
    int32_t data_align;          /* 0: -8 */
    uint8_t ra_column;           /* 0: 16, on AArch64 30 */
    const struct item *initial;  /* NULL: CFA = sp+8 with RA at CFA-8, on AArch64 sp+0 */
    const struct item *fde_data; /* augmentation data of each FDE */
    bool long_lengths;           /* of entries, in 64 bits */
    uint32_t count;
    const struct eh_function *functions;
};

enum { ABSPTR = 0x100 }; /* stands for the encoding 0 */

/* The bytes of a segment, and where its parts are. */
struct eh_bytes {
    size_t n;
    size_t hdr, table, cie, cie_end, fde[FUNCTIONS_MAX];
    enum sfb_abi abi;
    uint64_t address;
    uint8_t at[4096];
};

/* The ABIs, for loops over all of them. */
extern const enum sfb_abi eh_abis[3];

struct eh_bytes eh_frame_bytes(const struct eh_layout *layout);

/* Overwrites a number of 1, 2, 4 or 8 bytes, in the byte order of the segment. */
void eh_bytes_set(struct eh_bytes *b, size_t at, size_t width, uint64_t value);

/* Writes a list at a place, and gives its size. */
size_t eh_items_put(uint8_t *at, size_t room, const struct item *items, enum sfb_abi abi);

/*
 * Opens a segment that is at data, cut off behind size bytes.
 *
 * @param out  as sfb_eh_frame_open() leaves it
 */
enum sfb_status eh_bytes_open(struct sfb_eh_frame *out, const struct eh_bytes *b,
                              const uint8_t *data, size_t size);

#endif
