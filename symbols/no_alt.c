#include "symbols/no_alt.h"

#include <elf.h>
#include <string.h>

/* An ELF file of three sections; libdw needs a section of debug information with a byte. */
struct file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    char names[sizeof "\0.debug_info\0.shstrtab"];
    uint8_t info[4];
};

Dwarf *object_no_alt(void)
{
    static struct file file = {
        .header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                 EV_CURRENT },
                    .e_type = ET_DYN,
                    .e_version = EV_CURRENT,
                    .e_ehsize = sizeof file.header,
                    .e_shoff = offsetof(struct file, sections),
                    .e_shentsize = sizeof *file.sections,
                    .e_shnum = 3,
                    .e_shstrndx = 2 },
        .sections = { [1] = { .sh_name = 1,
                              .sh_type = SHT_PROGBITS,
                              .sh_addralign = 1,
                              .sh_offset = offsetof(struct file, info),
                              .sh_size = sizeof file.info },
                      [2] = { .sh_name = 13,
                              .sh_type = SHT_STRTAB,
                              .sh_addralign = 1,
                              .sh_offset = offsetof(struct file, names),
                              .sh_size = sizeof file.names } },
        .names = "\0.debug_info\0.shstrtab",
    };
    Elf *elf;
    Dwarf *none;

    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        file.header.e_ident[EI_DATA] = ELFDATA2MSB;
    elf_version(EV_CURRENT);
    elf = elf_memory((char *)&file, sizeof file);
    none = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (!none)
        elf_end(elf);
    return none;
}

void object_no_alt_end(Dwarf *none)
{
    Elf *elf = none ? dwarf_getelf(none) : NULL;

    dwarf_end(none);
    elf_end(elf);
}
