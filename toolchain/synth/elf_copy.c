#include "toolchain/synth/elf_copy.h"

#include "toolchain/synth/elf_room.h"

enum {
    PAGE_MIN = 4096,
    MOVED_ALIGN = 16 /* no section that moves asks for more */
};

/* The largest pages that the file itself is made for; no larger than any kernel's. */
static uint64_t page_size(const struct object *f)
{
    uint64_t page = f->abi == SFB_ABI_AMD64_LE ? PAGE_MIN : 65536;

    for (size_t i = 0; i < f->phdr_count; i++)
        while (f->phdrs[i].p_type == PT_LOAD && page > PAGE_MIN && f->phdrs[i].p_align < page)
            page /= 2;
    return page;
}

/* The address of the program headers' end, in the segment that they are loaded with. */
static uint64_t table_end(const struct object *f, const GElf_Phdr *segment)
{
    return segment->p_vaddr + f->header.e_phoff + f->phdr_count * sizeof(Elf64_Phdr) -
           segment->p_offset;
}

static const GElf_Phdr *table_segment(const struct object *f)
{
    const uint64_t end = f->header.e_phoff + f->phdr_count * sizeof(Elf64_Phdr);

    for (size_t i = 0; i < f->phdr_count; i++) {
        const GElf_Phdr *p = &f->phdrs[i];

        if (p->p_type == PT_LOAD && p->p_offset <= f->header.e_phoff && end > p->p_offset &&
            end - p->p_offset <= p->p_filesz)
            return p;
    }
    return NULL;
}

/* What a segment names has to move as a whole or not at all. */
static bool is_torn(const struct elf_move *move, const GElf_Phdr *p)
{
    const uint64_t end = p->p_vaddr + p->p_filesz;

    return move->size > 0 && p->p_filesz > 0 && p->p_vaddr < move->from + move->size &&
           end > move->from && (p->p_vaddr < move->from || end > move->from + move->size);
}

static bool judge_segments(const struct elf_copy *copy, struct object_fault *fault,
                           const struct object *f)
{
    for (size_t i = 0; i < f->phdr_count; i++) {
        const GElf_Phdr *p = &f->phdrs[i];

        if (p->p_type != PT_LOAD && p->p_type != PT_PHDR &&
            (is_torn(&copy->near, p) || is_torn(&copy->far, p)))
            return object_fault_set(
                fault, object_segment_header_at(f, i) + offsetof(Elf64_Phdr, p_vaddr), "p_vaddr",
                "what stands behind the program headers is not to be moved");
    }
    return true;
}

static bool plan_room(struct elf_copy *copy, struct object_fault *fault, const struct object *f)
{
    const size_t more = object_segment(f, SFB_PT_GNU_SFRAME) ? 1 : 2;
    const GElf_Phdr *segment = table_segment(f);

    copy->phdr_count = f->phdr_count + more;
    if (!segment)
        return object_fault_set(fault, offsetof(Elf64_Ehdr, e_phoff), "e_phoff",
                                "the program headers are not loaded");
    if (f->names == 0)
        return object_fault_set(fault, offsetof(Elf64_Ehdr, e_shnum), "e_shnum",
                                "no section headers, which say what may move");
    if (copy->phdr_count >= PN_XNUM ||
        !elf_room_find(&copy->near, &copy->far, f, segment, table_end(f, segment),
                       more * sizeof(Elf64_Phdr)))
        return object_fault_set(fault, offsetof(Elf64_Ehdr, e_phnum), "e_phnum",
                                "no room for more program headers, and none can be made");
    copy->far.to = copy->address + copy->far.from % MOVED_ALIGN;
    return judge_segments(copy, fault, f);
}

static void extend(uint64_t *end, uint64_t offset, uint64_t size)
{
    if (size > 0 && size <= UINT64_MAX - offset && *end < offset + size)
        *end = offset + size;
}

/* Whether anything but zeros stands behind what the file speaks of: archives are put there. */
static bool has_attachment(const struct object *f)
{
    uint64_t end = f->header.e_shoff + f->section_count * sizeof(Elf64_Shdr);

    for (size_t i = 0; i < f->phdr_count; i++)
        extend(&end, f->phdrs[i].p_offset, f->phdrs[i].p_filesz);
    for (size_t i = 1; i < f->section_count; i++)
        if (f->sections[i].header.sh_type != SHT_NOBITS)
            extend(&end, f->sections[i].header.sh_offset, f->sections[i].header.sh_size);
    while (end < f->size && f->image[end] == 0)
        end++;
    return end < f->size;
}

/*
 * Whether the file is a copy: its last segment ends with .sframe, and behind it are the names of sections and
 * their headers alone.
 */
static bool is_copy(struct elf_copy *out, const struct object *f)
{
    const size_t index = object_section_after(f, 0, ".sframe");
    const GElf_Shdr *s = index ? &f->sections[index].header : NULL;
    const GElf_Phdr *last = NULL;
    uint64_t end;

    for (size_t i = 0; i < f->phdr_count; i++)
        if (f->phdrs[i].p_type == PT_LOAD)
            last = &f->phdrs[i];
    if (!s || !last || last->p_flags != PF_R || last->p_filesz != last->p_memsz ||
        s->sh_offset < last->p_offset ||
        s->sh_addr - last->p_vaddr != s->sh_offset - last->p_offset ||
        s->sh_addr + s->sh_size != last->p_vaddr + last->p_filesz)
        return false;
    end = last->p_offset + last->p_filesz;
    for (size_t i = 1; i < f->section_count; i++)
        if (i != f->names && f->sections[i].header.sh_type != SHT_NOBITS &&
            f->sections[i].header.sh_offset + f->sections[i].header.sh_size > end)
            return false;
    for (size_t i = 0; i < f->phdr_count; i++)
        if (f->phdrs[i].p_offset + f->phdrs[i].p_filesz > end)
            return false;
    if (f->header.e_shoff < end)
        return false;
    *out = (struct elf_copy){ .page_size = last->p_align,
                              .address = last->p_vaddr,
                              .offset = last->p_offset,
                              .section_address = s->sh_addr,
                              .kept = s->sh_addr - last->p_vaddr,
                              .phdr_count = f->phdr_count };
    return true;
}

bool elf_copy_plan(struct elf_copy *out, struct object_fault *fault, const struct object *f)
{
    struct elf_copy copy = { .page_size = page_size(f), .offset = elf_align(f->size, MOVED_ALIGN) };
    uint64_t end = 0;

    if (f->names != 0 && is_copy(out, f) && !has_attachment(f))
        return true;
    for (size_t i = 0; i < f->phdr_count; i++)
        if (f->phdrs[i].p_type == PT_LOAD)
            end = f->phdrs[i].p_vaddr + f->phdrs[i].p_memsz;
    /* On a page of its own, as far into it as in the file. */
    copy.address = elf_align(end, copy.page_size) + copy.offset % copy.page_size;
    if (!plan_room(&copy, fault, f))
        return false;
    if (has_attachment(f))
        return object_fault_set(fault, offsetof(Elf64_Ehdr, e_shoff), "e_shoff",
                                "something is attached to the file, and would not be at its end");
    copy.section_address = elf_align(copy.far.size > 0 ? copy.far.to + copy.far.size : copy.address,
                                     ELF_SECTION_ALIGN);
    *out = copy;
    return true;
}
