/*
 * Demands of the kernel's reader for its own table, beyond other readers': version 3, no flexible
 * rows. It finds the table by symbols of its linker script, without a segment or .eh_frame. (Other
 * files judge the order of starts and rows, flags and the auxiliary header; arguments.c makes these
 * errors.)
 *
 * Source: "unwind_user/sframe" and "arm64: sframe" on the kernel's lists, versions of 2025 and
 * 2026.
 */
#include "toolchain/check/check.h"

enum { KERNEL_VERSION = 3 };

void check_kernel(struct check *c)
{
    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];

        if (p->version->number != KERNEL_VERSION)
            findings_add(c->findings, CODE_KERNEL_VERSION, in_sframe(p->offset + AT_HEADER_VERSION),
                         "%u", p->version->number);
        for (uint32_t k = 0; k < p->fde_count; k++)
            if (p->version->has_attribute && sframe_is_flex(&p->entries[k]))
                findings_add(c->findings, CODE_KERNEL_FLEX,
                             place_of_entry(p, &p->entries[k], FIELD_INFO2), "info 0x%02x",
                             p->entries[k].info2);
    }
}
