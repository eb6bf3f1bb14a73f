#include "cfi_place.h"

#include <sfb/abi.h>
#include <sfb/eh_frame.h>

static struct cfi_place none(const char *reason)
{
    return (struct cfi_place){ .result = CFI_PLACE_NONE, .reason = reason };
}

static struct cfi_place by_section(const struct object *o, size_t index)
{
    const struct object_section *s = &o->sections[index];

    if (s->header.sh_type == SHT_NOBITS)
        return none("this file has no bytes of .eh_frame");
    if ((s->header.sh_flags & SHF_COMPRESSED) != 0)
        return none(".eh_frame is compressed");
    if (!object_bytes(o, s))
        return none(".eh_frame ends past the file");
    if (s->header.sh_size == 0)
        return none(".eh_frame is empty");
    return (struct cfi_place){ .section = index,
                               .address = s->address,
                               .offset = s->header.sh_offset,
                               .size = s->header.sh_size };
}

/* The segment that loads a byte of the file to an address. */
static const GElf_Phdr *segment_of(const struct object *o, uint64_t address)
{
    for (size_t i = 0; i < o->phdr_count; i++) {
        const GElf_Phdr *p = &o->phdrs[i];

        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz &&
            p->p_offset <= o->size && p->p_filesz <= o->size - p->p_offset)
            return p;
    }
    return NULL;
}

/* @return where the last entry of the table ends; 0: none can be read */
static uint64_t end_of_entries(const struct sfb_eh_frame *eh)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < eh->count; i++) {
        struct sfb_cfi_fde fde;

        if (sfb_eh_frame_fde(eh, i, &fde, NULL) == SFB_OK && fde.program_end > end)
            end = fde.program_end;
    }
    return end;
}

static struct cfi_place by_segment(const struct object *o, const GElf_Phdr *hdr)
{
    const GElf_Phdr *load = segment_of(o, hdr->p_vaddr);
    struct sfb_eh_frame eh;
    uint64_t end;

    if (!load)
        return none("no section headers, and no segment loads PT_GNU_EH_FRAME");
    if (sfb_eh_frame_open(&eh, o->image + load->p_offset, load->p_filesz, load->p_vaddr,
                          hdr->p_vaddr, (enum sfb_abi)o->abi, NULL) != SFB_OK)
        return none("no section headers, and PT_GNU_EH_FRAME has no table that can be read");
    end = end_of_entries(&eh);
    if (eh.frames < load->p_vaddr || eh.frames - load->p_vaddr >= end)
        return none("no section headers, and PT_GNU_EH_FRAME leads to no entry");
    return (struct cfi_place){ .address = eh.frames,
                               .offset = load->p_offset + (eh.frames - load->p_vaddr),
                               .size = end - (eh.frames - load->p_vaddr) };
}

static const GElf_Phdr *find_header(const struct object *o)
{
    for (size_t i = 0; i < o->phdr_count; i++)
        if (o->phdrs[i].p_type == PT_GNU_EH_FRAME)
            return &o->phdrs[i];
    return NULL;
}

struct cfi_place cfi_place_find(const struct object *object)
{
    const size_t section = object_section_after(object, 0, ".eh_frame");
    const GElf_Phdr *hdr = object->section_count == 0 ? find_header(object) : NULL;

    if (section == 0 && !hdr)
        return none(object->section_count == 0 ? "no section headers, and no PT_GNU_EH_FRAME"
                                               : "no section .eh_frame");
    if (object->abi < SFB_ABI_AARCH64_BE || object->abi > SFB_ABI_AMD64_LE)
        return (struct cfi_place){ .result = CFI_PLACE_MACHINE,
                                   .reason = "only x86-64 and AArch64 are compared" };
    return section != 0 ? by_section(object, section) : by_segment(object, hdr);
}
