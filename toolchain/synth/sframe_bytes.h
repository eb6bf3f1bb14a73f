/*
 * Writes the bytes of an SFrame section: header, entries and rows of versions 1, 2 and 3.
 * Independent of src/sframe, the reader: neither includes the other's constants.
 */
#ifndef TOOLCHAIN_SYNTH_SFRAME_BYTES_H
#define TOOLCHAIN_SYNTH_SFRAME_BYTES_H

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

/* The content of an entry, for every version. */
struct sframe_entry {
    uint64_t start; /* from the start of the section, modulo 2^64 */
    uint32_t size, row_count;
    uint32_t rows_at; /* offset in the rows' table; version 3: of the attribute */
    uint8_t start_log2;
    bool pcmask, key_b, signal, flexible;
};

/* @return bytes of an entry */
uint32_t sframe_entry_size(struct sframe_format format);

/* @return the maximum of an entry's row count */
uint32_t sframe_rows_max(struct sframe_format format);

/* Each writes at `to`, and returns the end of the written bytes. */
uint8_t *sframe_put_header(uint8_t *to, struct sframe_format format, struct sframe_totals totals);

/* @param index  of the entry: version 3 counts starts from their own field */
uint8_t *sframe_put_entry(uint8_t *to, struct sframe_format format,
                          const struct sframe_entry *entry, uint32_t index);

/* The attribute before a function's rows; nothing in versions 1 and 2. */
uint8_t *sframe_put_attribute(uint8_t *to, struct sframe_format format,
                              const struct sframe_entry *entry);

/* @param rule  expressible in this version, as a flexible row if the entry is flexible */
uint8_t *sframe_put_row(uint8_t *to, struct sframe_format format, const struct sframe_entry *entry,
                        uint32_t start, const struct sfb_rule *rule);

#endif
