/* What a reader of one release takes: --reader. */
#ifndef TOOLCHAIN_CHECK_READER_H
#define TOOLCHAIN_CHECK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_reader {
    const char *name;
    uint8_t versions;   /* a bit for each that it reads: 1 << version */
    uint8_t needs;      /* flags without which it refuses the section */
    uint8_t refuses;    /* flags that it does not know */
    bool needs_segment; /* it finds the section by PT_GNU_SFRAME */
    bool needs_plain;   /* entries right behind the header, and rows behind them */
    bool no_aux;        /* it refuses an auxiliary header */
    bool strict_rows;   /* it refuses two rows at one byte */
    uint32_t ignores;   /* a bit for each byte of the header that it does not use: 1 << offset */
    bool field_starts;  /* it takes starts for field-relative, whatever the flags say */
    bool no_flexible;   /* it refuses flexible rows */
    bool divides;       /* by the repeat size, 0, too */
};

/* Writes all names, "a, b, c". @return out */
const char *check_reader_names(char *out, size_t size);

/* @return NULL: unknown */
const struct check_reader *check_reader_find(const char *name);

#endif
