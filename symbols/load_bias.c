#include "symbols/load_bias.h"

#include <gelf.h>

/* The smallest page size: mappings start at multiples of the loader's. */
enum { PAGE = 4096 };

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

/* @return how well a segment fits a mapping; 0: not at all */
static int fit(const GElf_Phdr *segment, uint64_t offset, bool executable)
{
    if (segment->p_type != PT_LOAD || segment->p_filesz == 0 ||
        page_of(segment->p_offset) > offset ||
        offset - page_of(segment->p_offset) >= segment->p_filesz + PAGE)
        return 0;
    return 1 + (((segment->p_flags & PF_X) != 0) == executable) +
           2 * (offset < segment->p_offset + segment->p_filesz);
}

bool object_bias_of_mapping(Elf *elf, uint64_t start, uint64_t offset, bool executable,
                            uint64_t *out)
{
    size_t count;
    int best = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        int this;

        if (!gelf_getphdr(elf, (int)i, &segment))
            continue;
        this = fit(&segment, offset, executable);
        if (this > best) {
            best = this;
            /* Page offsets of addresses and of the file are the same. */
            *out = start - offset + segment.p_offset - segment.p_vaddr;
        }
    }
    return best > 0;
}

bool object_bias_of_start(Elf *elf, uint64_t start, uint64_t *out)
{
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;

        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        *out = start - page_of(segment.p_vaddr);
        return true;
    }
    return false;
}
