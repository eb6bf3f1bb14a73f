#include "object.h"

#include <stdlib.h>
#include <string.h>

#include <sfb/abi.h>

#include "version.h"

/* Where a relocatable object is laid out: nothing of it is at 0, which stands for "not there". */
#define LAYOUT_BASE UINT64_C(0x100000)

static bool no_memory(struct elf_fault *fault)
{
    return elf_fault_set(fault, 0, NULL, "out of memory");
}

static bool inside(const struct object *o, uint64_t offset, uint64_t length)
{
    return offset <= o->size && length <= o->size - offset;
}

static uint8_t abi_of(const GElf_Ehdr *h)
{
    const bool big = h->e_ident[EI_DATA] == ELFDATA2MSB;

    if (h->e_machine == EM_X86_64 && !big)
        return SFB_ABI_AMD64_LE;
    if (h->e_machine == EM_AARCH64)
        return big ? SFB_ABI_AARCH64_BE : SFB_ABI_AARCH64_LE;
    return h->e_machine == EM_S390 && big ? SFRAME_ABI_S390X : 0;
}

/* A name in the table of names, if all of it lies there. */
static const char *name_at(const struct object *o, const GElf_Shdr *names, uint64_t offset)
{
    const char *name;

    if (names->sh_type != SHT_STRTAB || !inside(o, names->sh_offset, names->sh_size) ||
        offset >= names->sh_size)
        return "";
    name = (const char *)o->image + names->sh_offset + offset;
    return memchr(name, 0, names->sh_size - offset) ? name : "";
}

static bool read_sections(struct object *o, struct elf_fault *fault)
{
    const size_t entry = gelf_fsize(o->elf, ELF_T_SHDR, 1, EV_CURRENT);
    const uint64_t at = o->header.e_shoff;
    size_t count = 0, names = 0;

    if (at == 0 && o->header.e_shnum == 0)
        return true;
    if (o->header.e_shentsize != entry)
        return elf_fault_set(fault, ELF_EHDR_AT(object_class(o), e_shentsize), "e_shentsize",
                             "not the size of a section header");
    if (elf_getshdrnum(o->elf, &count) != 0 || count == 0 || count > o->size / entry ||
        !inside(o, at, count * entry))
        return elf_fault_set(fault, ELF_EHDR_AT(object_class(o), e_shoff), "e_shoff",
                             "the section headers end past the file");
    o->sections = calloc(count, sizeof *o->sections);
    if (!o->sections)
        return no_memory(fault);
    for (size_t i = 0; i < count; i++) {
        Elf_Scn *section = elf_getscn(o->elf, i);

        o->sections[i].header_at = at + i * entry;
        o->sections[i].name = "";
        if (!section || !gelf_getshdr(section, &o->sections[i].header))
            return elf_fault_set(fault, o->sections[i].header_at, "sh_name",
                                 "the section header cannot be read");
        o->sections[i].address = o->sections[i].header.sh_addr;
    }
    o->section_count = count;
    if (elf_getshdrstrndx(o->elf, &names) == 0 && names < count)
        for (size_t i = 0; i < count; i++)
            o->sections[i].name =
                name_at(o, &o->sections[names].header, o->sections[i].header.sh_name);
    return true;
}

static bool read_segments(struct object *o, struct elf_fault *fault)
{
    const size_t entry = gelf_fsize(o->elf, ELF_T_PHDR, 1, EV_CURRENT);
    size_t count = 0;

    if (o->header.e_phnum == 0 || o->header.e_phoff == 0)
        return true;
    if (o->header.e_phentsize != entry)
        return elf_fault_set(fault, ELF_EHDR_AT(object_class(o), e_phentsize), "e_phentsize",
                             "not the size of a program header");
    if (elf_getphdrnum(o->elf, &count) != 0 || count > o->size / entry ||
        !inside(o, o->header.e_phoff, count * entry))
        return elf_fault_set(fault, ELF_EHDR_AT(object_class(o), e_phoff), "e_phoff",
                             "the program headers end past the file");
    o->phdrs = calloc(count ? count : 1, sizeof *o->phdrs);
    if (!o->phdrs)
        return no_memory(fault);
    for (size_t i = 0; i < count; i++)
        if (!gelf_getphdr(o->elf, (int)i, &o->phdrs[i]))
            return elf_fault_set(fault, o->header.e_phoff + i * entry, "p_type",
                                 "the program header cannot be read");
    o->phdr_count = count;
    return true;
}

