/*
 * Writes SFrame sections field by field, in either byte order, good ones and bad ones.
 *
 * It shares no constant with src/sframe: the layouts are written down here a second time, from the
 * specifications.
 */
#ifndef SUPPORT_SECTION_BYTES_H
#define SUPPORT_SECTION_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/section.h"

struct bytes {
    size_t n;
    uint8_t at[8192];
};

/* Offsets of header fields, 1.1 and 1.2, for bytes_set(). */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 2,
    AT_FLAGS = 3,
    AT_ABI = 4,
    AT_FIXED_FP = 5,
    AT_FIXED_RA = 6,
    AT_AUX = 7,
    AT_NUM_FDES = 8,
    AT_NUM_FRES = 12,
    AT_FRE_LEN = 16,
    AT_FDEOFF = 20,
    AT_FREOFF = 24
};

/* A row: 1.4. ROW_INFO packs 1.4.1 from count, log2 of the offset size and base. */
struct row {
    uint32_t start;
    uint8_t info;
    int32_t offset[6];
};

#define ROW_SP                     1u
#define ROW_FP                     0u
#define ROW_MANGLED                0x80u
#define ROW_INFO(count, log, base) ((uint8_t)((count) << 1 | (log) << 5 | (base)))

/* A function: 1.3. The builder places its rows behind those of the one before. */
struct function {
    int64_t start; /* from the start of the section, whatever it is stored as */
    uint32_t size;
    uint8_t info;
    uint32_t row_count;
    const struct row *rows;
};

/* What newer versions say of a function, besides: 3; 2 and 3. */
struct function_more {
    uint8_t info2, repeat;
};

/* A section; its ABI decides on the byte order. Zero members are the plain case, of version 1. */
struct layout {
    enum sfb_abi abi;
    uint8_t version;
    uint8_t flags;
    int8_t fixed_fp;
    int8_t fixed_ra;
    uint8_t aux_size;
    uint8_t fde_gap; /* bytes between the header and the entries */
    uint8_t fre_gap; /* bytes between the entries and the rows */
    uint32_t function_count;
    const struct function *functions;
    const struct function_more *more; /* of all functions, NULL: zeros */
};

/* The ABIs and the fixed_ra that goes with each, for loops over all of them. */
extern const struct abi_case {
    enum sfb_abi abi;
    int8_t fixed_ra;
} abi_cases[3];

/* The ABIs in each way in which function starts are stored: version, and flags that go with it. */
enum { FORM_COUNT = 15, FIELD_RELATIVE = 4 };
extern const struct form {
    struct abi_case abi;
    uint8_t version, flags;
} forms[FORM_COUNT];

struct bytes section_bytes(const struct layout *layout);

/* Overwrites a field of 1, 2, 4 or 8 bytes, in the byte order that the section already has. */
void bytes_set(struct bytes *b, size_t at, size_t width, uint64_t value);

/* Where the rest of what is said of a function is: in its entry, or in front of its rows. */
size_t attribute_at(const struct layout *layout, size_t index, const struct bytes *b);

/* Where the entry of a function is, in a section that section_bytes() made. */
size_t fde_at(const struct layout *layout, size_t index);

#endif
