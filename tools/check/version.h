/*
 * What differs between the versions of the format, as data.
 *
 * These are the checker's own numbers: it has to read what the library's reader refuses, and to go
 * on behind the first fault. tests/golden holds both readers against objdump.
 */
#ifndef CHECK_VERSION_H
#define CHECK_VERSION_H

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

    SFRAME_PLT_ENTRY = 16, /* what PCMASK repeats by in version 1, which does not say */
    SFRAME_WORDS_MAX = 15  /* what four bits can count */
};

/* Where the fields of the header are. */
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
    uint8_t flags;       /* all that it has */
    uint8_t abi_max;     /* ABIs are numbered from 1 */
    uint8_t entry_size;  /* bytes of an entry of the table of functions */
    uint8_t start_size;  /* of them, the start */
    uint8_t info_unused; /* bits of sfde_func_info */
    uint8_t least_words; /* in a row */
    bool has_attribute;  /* count and info stand before the rows, not in the entry */
    bool has_repeat_size;
    bool has_padding;  /* two bytes at the end of an entry */
    bool always_pcrel; /* flag or not */
};

/* @return NULL: nobody knows that version */
const struct sframe_version *sframe_version_find(uint8_t number);

/* Bytes of the attribute that stands before the rows of a function; 0 where there is none. */
uint32_t sframe_attribute_size(const struct sframe_version *version);

#endif