/* Gives the sections of a relocatable object addresses, each behind the one before. */
static void lay_out(struct object *o)
{
    uint64_t next = LAYOUT_BASE;

    for (size_t i = 1; i < o->section_count; i++) {
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

/* Executable segments or, in an object file, sections. What overlaps is cut. */
static bool find_code(struct object *o, struct elf_fault *fault)
{
    o->code = calloc(o->phdr_count + o->section_count + 1, sizeof *o->code);
    if (!o->code)
        return no_memory(fault);
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
    for (size_t i = 1; i < o->code_count; i++)
        if (o->code[i].start < o->code[i - 1].end) {
            o->code[i].start = o->code[i - 1].end;
            if (o->code[i].end < o->code[i].start)
                o->code[i].end = o->code[i].start;
        }
    return true;
}

static void find_plts(struct object *o)
{
    static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t index = object_section_after(o, 0, names[i]);

        if (index != 0 &&
            object_is_code(o, o->sections[index].address,
                           o->sections[index].address + o->sections[index].header.sh_size))
            o->plt[o->plt_count++] = index;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct object_symbol *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void add_symbol(struct object *o, const GElf_Sym *s, const GElf_Shdr *names)
{
    const unsigned type = GELF_ST_TYPE(s->st_info);
    const char *name = name_at(o, names, s->st_name);
    uint64_t start = s->st_value;

    /* $x and $d of AArch64 mark code and data, not functions. */
    if ((type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) || name[0] == '\0' ||
        name[0] == '$' || s->st_shndx == SHN_UNDEF || s->st_shndx >= o->section_count)
        return;
    if (o->relocatable)
        start += o->sections[s->st_shndx].address;
    if ((o->sections[s->st_shndx].header.sh_flags & SHF_EXECINSTR) != 0)
        o->symbols[o->symbol_count++] = (struct object_symbol){
            start, s->st_size <= UINT64_MAX - start ? start + s->st_size : start, name
        };
}

static bool read_symbols(struct object *o, struct elf_fault *fault)
{
    for (size_t i = 1; i < o->section_count; i++) {
        const GElf_Shdr *s = &o->sections[i].header;
        Elf_Data *data;
        size_t count;

        if (s->sh_type != SHT_SYMTAB || s->sh_link >= o->section_count ||
            !inside(o, s->sh_offset, s->sh_size))
            continue;
        data = elf_getdata(elf_getscn(o->elf, i), NULL);
        count = data ? data->d_size / gelf_fsize(o->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
        o->symbols = calloc(count + 1, sizeof *o->symbols);
        if (!o->symbols)
            return no_memory(fault);
        for (size_t k = 1; k < count && k <= INT32_MAX; k++) {
            GElf_Sym symbol;

            if (gelf_getsym(data, (int)k, &symbol))
                add_symbol(o, &symbol, &o->sections[s->sh_link].header);
        }
        qsort(o->symbols, o->symbol_count, sizeof *o->symbols, by_address);
        o->has_symbols = o->symbol_count > 0;
        break; /* there is one such table at most */
    }
    return true;
}

bool object_open(struct object *out, struct elf_fault *fault, uint8_t *image, size_t size)
{
    struct object o = { .image = image, .size = size };

    if (elf_version(EV_CURRENT) == EV_NONE)
        return elf_fault_set(fault, 0, NULL, "libelf is older than its header");
    o.elf = elf_memory((char *)image, size);
    if (!o.elf || elf_kind(o.elf) != ELF_K_ELF || !gelf_getehdr(o.elf, &o.header)) {
        elf_end(o.elf);
        return elf_fault_set(fault, 0, NULL, "not an ELF file (--raw: a bare section)");
    }
    o.big = o.header.e_ident[EI_DATA] == ELFDATA2MSB;
    o.abi = abi_of(&o.header);
    o.relocatable = o.header.e_type == ET_REL;
    if (!read_sections(&o, fault) || !read_segments(&o, fault)) {
        object_close(&o);
        return false;
    }
    if (o.relocatable)
        lay_out(&o);
    if (!find_code(&o, fault) || !read_symbols(&o, fault)) {
        object_close(&o);
        return false;
    }
    if (!o.relocatable)
        find_plts(&o);
    *out = o;
    return true;
}

void object_close(struct object *object)
{
    free(object->sections);
    free(object->phdrs);
    free(object->code);
    free(object->symbols);
    free(object->relocations);
    elf_end(object->elf);
    *object = (struct object){ .image = NULL };
}

size_t object_section_after(const struct object *object, size_t index, const char *name)
{
    for (size_t i = index + 1; i < object->section_count; i++)
        if (strcmp(object->sections[i].name, name) == 0)
            return i;
    return 0;
}

const uint8_t *object_bytes(const struct object *object, const struct object_section *section)
{
    const GElf_Shdr *s = &section->header;

    if (s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) != 0 ||
        !inside(object, s->sh_offset, s->sh_size))
        return NULL;
    return object->image + s->sh_offset;
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

const struct object_symbol *object_symbol_before(const struct object *object, uint64_t address)
{
    size_t low = 0, high = object->symbol_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (object->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &object->symbols[low - 1] : NULL;
}
