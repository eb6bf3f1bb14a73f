/*
 * The bytes of an SFrame section, written: header, entries and rows of versions 1, 2 and 3. What
 * src/sframe reads, apart from it: neither includes the other's constants.
 */
#ifndef SFRAME_BYTES_H
#define SFRAME_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include <sfb/abi.h>
#include <sfb/rule.h>
#include <sfb/section.h>

enum {
    SYNTH_OLDEST = 1, /* versions */
    SYNTH_NEWEST = 3,
    SYNTH_HEADER_SIZE = 28,
    SYNTH_ATTRIBUTE_MAX = 5,
    SYNTH_ROW_MAX = 4 + 1 + 6 * 4 /* start, info, words */
};

struct sframe_format {
    unsigned version;
    enum sfb_abi abi;
};

struct sframe_totals {
    uint32_t functions, rows, row_bytes;
};

/* What an entry says, in whichever place. */
struct sframe_entry {
    uint64_t start; /* from the start of the section, modulo 2^64 */
    uint32_t size, row_count;
    uint32_t rows_at; /* in the rows' table; version 3: what stands before them */
    uint8_t start_log2;
    bool pcmask, key_b, signal, flexible;
};

/* @return bytes of an entry */
uint32_t sframe_entry_size(struct sframe_format format);

/* @return the most rows that an entry counts */
uint32_t sframe_rows_max(struct sframe_format format);

/* Each writes at `to`, and returns the end of what it wrote. */
uint8_t *sframe_put_header(uint8_t *to, struct sframe_format format, struct sframe_totals totals);

/* @param index  of the entry: version 3 counts starts from where they stand */
uint8_t *sframe_put_entry(uint8_t *to, struct sframe_format format,
                          const struct sframe_entry *entry, uint32_t index);

/* What stands before a function's rows: nothing but in version 3. */
uint8_t *sframe_put_attribute(uint8_t *to, struct sframe_format format,
                              const struct sframe_entry *entry);

/* @param rule  which a row of this version, flexible where the entry is, can state */
uint8_t *sframe_put_row(uint8_t *to, struct sframe_format format, const struct sframe_entry *entry,
                        uint32_t start, const struct sfb_rule *rule);

#endif
