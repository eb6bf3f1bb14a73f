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
    bool needs_plain;   /* no auxiliary header, and entries right behind the header */
    bool field_starts;  /* it takes starts for field-relative, whatever the flags say */
    bool no_flexible;   /* it refuses flexible rows */
    bool divides;       /* by the repeat size, 0, too */
};

/* @return NULL: unknown */
const struct check_reader *check_reader_find(const char *name);

#endif
