/*
 * What differs from version to version, as data. fde.h and fre.h are written once; they take a
 * layout, which is a constant wherever speed counts, so that each version has code of its own after
 * all.
 *
 *     version 1   | start size rows count info                | 17 bytes  -> rows
 *     version 2   | start size rows count info repeat padding | 20        -> rows
 *     version 3   | start size rows | 16        -> | count info info2 repeat | rows
 */
#ifndef SFB_SFRAME_LAYOUT_H
#define SFB_SFRAME_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/load.h"
#include "sfb/section.h"
#include "sframe/format.h"

enum { SFB_VERSION_MIN = 1, SFB_VERSION_MAX = 3 };

struct sfb_layout {
    uint8_t flags; /* mask of the header's defined flags */

    /* A function's entry. */
    uint8_t entry_size;
    uint8_t start_size; /* bytes of the function's start, which comes first */
    uint8_t size_at;    /* where the function's size is */
    uint8_t rows_at;    /* where the offset of its rows is, or that of what stands before them */

    /* The rest of what is said of it: in the entry, or in front of the rows. */
    uint8_t attribute_size; /* 0: in the entry */
    uint8_t count_at;
    uint8_t count_size; /* bytes of the number of rows */
    uint8_t info_at;
    uint8_t info2_at;  /* 0: no such field */
    uint8_t repeat_at; /* 0: no such field: PCMASK functions repeat every 16 bytes */

    uint8_t info_reserved;
    bool pcmask_amd64_only;
    bool rows_may_be_empty; /* a row without words: RA is undefined */
    bool plt_got_is_wrong;  /* the linkers that write this version write it so */

    /*
     * In an unsorted section starts count from their own field, without a flag: it has not been
     * merged. gas writes relocations for them, which are relative to the field; gold, lld and mold 1
     * copy gas's section.
     */
    bool unsorted_is_field_relative;

    const char *start_name, *size_name, *rows_name, *count_name, *info_name, *info2_name,
        *repeat_name;
};

/* Specification of version 1, 1.3; of version 3 (draft of October 2026), 1.3 and 2.3. */
static const struct sfb_layout sfb_layouts[] = {
    [0] = { .flags = SFB_SECTION_FDE_SORTED | SFB_SECTION_FRAME_POINTER,
            .entry_size = 17,
            .start_size = 4,
            .size_at = 4,
            .rows_at = 8,
            .count_at = 12,
            .count_size = 4,
            .info_at = 16,
            .info_reserved = 0xc0,
            .pcmask_amd64_only = true,
            .unsorted_is_field_relative = true,
            .start_name = "sfde_func_start_address",
            .size_name = "sfde_func_size",
            .rows_name = "sfde_func_start_fre_off",
            .count_name = "sfde_func_num_fres",
            .info_name = "sfde_func_info",
            .info2_name = "sfde_func_info",
            .repeat_name = "sfde_func_info" },
    [1] = { .flags =
                SFB_SECTION_FDE_SORTED | SFB_SECTION_FRAME_POINTER | SFB_SECTION_FIELD_RELATIVE,
            .entry_size = 20,
            .start_size = 4,
            .size_at = 4,
            .rows_at = 8,
            .count_at = 12,
            .count_size = 4,
            .info_at = 16,
            .repeat_at = 17,
            .info_reserved = 0xc0,
            .rows_may_be_empty = true, /* Errata 2 */
            .plt_got_is_wrong = true,
            .unsorted_is_field_relative = true,
            .start_name = "sfde_func_start_address",
            .size_name = "sfde_func_size",
            .rows_name = "sfde_func_start_fre_off",
            .count_name = "sfde_func_num_fres",
            .info_name = "sfde_func_info",
            .info2_name = "sfde_func_info",
            .repeat_name = "sfde_func_rep_size" },
    [2] = { .flags = SFB_SECTION_FDE_SORTED | SFB_SECTION_FIELD_RELATIVE,
            .entry_size = 16,
            .start_size = 8,
            .size_at = 8,
            .rows_at = 12,
            .attribute_size = 5,
            .count_at = 0,
            .count_size = 2,
            .info_at = 2,
            .info2_at = 3,
            .repeat_at = 4,
            .info_reserved = 0x40,
            .rows_may_be_empty = true,
            .plt_got_is_wrong = true,
            .start_name = "sfdi_func_start_offset",
            .size_name = "sfdi_func_size",
            .rows_name = "sfdi_func_start_fre_off",
            .count_name = "sfda_func_num_fres",
            .info_name = "sfda_func_info",
            .info2_name = "sfda_func_info2",
            .repeat_name = "sfda_func_rep_size" },
};

/* How the bytes of a section are read: the tests that loops would otherwise repeat. */
struct sfb_reading {
    const struct sfb_layout *layout;
    bool swap;
    bool field_relative; /* a function's start counts from its own field, else from the section */
};

SFB_INLINE struct sfb_reading sfb_reading_of(const struct sfb_section *s)
{
    return (struct sfb_reading){ .layout = &sfb_layouts[s->version - SFB_VERSION_MIN],
                                 .swap = s->swap,
                                 .field_relative = s->field_relative };
}

#endif
