#include "symbols/code.h"

#include <gelf.h>
#include <limits.h>

bool object_code_make(struct object_code *out, Elf *elf, uint64_t shift)
{
    struct object_ranges ranges = { NULL, 0, 0 };
    GElf_Phdr header;
    size_t count;

    *out = (struct object_code){ .shift = shift };
    if (elf_getphdrnum(elf, &count) != 0)
        return true;
    for (size_t i = 0; i < count && i < INT_MAX; i++)
        /*
         * Segments at 0 are skipped: dead code has addresses there, and so have the headers of a
         * file.
         */
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            (header.p_flags & PF_X) &&
            !object_ranges_add(&ranges, header.p_vaddr + (header.p_vaddr == 0),
                               header.p_vaddr + header.p_memsz, 0)) {
            object_ranges_free(&ranges);
            return false;
        }
    return object_spans_make(&out->spans, &ranges, OBJECT_LAST_START);
}

bool object_code_has(const struct object_code *code, uint64_t address)
{
    return code->spans.count == 0 ||
           object_spans_find(&code->spans, address - code->shift) != OBJECT_NO_SPAN;
}

void object_code_free(struct object_code *code)
{
    object_spans_free(&code->spans);
}
