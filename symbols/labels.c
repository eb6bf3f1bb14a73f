#include "symbols/labels.h"

#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
    const struct object_label *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void add_label(struct object *o, const GElf_Sym *s, const GElf_Shdr *names, unsigned file)
{
    const unsigned type = GELF_ST_TYPE(s->st_info);
    const char *name = object_string(o, names, s->st_name);
    uint64_t start = s->st_value;

    if ((type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) || name[0] == '\0' ||
        name[0] == '$' || s->st_shndx == SHN_UNDEF || s->st_shndx >= o->section_count)
        return;
    if (o->relocatable)
        start += o->sections[s->st_shndx].address;
    if ((o->sections[s->st_shndx].header.sh_flags & SHF_EXECINSTR) != 0)
        o->labels[o->label_count++] =
            (struct object_label){ start,
                                   s->st_size <= UINT64_MAX - start ? start + s->st_size : start,
                                   name, GELF_ST_BIND(s->st_info) == STB_LOCAL ? file : 0 };
}

static bool read_table(struct object *o, size_t index)
{
    const GElf_Shdr *s = &o->sections[index].header;
    Elf_Data *data = elf_getdata(elf_getscn(o->elf, index), NULL);
    const size_t count = data ? data->d_size / gelf_fsize(o->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;

    unsigned files = 0;

    o->labels = calloc(count + 1, sizeof *o->labels);
    if (!o->labels)
        return false;
    for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;

        if (!gelf_getsym(data, (int)i, &symbol))
            continue;
        files += GELF_ST_TYPE(symbol.st_info) == STT_FILE;
        add_label(o, &symbol, &o->sections[s->sh_link].header, files);
    }
    qsort(o->labels, o->label_count, sizeof *o->labels, by_address);
    return true;
}

bool object_read_labels(struct object *o)
{
    for (size_t i = 1; i < o->section_count; i++) {
        const GElf_Shdr *s = &o->sections[i].header;

        /* A file has one such table at most. */
        if (s->sh_type == SHT_SYMTAB && s->sh_link < o->section_count &&
            object_has(o, s->sh_offset, s->sh_size))
            return read_table(o, i);
    }
    return true;
}

const struct object_label *object_label_before(const struct object *object, uint64_t address)
{
    size_t low = 0, high = object->label_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (object->labels[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &object->labels[low - 1] : NULL;
}
