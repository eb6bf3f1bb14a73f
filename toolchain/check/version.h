/*
 * Differences between format versions, as data.
 *
 * The checker has constants of its own: it must read what the library's reader refuses, and go on
 * behind the first fault. tests/golden compares both readers with objdump.
 */
#ifndef TOOLCHAIN_CHECK_VERSION_H
#define TOOLCHAIN_CHECK_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SFRAME_MAGIC = 0xdee2,
    SFRAME_HEADER_SIZE = 28,
    SFRAME_ALIGNMENT = 8,

    SFRAME_SORTED = 0x1,
    SFRAME_FRAME_POINTER = 0x2,
    SFRAME_START_PCREL = 0x4,

    SFRAME_ABI_S390X = 4,

    SFRAME_PLT_ENTRY = 16, /* the period of PCMASK in version 1, which has no field for it */
    SFRAME_WORDS_MAX = 15  /* the maximum of a four-bit count */
};

/* Offsets of the header's fields. */
enum {
    AT_HEADER_MAGIC = 0,
    AT_HEADER_VERSION = 2,
    AT_HEADER_FLAGS = 3,
    AT_HEADER_ABI = 4,
    AT_HEADER_FIXED_FP = 5,
    AT_HEADER_FIXED_RA = 6,
    AT_HEADER_AUX = 7,
    AT_HEADER_FDES = 8,
    AT_HEADER_FRES = 12,
    AT_HEADER_FRE_SIZE = 16,
    AT_HEADER_FDE_AT = 20,
    AT_HEADER_FRE_AT = 24
};

/* Bits of sfde_func_info, of the second info byte, and of sfre_info. */
enum {
    FUNCTION_ROW_TYPE = 0x0f,
    FUNCTION_PCMASK = 0x10,
    FUNCTION_KEY_B = 0x20,
    FUNCTION_SIGNAL = 0x80,
    FUNCTION_TYPE = 0x1f,
    FUNCTION_TYPE_FLEX = 1,
    ROW_TYPE_MAX = 2,

    ROW_BASE_SP = 0x01,
    ROW_MANGLED = 0x80,
    ROW_WIDTH_UNKNOWN = 3
};

struct sframe_version {
    uint8_t number;
    uint8_t flags;       /* all defined flags */
    uint8_t abi_max;     /* ABIs are numbered from 1 */
    uint8_t entry_size;  /* bytes of a table entry */
    uint8_t start_size;  /* bytes of its start */
    uint8_t info_unused; /* bits of sfde_func_info */
    uint8_t least_words; /* minimum in a row */
    bool has_attribute;  /* count and info precede the rows instead of standing in the entry */
    bool has_repeat_size;
    bool has_padding;  /* two bytes at the end of an entry */
    bool always_pcrel; /* field-relative starts even without the flag */
};

/* @return NULL: unknown version */
const struct sframe_version *sframe_version_find(uint8_t number);

/* Bytes of the attribute before a function's rows; 0 in versions 1 and 2. */
uint32_t sframe_attribute_size(const struct sframe_version *version);

#endif
