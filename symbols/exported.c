#include "symbols/exported.h"

#include <gelf.h>
#include <string.h>

/* @return how many names were found now */
static size_t search_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                           const char *const *names, size_t count, uint64_t *out)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    const size_t symbols = data && size > 0 ? data->d_size / size : 0;
    size_t found = 0;

    for (size_t i = 1; i < symbols && i <= INT32_MAX && found < count; i++) {
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
            continue;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        for (size_t n = 0; name && n < count; n++)
            if (out[n] == 0 && strcmp(names[n], name) == 0) {
                out[n] = symbol.st_value;
                found++;
            }
    }
    return found;
}

bool object_find_exported(Elf *elf, const char *const *names, size_t count, uint64_t *out)
{
    size_t found = 0;

    memset(out, 0, count * sizeof *out);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        GElf_Shdr header;

        if (gelf_getshdr(s, &header) && header.sh_type == SHT_DYNSYM)
            found += search_table(elf, s, &header, names, count, out);
    }
    return found == count;
}
