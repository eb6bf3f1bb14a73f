#include "symbols/data_object.h"

#include <stddef.h>

/* Whether a symbol is a better name for the address than the one before. */
static bool is_better(const struct object_data *before, const GElf_Sym *s, bool before_is_local)
{
    if (!before->name || s->st_size != before->size)
        return !before->name || s->st_size < before->size;
    return before_is_local && GELF_ST_BIND(s->st_info) != STB_LOCAL;
}

static void read_table(struct object_data *out, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       uint64_t shift, uint64_t address)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t each = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    const size_t count = data && each > 0 ? data->d_size / each : 0;
    bool is_local = false;

    for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
        GElf_Sym s;
        const char *name;

        if (!gelf_getsym(data, (int)i, &s) || GELF_ST_TYPE(s.st_info) != STT_OBJECT ||
            s.st_shndx == SHN_UNDEF || address < s.st_value - shift ||
            address - (s.st_value - shift) >= s.st_size || !is_better(out, &s, is_local))
            continue;
        name = elf_strptr(elf, header->sh_link, s.st_name);
        if (!name || !name[0])
            continue;
        *out = (struct object_data){ name, s.st_value - shift, s.st_size };
        is_local = GELF_ST_BIND(s.st_info) == STB_LOCAL;
    }
}

static void read_tables(struct object_data *out, Elf *elf, uint64_t shift, uint64_t address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while (elf && (section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_table(out, elf, section, &header, shift, address);
}

bool object_data_find(struct object_data *out, Elf *main, Elf *debug, uint64_t shift,
                      uint64_t address)
{
    *out = (struct object_data){ .name = NULL };
    read_tables(out, main, 0, address);
    if (debug != main)
        read_tables(out, debug, shift, address);
    return out->name != NULL;
}
