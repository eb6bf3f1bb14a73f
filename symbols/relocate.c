/* Relocations of .sframe and .eh_frame: a few types of three machines. */
#include "symbols/relocate.h"

#include <stdlib.h>
#include <string.h>

/* The base of a laid-out object: address 0 means missing. */
#define LAYOUT_BASE UINT64_C(0x100000)

void object_lay_out(struct object *o)
{
    uint64_t next = LAYOUT_BASE;

    for (size_t i = 1; i < o->section_count && o->relocatable; i++) {
        struct object_section *s = &o->sections[i];
        uint64_t align = s->header.sh_addralign;

        if ((s->header.sh_flags & SHF_ALLOC) == 0)
            continue;
        if (align == 0 || align > 0x10000 || (align & (align - 1)) != 0)
            align = 16;
        next = (next + align - 1) & ~(align - 1);
        s->address = next;
        if (s->header.sh_size <= o->size)
            next += s->header.sh_size;
    }
}

/* ---- types ---- */

enum kind { OTHER, ABSOLUTE, PC_RELATIVE };

struct target {
    enum kind kind;
    unsigned width;
};

static struct target target_of(const struct object *o, uint32_t type)
{
    static const struct {
        GElf_Half machine;
        uint32_t type;
        struct target target;
    } known[] = {
        { EM_X86_64, R_X86_64_PC32, { PC_RELATIVE, 4 } },
        { EM_X86_64, R_X86_64_PC64, { PC_RELATIVE, 8 } },
        { EM_X86_64, R_X86_64_PLT32, { PC_RELATIVE, 4 } },
        { EM_X86_64, R_X86_64_64, { ABSOLUTE, 8 } },
        { EM_X86_64, R_X86_64_32, { ABSOLUTE, 4 } },
        { EM_X86_64, R_X86_64_32S, { ABSOLUTE, 4 } },
        { EM_AARCH64, R_AARCH64_PREL32, { PC_RELATIVE, 4 } },
        { EM_AARCH64, R_AARCH64_PREL64, { PC_RELATIVE, 8 } },
        { EM_AARCH64, R_AARCH64_ABS64, { ABSOLUTE, 8 } },
        { EM_AARCH64, R_AARCH64_ABS32, { ABSOLUTE, 4 } },
        { EM_S390, R_390_PC32, { PC_RELATIVE, 4 } },
        { EM_S390, R_390_PC64, { PC_RELATIVE, 8 } },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].machine == o->header.e_machine && known[i].type == type)
            return known[i].target;
    return (struct target){ OTHER, 0 };
}

/*
 * gas gives every start a field-relative relocation: 32 bits wide in versions 1 and 2, 64 in
 * version 3. Other types are not needed.
 */
bool object_start_type(const struct object *o, unsigned width, uint32_t *out)
{
    switch (o->header.e_machine) {
    case EM_X86_64: *out = width == 8 ? R_X86_64_PC64 : R_X86_64_PC32; return true;
    case EM_AARCH64: *out = width == 8 ? R_AARCH64_PREL64 : R_AARCH64_PREL32; return true;
    case EM_S390: *out = width == 8 ? R_390_PC64 : R_390_PC32; return true;
    default: return false;
    }
}

bool object_is_no_relocation(const struct object *o, uint32_t type)
{
    /* R_AARCH64_NONE, twice */
    return type == 0 || (o->header.e_machine == EM_AARCH64 && type == 256);
}

/* ---- one section ---- */

/* The first relocation section of each relocated one: thousands of sections may claim to be it. */
static size_t relocations_of(const struct object *o, size_t section)
{
    for (size_t i = 1; i < o->section_count && o->relocatable; i++)
        if (o->sections[i].header.sh_type == SHT_RELA && o->sections[i].header.sh_info == section)
            return i;
    return 0;
}

/* The tables for reading relocations. */
struct tables {
    const struct object *object;
    const struct object_section *section; /* the relocated section */
    size_t size;                          /* of its bytes; may be 0 */
    const GElf_Shdr *header;              /* of its relocations */
    Elf_Data *relocations, *symbols;      /* NULL: without bytes */
};

static Elf_Data *data_of(const struct object *o, size_t index)
{
    return index != 0 && index < o->section_count && object_bytes(o, &o->sections[index])
               ? elf_getdata(elf_getscn(o->elf, index), NULL)
               : NULL;
}

