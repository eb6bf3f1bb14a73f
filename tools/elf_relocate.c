/*
 * gas gives every function start a relocation that is relative to the field: 32 bits wide in
 * versions 1 and 2, 64 in version 3. No other type is ever needed, and none is guessed at.
 */
#include "elf_relocate.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

/* @return bytes that a relocation of this type is wide; 0: it is none of those that gas writes */
static unsigned width_of(GElf_Half machine, uint64_t type)
{
    switch (machine) {
    case EM_X86_64: return type == R_X86_64_PC32 ? 4 : type == R_X86_64_PC64 ? 8 : 0;
    case EM_AARCH64: return type == R_AARCH64_PREL32 ? 4 : type == R_AARCH64_PREL64 ? 8 : 0;
    default: return 0;
    }
}

static bool is_none(GElf_Half machine, uint64_t type)
{
    return type == 0 || (machine == EM_AARCH64 && type == 256); /* R_AARCH64_NONE, twice */
}

static void put(uint8_t *at, unsigned width, uint64_t value, bool big)
{
    for (unsigned i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* Where a symbol is: in an object file from the start of its section, which lies at its address. */
static uint64_t symbol_address(Elf *elf, const GElf_Sym *symbol)
{
    Elf_Scn *section = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE
                           ? elf_getscn(elf, symbol->st_shndx)
                           : NULL;
    GElf_Shdr s;

    return symbol->st_value + (section && gelf_getshdr(section, &s) ? s.sh_addr : 0);
}

struct target {
    const struct elf_section *section;
    uint8_t *bytes;
    GElf_Half machine;
    bool big;
};

static enum elf_result apply(const struct target *t, struct elf_fault *fault, Elf *elf,
                             const GElf_Shdr *table, Elf_Data *relocations, Elf_Data *symbols)
{
    for (size_t i = 0; i < table->sh_size / table->sh_entsize && i <= INT32_MAX; i++) {
        const uint64_t at = table->sh_offset + i * table->sh_entsize;
        GElf_Rela r;
        GElf_Sym symbol;
        unsigned width;

        if (!gelf_getrela(relocations, (int)i, &r))
            return elf_faulty(fault, at, "r_offset", "the relocation cannot be read");
        if (is_none(t->machine, GELF_R_TYPE(r.r_info)))
            continue;
        width = width_of(t->machine, GELF_R_TYPE(r.r_info));
        if (width == 0)
            return elf_faulty(fault, at, "r_info", "not a relocation that .sframe has");
        if (r.r_offset > t->section->size || width > t->section->size - r.r_offset)
            return elf_faulty(fault, at, "r_offset", "outside of .sframe");
        if (GELF_R_SYM(r.r_info) > INT32_MAX ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &symbol))
            return elf_faulty(fault, at, "r_info", "there is no such symbol");
        put(t->bytes + r.r_offset, width,
            symbol_address(elf, &symbol) + (uint64_t)r.r_addend - (t->section->vma + r.r_offset),
            t->big);
    }
    return ELF_FOUND;
}

/* Whether a section holds the relocations of the one at an offset of the file. */
static bool is_table_of(Elf *elf, const GElf_Shdr *s, uint64_t offset)
{
    Elf_Scn *target = s->sh_type == SHT_RELA ? elf_getscn(elf, s->sh_info) : NULL;
    GElf_Shdr t;

    return target && gelf_getshdr(target, &t) && t.sh_type != SHT_NOBITS && t.sh_offset == offset;
}

static enum elf_result relocate(const struct elf_section *section, struct elf_fault *fault,
                                Elf *elf, uint8_t *image)
{
    const uint64_t offset = (uint64_t)(section->data - image);
    enum elf_result result = ELF_ABSENT;
    Elf_Scn *at = NULL;
    GElf_Ehdr header;

    if (!gelf_getehdr(elf, &header) || header.e_type != ET_REL)
        return ELF_ABSENT;
    while (result != ELF_FAULTY && (at = elf_nextscn(elf, at)) != NULL) {
        const struct target target = { .section = section,
                                       .bytes = image + offset,
                                       .machine = header.e_machine,
                                       .big = header.e_ident[EI_DATA] == ELFDATA2MSB };
        Elf_Data *relocations, *symbols;
        GElf_Shdr s;

        if (!gelf_getshdr(at, &s) || !is_table_of(elf, &s, offset))
            continue;
        relocations = elf_getdata(at, NULL);
        symbols = elf_getscn(elf, s.sh_link) ? elf_getdata(elf_getscn(elf, s.sh_link), NULL) : NULL;
        if (!relocations || !relocations->d_buf || !symbols || !symbols->d_buf || s.sh_entsize == 0)
            return elf_faulty(fault, s.sh_offset, NULL,
                              "the relocations of .sframe cannot be read");
        result = apply(&target, fault, elf, &s, relocations, symbols);
    }
    return result;
}

enum elf_result elf_relocate(const struct elf_section *section, struct elf_fault *fault,
                             uint8_t *image, size_t size)
{
    Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_memory((char *)image, size) : NULL;
    enum elf_result result;

    if (!elf)
        return elf_faulty(fault, 0, NULL, "not an ELF file");
    result = relocate(section, fault, elf, image);
    elf_end(elf);
    return result;
}
