/*
 * Room for more program headers.
 *
 * Only a few sections may move: the ones whose every reference is known. .interp and notes are found
 * through program headers. They stay on the first page, where readers of core files look for the build-id. The hash tables and .dynsym are
 * found through the dynamic section.
 */
#include "toolchain/synth/elf_room.h"

#include <stdlib.h>

enum mobility { STAYS, NEAR, FAR };

/* The loaded sections from the end of the program headers on, by address. */
struct neighbours {
    const struct object *object;
    const GElf_Phdr *segment; /* the one with the program headers */
    const Elf64_Shdr **section;
    size_t count;
};

/* What becomes of a section; places change by multiples of 8. */
static enum mobility mobility(const struct neighbours *n, size_t index)
{
    const GElf_Shdr *s = n->section[index];
    const GElf_Phdr *interp = object_segment(n->object, PT_INTERP);
    const uint64_t place = s->sh_addr - n->segment->p_vaddr;

    if (place != s->sh_offset - n->segment->p_offset || place > n->segment->p_filesz ||
        s->sh_size > n->segment->p_filesz - place || s->sh_addralign > 8)
        return STAYS;
    switch (s->sh_type) {
    case SHT_NOTE: return NEAR;
    case SHT_PROGBITS: return interp && interp->p_vaddr == s->sh_addr ? NEAR : STAYS;
    case SHT_GNU_HASH:
    case SHT_HASH:
    case SHT_DYNSYM: return FAR;
    default: return STAYS;
    }
}

static int by_address(const void *a, const void *b)
{
    const Elf64_Shdr *x = *(const Elf64_Shdr *const *)a, *y = *(const Elf64_Shdr *const *)b;

    return x->sh_addr < y->sh_addr ? -1 : x->sh_addr > y->sh_addr;
}

static bool find_neighbours(struct neighbours *out, const struct object *f,
                            const GElf_Phdr *segment, uint64_t from)
{
    out->object = f;
    out->segment = segment;
    out->count = 0;
    out->section = calloc(f->section_count, sizeof *out->section);
    if (!out->section)
        return false;
    for (size_t i = 1; i < f->section_count; i++) {
        const GElf_Shdr *s = &f->sections[i].header;

        if ((s->sh_flags & SHF_ALLOC) && s->sh_addr + s->sh_size > from)
            out->section[out->count++] = s;
    }
    qsort(out->section, out->count, sizeof *out->section, by_address);
    return true;
}

static uint64_t end_of(const struct neighbours *n, size_t index)
{
    return n->section[index]->sh_addr + n->section[index]->sh_size;
}

/* Where the first section lies that stays, if those before it go; the segment ends, too. */
static uint64_t limit(const struct neighbours *n, size_t index)
{
    uint64_t end = n->segment->p_vaddr + n->segment->p_filesz;

    return index < n->count && n->section[index]->sh_addr < end ? n->section[index]->sh_addr : end;
}

/*
 * Tries to move the sections from an index on away, as few as there must be for what stands before
 * them (or the program headers) to end at `needed`.
 */
static bool clear(struct elf_move *out, const struct neighbours *n, size_t first, uint64_t needed)
{
    size_t next = first;
    uint64_t end = 0;

    while (limit(n, next) < needed) {
        if (next == n->count || mobility(n, next) == STAYS)
            return false;
        if (end < end_of(n, next))
            end = end_of(n, next);
        next++;
    }
    *out = (struct elf_move){ .from = 0 };
    if (next > first) {
        out->from = n->section[first]->sh_addr;
        out->size = end - out->from;
    }
    return end <= limit(n, next);
}

static bool find_room(struct elf_move *near, struct elf_move *far, const struct neighbours *n,
                      uint64_t table_end, uint64_t more)
{
    uint64_t end = table_end;
    size_t keep = 0;

    if (n->count == 0 || n->section[0]->sh_addr < table_end)
        return false;
    if (limit(n, 0) >= table_end + more)
        return true;
    for (; keep < n->count && mobility(n, keep) == NEAR; keep++)
        if (end < end_of(n, keep))
            end = end_of(n, keep);
    if (keep > 0 && clear(far, n, keep, end + more)) {
        near->from = n->section[0]->sh_addr;
        near->size = end - near->from;
        near->to = near->from + more;
        return true;
    }
    return clear(far, n, 0, table_end + more);
}

bool elf_room_find(struct elf_move *near, struct elf_move *far, const struct object *f,
                   const GElf_Phdr *segment, uint64_t table_end, uint64_t more)
{
    struct neighbours n;
    bool found = find_neighbours(&n, f, segment, table_end);

    *near = *far = (struct elf_move){ .from = 0 };
    found = found && find_room(near, far, &n, table_end, more);
    free(n.section);
    return found;
}
