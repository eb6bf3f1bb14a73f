/*
 * libelf reads the headers; the bytes are taken from the image by their offset. elf_getdata() would
 * also convert and decompress, which an SFrame section never needs, and gives NULL buffers and
 * invented sizes for forged files.
 */
#include "symbols/sframe.h"

static enum object_found faulty(struct object_fault *fault, uint64_t offset, const char *field,
                                const char *cause)
{
    object_fault_set(fault, offset, field, cause);
    return OBJECT_FAULTY;
}

static enum object_found take_section(struct object_sframe *out, struct object_fault *fault,
                                      const struct object *o, size_t index)
{
    const struct object_section *s = &o->sections[index];
    const int class = object_class(o);

    if (s->header.sh_type == SHT_NOBITS)
        return faulty(
            fault, s->header_at + OBJECT_SHDR_AT(class, sh_type), "sh_type",
            ".sframe has no bytes in this file (SHT_NOBITS: a file of debug information)");
    if (s->header.sh_flags & SHF_COMPRESSED)
        return faulty(fault, s->header_at + OBJECT_SHDR_AT(class, sh_flags), "sh_flags",
                      ".sframe is compressed, which a loaded section cannot be");
    if (!object_bytes(o, s))
        return faulty(fault, s->header_at + OBJECT_SHDR_AT(class, sh_offset), "sh_offset",
                      ".sframe ends past the file");
    *out =
        (struct object_sframe){ object_bytes(o, s), (size_t)s->header.sh_size, s->address, index };
    return OBJECT_FOUND;
}

enum object_found object_find_sframe_segment(struct object_sframe *out, struct object_fault *fault,
                                             const struct object *o)
{
    for (size_t i = 0; i < o->phdr_count; i++) {
        const GElf_Phdr *p = &o->phdrs[i];

        if (p->p_type != SFB_PT_GNU_SFRAME || p->p_filesz == 0)
            continue;
        if (!object_has(o, p->p_offset, p->p_filesz))
            return faulty(
                fault, object_segment_header_at(o, i) + OBJECT_PHDR_AT(object_class(o), p_offset),
                "p_offset", "PT_GNU_SFRAME ends past the file");
        *out = (struct object_sframe){ o->image + p->p_offset, (size_t)p->p_filesz, p->p_vaddr, 0 };
        return OBJECT_FOUND;
    }
    return OBJECT_ABSENT;
}

enum object_found object_find_sframe(struct object_sframe *out, struct object_fault *fault,
                                     const struct object *o)
{
    const size_t index = object_section_after(o, 0, ".sframe");
    size_t names = 0;

    if (o->section_count > 0 &&
        (elf_getshdrstrndx(o->elf, &names) != 0 || names >= o->section_count))
        return faulty(fault, OBJECT_EHDR_AT(object_class(o), e_shstrndx), "e_shstrndx",
                      "there is no such section");
    return index != 0 ? take_section(out, fault, o, index)
                      : object_find_sframe_segment(out, fault, o);
}
