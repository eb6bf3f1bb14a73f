#include "symbols/code_segment.h"

#include <gelf.h>

enum { PAGE = 4096 };

bool object_code_segment_of(struct object_code_segment *out, Elf *elf)
{
    size_t count = 0;
    GElf_Phdr p;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
            continue;
        *out =
            (struct object_code_segment){ .start = p.p_vaddr - p.p_vaddr % PAGE,
                                          .end = (p.p_vaddr + p.p_memsz + PAGE - 1) / PAGE * PAGE,
                                          .offset = p.p_offset - p.p_offset % PAGE };
        return true;
    }
    return false;
}
