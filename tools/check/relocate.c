/* Relocations of .sframe and .eh_frame in object files: a few types of two machines. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "object.h"

enum target_kind { TARGET_OTHER, TARGET_ABSOLUTE, TARGET_PCREL };

struct target {
    enum target_kind kind;
    unsigned width;
};

static struct target target_of(const struct object *o, uint32_t type)
{
    static const struct {
        GElf_Half machine;
        uint32_t type;
        struct target target;
    } known[] = {
        { EM_X86_64, R_X86_64_PC32, { TARGET_PCREL, 4 } },
        { EM_X86_64, R_X86_64_PC64, { TARGET_PCREL, 8 } },
        { EM_X86_64, R_X86_64_PLT32, { TARGET_PCREL, 4 } },
        { EM_X86_64, R_X86_64_64, { TARGET_ABSOLUTE, 8 } },
        { EM_X86_64, R_X86_64_32, { TARGET_ABSOLUTE, 4 } },
        { EM_X86_64, R_X86_64_32S, { TARGET_ABSOLUTE, 4 } },
        { EM_AARCH64, R_AARCH64_PREL32, { TARGET_PCREL, 4 } },
        { EM_AARCH64, R_AARCH64_PREL64, { TARGET_PCREL, 8 } },
        { EM_AARCH64, R_AARCH64_ABS64, { TARGET_ABSOLUTE, 8 } },
        { EM_AARCH64, R_AARCH64_ABS32, { TARGET_ABSOLUTE, 4 } },
        { EM_S390, R_390_PC32, { TARGET_PCREL, 4 } },
        { EM_S390, R_390_PC64, { TARGET_PCREL, 8 } },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].machine == o->header.e_machine && known[i].type == type)
            return known[i].target;
    return (struct target){ TARGET_OTHER, 0 };
}

/* The symbols that the relocations of a section name. */
static Elf_Data *symbols_of(const struct object *o, const GElf_Shdr *relocations)
{
    if (relocations->sh_link == 0 || relocations->sh_link >= o->section_count ||
        !object_bytes(o, &o->sections[relocations->sh_link]))
        return NULL;
    return elf_getdata(elf_getscn(o->elf, relocations->sh_link), NULL);
}

static const char *symbol_name(const struct object *o, const GElf_Shdr *symbols, const GElf_Sym *s)
{
    if (GELF_ST_TYPE(s->st_info) == STT_SECTION)
        return s->st_shndx < o->section_count ? o->sections[s->st_shndx].name : "";
    return elf_strptr(o->elf, symbols->sh_link, s->st_name);
}

static void relocate_one(const struct object *o, uint8_t *bytes, const struct object_section *s,
                         const GElf_Rela *rela, const GElf_Sym *symbol)
{
    const struct target target = target_of(o, (uint32_t)GELF_R_TYPE(rela->r_info));
    uint64_t value = symbol->st_value + (uint64_t)rela->r_addend;

    if (target.kind == TARGET_OTHER || symbol->st_shndx == SHN_UNDEF ||
        rela->r_offset > s->header.sh_size || s->header.sh_size - rela->r_offset < target.width)
        return;
    if (symbol->st_shndx < o->section_count)
        value += o->sections[symbol->st_shndx].address;
    if (target.kind == TARGET_PCREL)
        value -= s->address + rela->r_offset;
    bytes_store(bytes + rela->r_offset, target.width, value, o->big);
}

static void note(struct object *o, const GElf_Rela *rela, uint64_t at, const GElf_Sym *symbol,
                 const char *name)
{
    struct object_relocation *r = &o->relocations[o->relocation_count++];

    *r = (struct object_relocation){ .place = rela->r_offset,
                                     .at = at,
                                     .type = (uint32_t)GELF_R_TYPE(rela->r_info),
                                     .symbol = name ? name : "" };
    r->to_code = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < o->section_count &&
                 (o->sections[symbol->st_shndx].header.sh_flags & SHF_EXECINSTR) != 0;
}

static int by_place(const void *a, const void *b)
{
    const struct object_relocation *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* @return false: no memory */
static bool relocate(struct object *o, uint8_t *bytes, size_t section, size_t rela_section,
                     bool keep)
{
    const GElf_Shdr *header = &o->sections[rela_section].header;
    Elf_Data *data = NULL, *symbols = symbols_of(o, header);
    const size_t entry = gelf_fsize(o->elf, ELF_T_RELA, 1, EV_CURRENT);
    size_t count;

    if (object_bytes(o, &o->sections[rela_section]))
        data = elf_getdata(elf_getscn(o->elf, rela_section), NULL);
    count = data ? data->d_size / entry : 0;
    if (keep) {
        free(o->relocations);
        o->relocation_count = 0;
        o->relocations = calloc(count + 1, sizeof *o->relocations);
        if (!o->relocations)
            return false;
    }
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol = { .st_shndx = SHN_UNDEF };
        const char *name = "";
        GElf_Rela rela;

        if (!gelf_getrela(data, (int)i, &rela))
            continue;
        if (symbols && GELF_R_SYM(rela.r_info) <= INT32_MAX &&
            gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
            name = symbol_name(o, &o->sections[header->sh_link].header, &symbol);
        relocate_one(o, bytes, &o->sections[section], &rela, &symbol);
        if (keep)
            note(o, &rela, header->sh_offset + i * entry, &symbol, name);
    }
    return true;
}

/* One section of them for each that is relocated: a file in which thousands claim to be is not read
 * thousands of times. */
static size_t relocations_of(const struct object *o, size_t section)
{
    for (size_t i = 1; i < o->section_count; i++)
        if (o->sections[i].header.sh_type == SHT_RELA && o->sections[i].header.sh_info == section)
            return i;
    return 0;
}

uint8_t *object_relocated(struct object *object, size_t section, bool keep)
{
    const struct object_section *s = &object->sections[section];
    const uint8_t *bytes = object_bytes(object, s);
    uint8_t *copy = bytes ? malloc(s->header.sh_size + 1) : NULL;
    size_t relocations;

    if (!copy)
        return NULL;
    memcpy(copy, bytes, s->header.sh_size);
    relocations = object->relocatable ? relocations_of(object, section) : 0;
    if (relocations != 0 && !relocate(object, copy, section, relocations, keep)) {
        free(copy);
        return NULL;
    }
    if (keep && object->relocation_count > 0)
        qsort(object->relocations, object->relocation_count, sizeof *object->relocations, by_place);
    return copy;
}