static void store(uint8_t *at, unsigned width, uint64_t value, bool big)
{
    for (unsigned i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static const char *name_of(const struct tables *t, const GElf_Sym *symbol)
{
    const struct object *o = t->object;
    const char *name;

    if (GELF_ST_TYPE(symbol->st_info) == STT_SECTION)
        return symbol->st_shndx < o->section_count ? o->sections[symbol->st_shndx].name : "";
    name = elf_strptr(o->elf, o->sections[t->header->sh_link].header.sh_link, symbol->st_name);
    return name ? name : "";
}

static void refuse(struct object_relocation *r, const char *field, const char *cause)
{
    r->field = field;
    r->cause = cause;
}

static void apply(struct object_relocation *r, uint8_t *bytes, const struct tables *t,
                  const GElf_Rela *rela, const GElf_Sym *symbol)
{
    const struct object *o = t->object;
    const struct target target = target_of(o, r->type);
    uint64_t value = symbol->st_value + (uint64_t)rela->r_addend;

    if (target.kind == OTHER) {
        refuse(r, "r_info", "not a relocation that such a section has");
    } else if (r->place > t->size || t->size - r->place < target.width) {
        refuse(r, "r_offset", "outside of the section");
    } else if (symbol->st_shndx == SHN_UNDEF) {
        refuse(r, "r_info", "the symbol is not defined here");
    } else {
        if (symbol->st_shndx < o->section_count)
            value += o->sections[symbol->st_shndx].address;
        if (target.kind == PC_RELATIVE)
            value -= t->section->address + r->place;
        store(bytes + r->place, target.width, value, o->big);
    }
}

/* Reads the relocation at r->at, and applies it. */
static void read_one(struct object_relocation *r, const struct tables *t, const GElf_Rela *rela,
                     uint8_t *bytes)
{
    const struct object *o = t->object;
    GElf_Sym symbol;

    r->place = rela->r_offset;
    r->type = (uint32_t)GELF_R_TYPE(rela->r_info);
    r->symbol = "";
    if (!t->symbols || GELF_R_SYM(rela->r_info) > INT32_MAX ||
        !gelf_getsym(t->symbols, (int)GELF_R_SYM(rela->r_info), &symbol)) {
        refuse(r, "r_info", "there is no such symbol");
        return;
    }
    r->symbol = name_of(t, &symbol);
    r->to_code = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < o->section_count &&
                 (o->sections[symbol.st_shndx].header.sh_flags & SHF_EXECINSTR) != 0;
    apply(r, bytes, t, rela, &symbol);
}

static int by_place(const void *a, const void *b)
{
    const struct object_relocation *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* @return false: no memory */
static bool relocate(struct object_copy *copy, const struct tables *t)
{
    const size_t entry = gelf_fsize(t->object->elf, ELF_T_RELA, 1, EV_CURRENT);
    const size_t count = t->relocations->d_size / entry;

    copy->relocations = calloc(count + 1, sizeof *copy->relocations);
    if (!copy->relocations)
        return false;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        const uint64_t at = t->header->sh_offset + i * entry;
        struct object_relocation *r = &copy->relocations[copy->relocation_count];
        GElf_Rela rela;

        if (!gelf_getrela(t->relocations, (int)i, &rela)) {
            object_fault_set(&copy->fault, at, "r_offset", "the relocation cannot be read");
            continue;
        }
        r->at = at;
        read_one(r, t, &rela, copy->bytes);
        copy->relocation_count++;
    }
    qsort(copy->relocations, copy->relocation_count, sizeof *copy->relocations, by_place);
    return true;
}

bool object_relocate(struct object_copy *out, const struct object *o, size_t section)
{
    const struct object_section *s = &o->sections[section];
    const uint8_t *bytes = object_bytes(o, s);
    struct object_copy copy = { .size = bytes ? s->header.sh_size : 0 };
    const size_t index = relocations_of(o, section);
    struct tables t = {
        .object = o, .section = s, .size = copy.size, .header = &o->sections[index].header
    };

    copy.bytes = malloc(copy.size + 1);
    if (!copy.bytes)
        return false;
    if (copy.size > 0)
        memcpy(copy.bytes, bytes, copy.size);
    if (index != 0) {
        t.relocations = data_of(o, index);
        t.symbols = data_of(o, t.header->sh_link);
        if (!t.relocations || !t.symbols)
            object_fault_set(&copy.fault, o->sections[index].header_at, NULL,
                             "the relocations of the section cannot be read");
        if (t.relocations && !relocate(&copy, &t)) {
            object_copy_free(&copy);
            return false;
        }
    }
    *out = copy;
    return true;
}

void object_copy_free(struct object_copy *copy)
{
    free(copy->bytes);
    free(copy->relocations);
    *copy = (struct object_copy){ .bytes = NULL };
}
