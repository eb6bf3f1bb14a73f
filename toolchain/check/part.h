/*
 * A part of an SFrame section: one header and its tables. Concatenating linkers leave several
 * parts.
 *
 * This reader does not judge: it reads everything that lies within the section, and says where it
 * lies.
 */
#ifndef TOOLCHAIN_CHECK_PART_H
#define TOOLCHAIN_CHECK_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/rule.h>

#include "toolchain/check/fix.h"
#include "toolchain/check/version.h"

/* An entry of the table of functions, in version 3 with its attribute. */
struct sframe_entry {
    uint64_t start;     /* its address, by the rule of sframe_part_place() */
    uint64_t attribute; /* offset of its attribute in the section */
    int64_t raw_start;
    uint32_t size;
    uint32_t row_at; /* sfde_func_start_fre_off */
    uint32_t row_count;
    uint32_t index; /* in the part */
    uint16_t padding;
    uint8_t info, info2, repeat;
    bool rows_lost; /* some rows are unreadable */
};

struct sframe_part {
    const uint8_t *data;          /* from the header on */
    size_t size;                  /* to the end of the section */
    uint64_t offset;              /* of the header in the section */
    uint64_t address;             /* of the header */
    uint32_t first;               /* functions in earlier parts: findings count through all parts */
    const struct sframe_fix *fix; /* NULL: read as it stands */
    const struct sframe_version *version;
    uint32_t fde_count, fre_count, fre_size;
    uint64_t fde_at, fre_at, end; /* bounds of the tables, from the header */
    uint8_t flags, abi, aux_size;
    int16_t fixed_fp, fixed_ra;
    bool big;
    struct sframe_entry *entries; /* fde_count of them */
};

struct sframe_row {
    uint32_t at, size; /* at: from the start of the FRE sub-section */
    uint32_t start;
    uint8_t info, count, width;
    int32_t word[SFRAME_WORDS_MAX];
};

enum sframe_row_result { ROW_READ, ROW_CUT, ROW_UNKNOWN_WIDTH };

/* Fields of an entry, or of its attribute. */
enum sframe_field {
    FIELD_START,
    FIELD_SIZE,
    FIELD_ROW_AT,
    FIELD_ROW_COUNT,
    FIELD_INFO,
    FIELD_INFO2,
    FIELD_REPEAT,
    FIELD_PADDING
};

/* Reads all entries of a part with tables inside the section. @return false: no memory */
bool sframe_part_read(struct sframe_part *part);

/* Takes starts from a relocated copy of the whole section. */
void sframe_part_relocate(struct sframe_part *part, const uint8_t *section);

/*
 * Computes the functions' addresses.
 *
 * @param from_fields  starts count from their own fields, not from the section
 */
void sframe_part_place(struct sframe_part *part, bool from_fields);

/* Adds a constant to all addresses. */
void sframe_part_shift(struct sframe_part *part, int64_t shift);

/* Repairs placed starts. @return false: no memory */
bool sframe_part_fix_starts(struct sframe_part *part);

void sframe_part_free(struct sframe_part *part);

/* Offsets of an entry, and of its field, in the section. */
uint64_t sframe_entry_at(const struct sframe_part *part, uint32_t index);
uint64_t sframe_field_at(const struct sframe_part *part, const struct sframe_entry *entry,
                         enum sframe_field field);

/* The offset of a byte of the FRE sub-section in the section. */
uint64_t sframe_fre_at(const struct sframe_part *part, uint64_t position);

/* The offset of a function's first row in the FRE sub-section, behind the attribute. */
uint64_t sframe_first_row(const struct sframe_part *part, const struct sframe_entry *entry);

enum sframe_row_result sframe_row_read(struct sframe_row *out, const struct sframe_part *part,
                                       const struct sframe_entry *entry, uint64_t position);

/*
 * Whether rows at that offset fit the function: the first is at its start, all ascend, all are in front
 * of its end, and each has a rule. @param end  written if so: behind the last one
 */
bool sframe_rows_possible(const struct sframe_part *part, const struct sframe_entry *entry,
                          uint64_t row_at, uint64_t *end);

/* The period of a PCMASK function's rows in bytes; 0: not PCMASK. */
uint32_t sframe_repeat(const struct sframe_part *part, const struct sframe_entry *entry);

bool sframe_is_flex(const struct sframe_entry *entry);

/* Offsets in an ordinary row that has all registers. */
unsigned sframe_most_words(const struct sframe_part *part);

/* Decodes a row's rule. @return NULL, or why the row is meaningless */
const char *sframe_row_rule(struct sfb_rule *out, const struct sframe_part *part,
                            const struct sframe_entry *entry, const struct sframe_row *row);

#endif
