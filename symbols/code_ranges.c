#include "symbols/code_ranges.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct object_range *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void add_code(struct object *o, uint64_t start, uint64_t offset, uint64_t size)
{
    if (offset > o->size || size == 0)
        return;
    if (size > o->size - offset)
        size = o->size - offset;
    if (size <= UINT64_MAX - start)
        o->code[o->code_count++] = (struct object_range){ start, start + size };
}

static void cut_what_overlaps(struct object *o)
{
    for (size_t i = 1; i < o->code_count; i++)
        if (o->code[i].start < o->code[i - 1].end) {
            o->code[i].start = o->code[i - 1].end;
            if (o->code[i].end < o->code[i].start)
                o->code[i].end = o->code[i].start;
        }
}

bool object_find_code(struct object *o)
{
    o->code = calloc(o->phdr_count + o->section_count + 1, sizeof *o->code);
    if (!o->code)
        return false;
    for (size_t i = 0; i < o->phdr_count && !o->relocatable; i++)
        if (o->phdrs[i].p_type == PT_LOAD && (o->phdrs[i].p_flags & PF_X) != 0)
            add_code(o, o->phdrs[i].p_vaddr, o->phdrs[i].p_offset, o->phdrs[i].p_filesz);
    for (size_t i = 1; i < o->section_count && o->relocatable; i++) {
        const GElf_Shdr *s = &o->sections[i].header;

        if ((s->sh_flags & SHF_EXECINSTR) != 0 && (s->sh_flags & SHF_ALLOC) != 0 &&
            s->sh_type != SHT_NOBITS)
            add_code(o, o->sections[i].address, s->sh_offset, s->sh_size);
    }
    qsort(o->code, o->code_count, sizeof *o->code, by_start);
    cut_what_overlaps(o);
    return true;
}

bool object_is_code(const struct object *object, uint64_t start, uint64_t end)
{
    size_t low = 0, high = object->code_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (object->code[middle].end <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < object->code_count && start >= object->code[low].start && end >= start &&
           end <= object->code[low].end;
}

static const uint8_t *in_sections(const struct object *o, uint64_t start, uint64_t size)
{
    for (size_t i = 1; i < o->section_count; i++) {
        const struct object_section *s = &o->sections[i];

        if ((s->header.sh_flags & SHF_EXECINSTR) != 0 && start >= s->address &&
            start - s->address <= s->header.sh_size &&
            size <= s->header.sh_size - (start - s->address) && object_bytes(o, s))
            return o->image + s->header.sh_offset + (start - s->address);
    }
    return NULL;
}

const uint8_t *object_code_at(const struct object *object, uint64_t start, uint64_t size)
{
    const GElf_Phdr *p;

    if (!object_is_code(object, start, start + size))
        return NULL;
    if (object->relocatable)
        return in_sections(object, start, size);
    p = object_segment_at(object, start);
    if (!p || size > p->p_filesz - (start - p->p_vaddr))
        return NULL;
    return object->image + p->p_offset + (start - p->p_vaddr);
}
