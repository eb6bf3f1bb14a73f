/*
 * The findings of `sfb check`: one code for each kind, stable from release to release.
 *
 * A code is its number. The hundreds are the level that finds it; no number is ever reused. The texts
 * stand in codes_*.inc: --explain prints them, and a test compares the table of
 * toolchain/docs/CHECKS.md with `sfb check --explain table`.
 */
#ifndef TOOLCHAIN_CHECK_CODES_H
#define TOOLCHAIN_CHECK_CODES_H

#include <stddef.h>
#include <stdio.h>

enum check_severity { CHECK_NOTE, CHECK_WARNING, CHECK_ERROR };

enum check_code {
    /* level 1: the header, and the ELF headers of the section */
    CODE_MAGIC = 101,
    CODE_HEADER_CUT = 102,
    CODE_VERSION = 103,
    CODE_FLAGS = 104,
    CODE_ABI = 105,
    CODE_ABI_ORDER = 106,
    CODE_ABI_MACHINE = 107,
    CODE_FIXED_RA = 108,
    CODE_FIXED_FP = 109,
    CODE_AUX = 110,
    CODE_AUX_CUT = 111,
    CODE_FDES_CUT = 112,
    CODE_FRES_CUT = 113,
    CODE_TABLES_OVERLAP = 114,
    CODE_UNUSED_BYTES = 115,
    CODE_ROW_TOTAL = 116,
    CODE_TRAILING = 117,
    CODE_TRAILING_ZEROS = 118,
    CODE_CONCATENATED = 119,
    CODE_EMPTY = 120,
    CODE_NO_FUNCTIONS = 121,
    CODE_FRAME_POINTER = 122,
    CODE_NOT_PCREL = 123,
    CODE_SECTION_TYPE = 131,
    CODE_NOT_ALLOCATED = 132,
    CODE_SECTION_FLAGS = 133,
    CODE_ALIGNMENT = 134,
    CODE_NO_BITS = 135,
    CODE_NO_SEGMENT = 136,
    CODE_SEGMENT_ELSEWHERE = 137,
    CODE_SEGMENT_LARGER = 138,
    CODE_SEGMENT_SMALLER = 139,
    CODE_SEGMENT_DANGLING = 140,
    CODE_SEGMENTS = 141,
    CODE_SECTIONS = 142,
    CODE_NOT_LOADED = 143,
    CODE_TYPE_VERSION = 144,
    CODE_SEGMENT_SIZES = 145,
    CODE_SEGMENT_FLAGS = 146,
    CODE_SEGMENT_ALIGNMENT = 147,
    CODE_SEGMENT_PHYSICAL = 148,
    CODE_ENTRY_SIZE = 149,
    CODE_DEBUG_FILE = 150,

    /* level 2: the entries */
    CODE_NOT_SORTED = 201,
    CODE_SORTED_UNSAID = 202,
    CODE_UNSORTED = 203,
    CODE_OVERLAP = 204,
    CODE_DUPLICATE = 205,
    CODE_SIZE_ZERO = 206,
    CODE_NO_ROWS = 207,
    CODE_ROWS_PAST = 208,
    CODE_ROWS_TOO_MANY = 209,
    CODE_ROW_CUT = 210,
    CODE_ROW_TYPE = 211,
    CODE_INFO_BITS = 212,
    CODE_PCMASK_ABI = 213,
    CODE_KEY_ABI = 214,
    CODE_ROW_TYPE_WIDE = 215,
    CODE_PCMASK_SIZE = 216,
    CODE_REPEAT_ZERO = 217,
    CODE_REPEAT_UNUSED = 218,
    CODE_PADDING = 219,
    CODE_ROWS_TORN = 220,
    CODE_UNOWNED = 221,
    CODE_FUNCTION_TYPE = 222,
    CODE_TOO_SHARED = 223,
    CODE_ALL_ONE_START = 224,
    CODE_OUTERMOST = 225,

    /* level 2: the rows */
    CODE_FIRST_ROW = 301,
    CODE_ROWS_DESCEND = 302,
    CODE_ROWS_EQUAL = 303,
    CODE_OFFSET_SIZE = 304,
    CODE_OFFSET_COUNT = 305,
    CODE_MANGLED_ABI = 306,
    CODE_CFA_BELOW = 307,
    CODE_CFA_UNALIGNED = 308,
    CODE_SLOT = 309,
    CODE_SAME_SLOT = 310,
    CODE_PCMASK_ROW = 311,
    CODE_ROW_AFTER_END = 312,
    CODE_PCMASK_FIRST = 313,
    CODE_FLEX = 314,

