/*
 * What the kernel's reader wants of its own table, beside what others do: version 3, and no flexible
 * rows. It finds the table by symbols of its linker script: there is no segment, and no .eh_frame.
 * (That starts and rows ascend, flags and the auxiliary header are judged elsewhere; arguments.c makes
 * errors of them.)
 *
 * Source: "unwind_user/sframe" and "arm64: sframe" on the kernel's lists, versions of 2025 and 2026.
 */
#include "check.h"

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
