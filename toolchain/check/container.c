/* Level 1: section and segment headers of the ELF file. */
#include <inttypes.h>
#include <stddef.h>

#include "toolchain/check/check.h"
#include "util/counted.h"

static void judge_section(struct check *c, const struct object_section *s)
{
    const struct object *o = c->object;
    const GElf_Shdr *h = &s->header;
    const uint64_t at = s->header_at;

    if (h->sh_type != SHT_PROGBITS && h->sh_type != SFB_SHT_GNU_SFRAME && h->sh_type != SHT_NOBITS)
        findings_add(c->findings, CODE_SECTION_TYPE,
                     in_file(at + OBJECT_SHDR_AT(object_class(o), sh_type)), "sh_type 0x%" PRIx32,
                     h->sh_type);
    if ((h->sh_flags & SHF_ALLOC) == 0)
        findings_add(c->findings, CODE_NOT_ALLOCATED,
                     in_file(at + OBJECT_SHDR_AT(object_class(o), sh_flags)), "sh_flags 0x%" PRIx64,
                     h->sh_flags);
    if ((h->sh_flags & (SHF_WRITE | SHF_EXECINSTR | SHF_COMPRESSED)) != 0)
        findings_add(c->findings, CODE_SECTION_FLAGS,
                     in_file(at + OBJECT_SHDR_AT(object_class(o), sh_flags)), "sh_flags 0x%" PRIx64,
                     h->sh_flags);
    if (h->sh_entsize != 0)
        findings_add(c->findings, CODE_ENTRY_SIZE,
                     in_file(at + OBJECT_SHDR_AT(object_class(o), sh_entsize)),
                     "sh_entsize %" PRIu64, h->sh_entsize);
    if (h->sh_addralign % SFRAME_ALIGNMENT != 0 || h->sh_addralign == 0)
        findings_add(c->findings, CODE_ALIGNMENT,
                     in_file(at + OBJECT_SHDR_AT(object_class(o), sh_addralign)),
                     "sh_addralign %" PRIu64, h->sh_addralign);
    else if (!o->relocatable && h->sh_addr % SFRAME_ALIGNMENT != 0)
        findings_add(c->findings, CODE_ALIGNMENT,
                     in_file(at + OBJECT_SHDR_AT(object_class(o), sh_addr)), "sh_addr 0x%" PRIx64,
                     h->sh_addr);
}

/* The place of a field in a program header. */
#define PHDR_FIELD(c, at, field) in_file((at) + OBJECT_PHDR_AT(object_class((c)->object), field))

/*
 * Reports a segment with another size than the section, at the first of its two size fields that
 * differs.
 */
static void judge_size(struct check *c, const GElf_Phdr *p, uint64_t at, uint64_t size)
{
    const bool smaller = p->p_filesz < size || p->p_memsz < size;
    const struct finding_place place = (smaller ? p->p_filesz < size : p->p_filesz > size)
                                           ? PHDR_FIELD(c, at, p_filesz)
                                           : PHDR_FIELD(c, at, p_memsz);

    if (smaller || p->p_filesz > size || p->p_memsz > size)
        findings_add(c->findings, smaller ? CODE_SEGMENT_SMALLER : CODE_SEGMENT_LARGER, place,
                     "%s, %" PRIu64 " in memory; the section has %" PRIu64,
                     counted(p->p_filesz, "bytes").text, p->p_memsz, size);
}

/* The PT_LOAD that contains a segment; NULL: none. */
static const GElf_Phdr *load_of(const struct object *o, const GElf_Phdr *p)
{
    for (size_t i = 0; i < o->phdr_count; i++) {
        const GElf_Phdr *l = &o->phdrs[i];

        if (l->p_type == PT_LOAD && p->p_vaddr >= l->p_vaddr &&
            p->p_vaddr - l->p_vaddr < l->p_memsz)
            return l;
    }
    return NULL;
}

/* Checks the segment's own fields, with or without a section. */
static void judge_segment_alone(struct check *c, const GElf_Phdr *p, uint64_t at)
{
    const GElf_Phdr *load = load_of(c->object, p);

    if (p->p_filesz != p->p_memsz)
        findings_add(c->findings, CODE_SEGMENT_SIZES, PHDR_FIELD(c, at, p_memsz),
                     "%s, %" PRIu64 " in memory", counted(p->p_filesz, "bytes").text, p->p_memsz);
    if (p->p_flags != PF_R)
        findings_add(c->findings, CODE_SEGMENT_FLAGS, PHDR_FIELD(c, at, p_flags),
                     "p_flags 0x%" PRIx32, p->p_flags);
    if (p->p_align % SFRAME_ALIGNMENT != 0 || p->p_align == 0)
        findings_add(c->findings, CODE_SEGMENT_ALIGNMENT, PHDR_FIELD(c, at, p_align),
                     "p_align %" PRIu64, p->p_align);
    if (load && p->p_paddr - p->p_vaddr != load->p_paddr - load->p_vaddr)
        findings_add(c->findings, CODE_SEGMENT_PHYSICAL, PHDR_FIELD(c, at, p_paddr),
                     "0x%" PRIx64 "; what loads it has 0x%" PRIx64, p->p_paddr,
                     load->p_paddr + (p->p_vaddr - load->p_vaddr));
}