    /* level 3: the rest of the ELF file */
    CODE_NOT_CODE = 401,
    CODE_IN_SYMBOL = 402,
    CODE_NO_SYMBOL = 403,
    CODE_PAST_SYMBOL = 404,
    CODE_DISCARDED = 405,
    CODE_FIELD_RELATIVE = 406,
    CODE_PLT_UNCOVERED = 407,
    CODE_PLT_PARTLY = 408,
    CODE_PCMASK_PLACE = 409,
    CODE_PLT_PCINC = 410,
    CODE_NO_RELOCATION = 411,
    CODE_RELOCATION_TYPE = 412,
    CODE_RELOCATION_PLACE = 413,
    CODE_RELOCATION_SYMBOL = 414,
    CODE_RELOCATION_TWICE = 415,
    CODE_OBJECT_SORTED = 416,
    CODE_PLACE_NOT_ZERO = 417,
    CODE_UNCOVERED = 418,

    /* level 4: .eh_frame */
    CODE_CFA_DIFFERS = 501,
    CODE_RA_DIFFERS = 502,
    CODE_FP_DIFFERS = 503,
    CODE_SIGNED_DIFFERS = 504,
    CODE_NOT_COVERED = 505,
    CODE_PARTLY_COVERED = 506,
    CODE_INEXPRESSIBLE = 507,
    CODE_NO_CFI_HERE = 508,
    CODE_ROW_INEXPRESSIBLE = 509,
    CODE_CFI_UNREADABLE = 510,
    CODE_KEY_DIFFERS = 511,
    CODE_NO_EH_FRAME = 512,
    CODE_ROW_REPEATS = 513,
    CODE_SIGNAL_DIFFERS = 514,
    CODE_CFI_MACHINE = 515,
    CODE_LOST = 516,

    /* options of the caller: --require, --min-coverage, --kernel */
    CODE_REQUIRED = 601,
    CODE_COVERAGE = 602,
    CODE_KERNEL_VERSION = 603,
    CODE_KERNEL_FLEX = 604,
    CODE_READER = 605,
    CODE_READER_TAKES = 606,

    /* one fault that explains many findings */
    CODE_CAUSE_STARTS = 701,
    CODE_CAUSE_SHIFT = 702,
    CODE_CAUSE_VERSION = 703,
    CODE_CAUSE_TABLE = 704,
    CODE_CAUSE_NO_CFI = 705,
    CODE_CAUSE_PART = 706,
    CODE_CAUSE_NEIGHBOUR = 707,
    CODE_CAUSE_ROWS_AT = 708,
    CODE_CAUSE_ROW_VALUE = 709,
    CODE_CAUSE_ROW_START = 710,
    CODE_CAUSE_HEADER = 711,
    CODE_CAUSE_ENTRY_SIZE = 712,
    CODE_CAUSE_BYTES = 713,
    CODE_CAUSE_ORDER = 714,
    CODE_CAUSE_FOREIGN = 715,
    CODE_CAUSE_RELOCATION = 716,
    CODE_CAUSE_TWICE = 717,
    CODE_CAUSE_OUTERMOST = 718,
    CODE_CAUSE_SIZES = 719,
    CODE_CAUSE_ADDRESS = 720,
    CODE_CAUSE_INFO = 721,
    CODE_CAUSE_LOST = 722,

    /* the machine code */
    CODE_INSN_CFA = 801,
    CODE_INSN_RA = 802,
    CODE_INSN_FP = 803,
    CODE_INSN_SIGNED = 804,
    CODE_INSN_ROW = 805,
    CODE_INSN_END = 806,
    CODE_INSN_RETURN = 807,
    CODE_INSN_CALL = 808,
    CODE_INSN_JUMP = 809,
    CODE_INSN_LOST = 810,
    CODE_INSN_BRIEF = 811,
    CODE_INSN_OPEN = 812,
    CODE_INSN_KEY = 813,
    CODE_INSN_SIGNAL = 814,
    CODE_INSN_OUTERMOST = 815,
    CODE_INSN_FOLLOWED = 820
};

struct check_code_text {
    enum check_code code;
    enum check_severity severity;
    const char *title;
    const char *what;    /* the meaning; its first sentence stands alone in the table */
    const char *why;     /* it matters */
    const char *writers; /* the producers of such sections */
    const char *repeat;  /* a recipe for one */
};

enum { CHECK_CODE_SIZE = 7 }; /* "SF0101" and its zero */

extern const struct check_code_text check_codes[];
extern const size_t check_code_count;

/* The index of a code in check_codes; it must be one of the enumeration. */
size_t check_code_index(enum check_code code);

const struct check_code_text *check_code_text(enum check_code code);

/* "SF0101", into CHECK_CODE_SIZE bytes. */
void check_code_name(char *out, enum check_code code);

const char *check_severity_name(enum check_severity severity);

/* @param name "SF0101", in any case. @return NULL: unknown */
const struct check_code_text *check_code_find(const char *name);

/* The reproducers of toolchain/tests/check with this finding, by release. @return NULL: not seen */
const char *check_code_seen(enum check_code code);

/* Prints all texts of a code, as a section in Markdown. */
void check_code_explain(FILE *to, const struct check_code_text *text);

/* Prints one line for each code, as a table in Markdown: toolchain/docs/CHECKS.md has it. */
void check_code_table(FILE *to);

#endif