static void judge_segment(struct check *c, const struct object_section *s, const GElf_Phdr *p,
                          uint64_t at)
{
    const GElf_Shdr *h = &s->header;

    if (p->p_vaddr != h->sh_addr || p->p_offset != h->sh_offset)
        findings_add(
            c->findings, CODE_SEGMENT_ELSEWHERE,
            p->p_vaddr != h->sh_addr ? PHDR_FIELD(c, at, p_vaddr) : PHDR_FIELD(c, at, p_offset),
            "address 0x%" PRIx64 ", offset 0x%" PRIx64 "; the section: 0x%" PRIx64 ", 0x%" PRIx64,
            p->p_vaddr, p->p_offset, h->sh_addr, h->sh_offset);
    else
        judge_size(c, p, at, h->sh_size);
}

static bool is_loaded(const struct object *o, uint64_t address, uint64_t offset, uint64_t size)
{
    for (size_t i = 0; i < o->phdr_count; i++) {
        const GElf_Phdr *p = &o->phdrs[i];

        if (p->p_type == PT_LOAD && address >= p->p_vaddr && size <= p->p_filesz &&
            address - p->p_vaddr <= p->p_filesz - size &&
            offset - p->p_offset == address - p->p_vaddr)
            return true;
    }
    return false;
}

/* @return the index of the first PT_GNU_SFRAME, or the number of segments */
static size_t judge_segments(struct check *c)
{
    const struct object *o = c->object;
    size_t first = o->phdr_count;

    for (size_t i = 0; i < o->phdr_count; i++) {
        if (o->phdrs[i].p_type != SFB_PT_GNU_SFRAME)
            continue;
        if (first == o->phdr_count)
            first = i;
        else
            findings_add(c->findings, CODE_SEGMENTS, in_file(object_segment_header_at(o, i)),
                         "program headers %zu and %zu", first, i);
    }
    return first;
}

/* objcopy --only-keep-debug keeps the headers of loaded sections, without bytes. */
static bool is_debug_file(const struct object *o)
{
    const size_t text = object_section_after(o, 0, ".text");

    return text != 0 && o->sections[text].header.sh_type == SHT_NOBITS;
}

void check_container(struct check *c)
{
    const struct object *o = c->object;
    const size_t index = object_section_after(o, 0, ".sframe"), segment = judge_segments(c);
    const struct object_section *s = index ? &o->sections[index] : NULL;
    size_t more = index;

    if (segment < o->phdr_count && (!s || s->header.sh_type != SHT_NOBITS))
        judge_segment_alone(c, &o->phdrs[segment], object_segment_header_at(o, segment));
    if (!s) {
        if (segment < o->phdr_count && o->section_count > 0)
            findings_add(
                c->findings, CODE_SEGMENT_DANGLING, in_file(object_segment_header_at(o, segment)),
                "address 0x%" PRIx64 ", %s, and no section .sframe", o->phdrs[segment].p_vaddr,
                counted(o->phdrs[segment].p_filesz, "bytes").text);
        return;
    }
    while (!o->relocatable && (more = object_section_after(o, more, ".sframe")) != 0)
        findings_add(c->findings, CODE_SECTIONS, in_file(o->sections[more].header_at),
                     "sections %zu and %zu; only the first is checked", index, more);
    if (s->header.sh_type == SHT_NOBITS) {
        findings_add(c->findings, is_debug_file(o) ? CODE_DEBUG_FILE : CODE_NO_BITS,
                     in_file(s->header_at + OBJECT_SHDR_AT(object_class(o), sh_type)),
                     "SHT_NOBITS");
        return;
    }
    judge_section(c, s);
    if (o->relocatable)
        return;
    if (segment == o->phdr_count && !c->options->kernel)
        findings_add(c->findings, CODE_NO_SEGMENT, in_file(s->header_at),
                     "section %zu has no program header", index);
    else if (segment < o->phdr_count)
        judge_segment(c, s, &o->phdrs[segment], object_segment_header_at(o, segment));
    if (!is_loaded(o, s->header.sh_addr, s->header.sh_offset, s->header.sh_size))
        findings_add(c->findings, CODE_NOT_LOADED,
                     in_file(s->header_at + OBJECT_SHDR_AT(object_class(o), sh_addr)),
                     "[0x%" PRIx64 ", 0x%" PRIx64 ")", s->header.sh_addr,
                     s->header.sh_addr + s->header.sh_size);
}

/*
 * Compares the section's type with the version, which is known once the section is read.
 *
 * binutils up to 2.44 writes version 1 and section-relative version 2, and has no type for the
 * section. Later releases write version 3 and have one. For field-relative version 2 both are
 * accepted.
 */
void check_section_type(struct check *c, const struct object_section *section)
{
    const struct sframe_part *p = &c->parts[0];
    const uint32_t type = section->header.sh_type;
    const bool older = p->version->number < 3 && (p->flags & SFRAME_START_PCREL) == 0;

    if ((type == SHT_PROGBITS && p->version->number == 3) || (type == SFB_SHT_GNU_SFRAME && older))
        findings_add(c->findings, CODE_TYPE_VERSION,
                     in_file(section->header_at + OBJECT_SHDR_AT(object_class(c->object), sh_type)),
                     "sh_type 0x%" PRIx32 " (%s), version %u%s", type,
                     type == SHT_PROGBITS ? "SHT_PROGBITS" : "SHT_GNU_SFRAME", p->version->number,
                     p->version->number == 2 ? " with starts from the section" : "");
}
