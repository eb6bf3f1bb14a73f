/*
 * The view of an ELF file: small files of both classes and both byte orders, made field by field, good
 * ones, cut ones and damaged ones.
 */
#include "symbols/object.h"

#include <string.h>

#include "support/guarded.h"
#include "support/test.h"
#include "symbols/code_ranges.h"
#include "symbols/eh_frame.h"
#include "symbols/labels.h"
#include "symbols/relocate.h"
#include "symbols/sframe.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    SIZE_MAX_HERE = 4096,
    TEXT_AT = 0x200, /* offsets in the file */
    SFRAME_AT = 0x280,
    RELA_AT = 0x2c0,
    SYMTAB_AT = 0x340,
    STRTAB_AT = 0x3c0,
    NAMES_AT = 0x400,
    SECTIONS_AT = 0x460,
    TEXT_SIZE = 0x40,
    SFRAME_SIZE = 0x28,
    ADDRESS = 0x10000 /* of what lies at 0 */
};

enum { NONE, TEXT, SFRAME, RELA, SYMTAB, STRTAB, NAMES, SECTIONS };

enum { LOAD, GNU_SFRAME, SEGMENTS };

static const char names[] = "\0.text\0.sframe\0.rela.sframe\0.symtab\0.strtab\0.shstrtab";
static const char strings[] = "\0f\0g\0$x\0outside";

struct kind {
    const char *name;
    int class;
    bool big, relocatable, without_sections;
    uint16_t machine;
};

static const struct kind kinds[] = {
    { "x86-64", ELFCLASS64, false, false, false, EM_X86_64 },
    { "AArch64, big endian", ELFCLASS64, true, false, false, EM_AARCH64 },
    { "s390x", ELFCLASS64, true, false, false, EM_S390 },
    { "i386", ELFCLASS32, false, false, false, EM_386 },
    { "PowerPC", ELFCLASS32, true, false, false, EM_PPC },
    { "x86-64, object file", ELFCLASS64, false, true, false, EM_X86_64 },
    { "AArch64, big endian, object file", ELFCLASS64, true, true, false, EM_AARCH64 },
    { "x86-64 without section headers", ELFCLASS64, false, false, true, EM_X86_64 },
};

struct image {
    const struct kind *kind;
    GElf_Shdr sections[SECTIONS];
    GElf_Phdr segments[SEGMENTS];
    GElf_Sym symbols[4];
    GElf_Rela relocations[2];
    size_t size;
    uint8_t at[SIZE_MAX_HERE];
};

/* A structure in the byte order of the file. */
static void put(struct image *i, uint64_t at, Elf_Type type, const void *from, size_t size)
{
    Elf_Data source = {
        .d_buf = (void *)(uintptr_t)from, .d_type = type, .d_size = size, .d_version = EV_CURRENT
    };
    Elf_Data target = {
        .d_buf = i->at + at, .d_type = type, .d_size = size, .d_version = EV_CURRENT
    };
    const unsigned order = i->kind->big ? ELFDATA2MSB : ELFDATA2LSB;

    cr_assert_not_null(i->kind->class == ELFCLASS32 ? elf32_xlatetof(&target, &source, order)
                                                    : elf64_xlatetof(&target, &source, order));
}

/* The initializer of either class's header. */
#define EHDR(bits, k)                                                                              \
    {                                                                                              \
        .e_ident = { 0x7f,                                                                         \
                     'E',                                                                          \
                     'L',                                                                          \
                     'F',                                                                          \
                     (uint8_t)(k)->class,                                                          \
                     (k)->big ? ELFDATA2MSB : ELFDATA2LSB,                                         \
                     EV_CURRENT },                                                                 \
        .e_type = (k)->relocatable ? ET_REL : ET_DYN, .e_machine = (k)->machine,                   \
        .e_version = EV_CURRENT, .e_phoff = (k)->relocatable ? 0 : sizeof(Elf##bits##_Ehdr),       \
        .e_phnum = (k)->relocatable ? 0 : SEGMENTS, .e_phentsize = sizeof(Elf##bits##_Phdr),       \
        .e_ehsize = sizeof(Elf##bits##_Ehdr), .e_shoff = (k)->without_sections ? 0 : SECTIONS_AT,  \
        .e_shnum = (k)->without_sections ? 0 : SECTIONS,                                           \
        .e_shstrndx = (k)->without_sections ? 0 : NAMES, .e_shentsize = sizeof(Elf##bits##_Shdr),  \
    }

static void put_segments_32(struct image *i)
{
    for (size_t k = 0; k < SEGMENTS; k++) {
        const GElf_Phdr *p = &i->segments[k];
        const Elf32_Phdr narrow = { .p_type = p->p_type,
                                    .p_offset = (uint32_t)p->p_offset,
                                    .p_vaddr = (uint32_t)p->p_vaddr,
                                    .p_filesz = (uint32_t)p->p_filesz,
                                    .p_memsz = (uint32_t)p->p_memsz,
                                    .p_flags = p->p_flags };

        put(i, sizeof(Elf32_Ehdr) + k * sizeof narrow, ELF_T_PHDR, &narrow, sizeof narrow);
    }
}

static void put_sections_32(struct image *i)
{
    for (size_t k = 0; k < SECTIONS; k++) {
        const GElf_Shdr *s = &i->sections[k];
        const Elf32_Shdr narrow = { .sh_name = s->sh_name,
                                    .sh_type = s->sh_type,
                                    .sh_flags = (uint32_t)s->sh_flags,
                                    .sh_addr = (uint32_t)s->sh_addr,
                                    .sh_offset = (uint32_t)s->sh_offset,
                                    .sh_size = (uint32_t)s->sh_size,
                                    .sh_link = s->sh_link,
                                    .sh_info = s->sh_info,
                                    .sh_addralign = (uint32_t)s->sh_addralign,
                                    .sh_entsize = (uint32_t)s->sh_entsize };

        put(i, SECTIONS_AT + k * sizeof narrow, ELF_T_SHDR, &narrow, sizeof narrow);
    }
}

/* Writes everything, as the members say. */
static void finish(struct image *i)
{
    const Elf32_Ehdr header_32 = EHDR(32, i->kind);
    const Elf64_Ehdr header_64 = EHDR(64, i->kind);
    const bool narrow = i->kind->class == ELFCLASS32;
    const size_t entry = narrow ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);

    i->size = i->kind->without_sections ? SECTIONS_AT : SECTIONS_AT + SECTIONS * entry;
    memset(i->at, 0, sizeof i->at);
    memset(i->at + TEXT_AT, 0x90, TEXT_SIZE);
    memset(i->at + SFRAME_AT, 0x11, SFRAME_SIZE);
    memcpy(i->at + STRTAB_AT, strings, sizeof strings);
    memcpy(i->at + NAMES_AT, names, sizeof names);
    if (narrow) {
        put(i, 0, ELF_T_EHDR, &header_32, sizeof header_32);
        put_segments_32(i);
        put_sections_32(i);
        return;
    }
    put(i, 0, ELF_T_EHDR, &header_64, sizeof header_64);
    put(i, SYMTAB_AT, ELF_T_SYM, i->symbols, sizeof i->symbols);
    put(i, RELA_AT, ELF_T_RELA, i->relocations, sizeof i->relocations);
    if (!i->kind->relocatable)
        put(i, sizeof(Elf64_Ehdr), ELF_T_PHDR, i->segments, sizeof i->segments);
    if (!i->kind->without_sections)
        put(i, SECTIONS_AT, ELF_T_SHDR, i->sections, sizeof i->sections);
}

static GElf_Shdr section(const struct kind *k, const char *name, uint32_t type, uint64_t flags,
                         uint64_t at, uint64_t size)
{
    const char *found = memmem(names, sizeof names, name, strlen(name) + 1);
    const bool loaded = (flags & SHF_ALLOC) != 0 && !k->relocatable;

    return (GElf_Shdr){ .sh_name = (uint32_t)(found - names),
                        .sh_type = type,
                        .sh_flags = flags,
                        .sh_addr = loaded ? ADDRESS + at : 0,
                        .sh_offset = at,
                        .sh_size = size,
                        .sh_addralign = 8 };
}

static void begin(struct image *i, const struct kind *k)
{
    const uint64_t code = k->relocatable ? 0 : ADDRESS + TEXT_AT;

    *i = (struct image){ .kind = k };
    i->sections[TEXT] =
        section(k, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_AT, TEXT_SIZE);
    i->sections[SFRAME] = section(k, ".sframe", SHT_PROGBITS, SHF_ALLOC, SFRAME_AT, SFRAME_SIZE);
    i->sections[RELA] = section(k, ".rela.sframe", SHT_RELA, 0, RELA_AT, sizeof i->relocations);
    i->sections[RELA].sh_link = SYMTAB;
    i->sections[RELA].sh_info = SFRAME;
    i->sections[RELA].sh_entsize = sizeof *i->relocations;
    i->sections[SYMTAB] = section(k, ".symtab", SHT_SYMTAB, 0, SYMTAB_AT, sizeof i->symbols);
    i->sections[SYMTAB].sh_link = STRTAB;
    i->sections[SYMTAB].sh_entsize = sizeof *i->symbols;
    i->sections[STRTAB] = section(k, ".strtab", SHT_STRTAB, 0, STRTAB_AT, sizeof strings);
    i->sections[NAMES] = section(k, ".shstrtab", SHT_STRTAB, 0, NAMES_AT, sizeof names);
    i->segments[LOAD] = (GElf_Phdr){ .p_type = PT_LOAD,
                                     .p_flags = PF_R | PF_X,
                                     .p_vaddr = ADDRESS,
                                     .p_filesz = NAMES_AT,
                                     .p_memsz = NAMES_AT };
    i->segments[GNU_SFRAME] = (GElf_Phdr){ .p_type = SFB_PT_GNU_SFRAME,
                                           .p_offset = SFRAME_AT,
                                           .p_vaddr = ADDRESS + SFRAME_AT,
                                           .p_filesz = SFRAME_SIZE,
                                           .p_memsz = SFRAME_SIZE };
    i->symbols[1] = (GElf_Sym){ .st_name = 1,
                                .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
                                .st_shndx = TEXT,
                                .st_value = code + 0x10,
                                .st_size = 0x10 };
    i->symbols[2] = (GElf_Sym){ .st_name = 5, .st_shndx = TEXT, .st_value = code }; /* $x */
    i->symbols[3] = (GElf_Sym){ .st_name = 8, .st_info = GELF_ST_INFO(STB_GLOBAL, STT_NOTYPE) };
    if (k->relocatable)
        for (size_t r = 0; r < COUNT(i->relocations); r++)
            i->relocations[r] = (GElf_Rela){
                .r_offset = 8 + 8 * r,
                .r_info = GELF_R_INFO(1, k->machine == EM_X86_64 ? R_X86_64_PC32 : R_AARCH64_PREL32)
            };
}

static bool opens(struct object *out, struct object_fault *fault, const struct image *i,
                  size_t size)
{
    static struct guarded g;

    if (!g.map)
        g = guarded_new(SIZE_MAX_HERE);
    return object_open(out, fault, guarded_copy(&g, i->at, size), size);
}

static struct object open_image(struct image *i)
{
    struct object_fault fault = { .cause = "" };
    struct object o;

    finish(i);
    cr_assert(opens(&o, &fault, i, i->size), "%s: +%#lx: %s: %s", i->kind->name, fault.offset,
              fault.field, fault.cause);
    return o;
}

Test(object, reads_headers_of_either_class_and_byte_order)
{
    static const uint8_t abis[] = { SFB_ABI_AMD64_LE, SFB_ABI_AARCH64_BE, OBJECT_ABI_S390X, 0, 0 };

    for (size_t k = 0; k < COUNT(abis); k++) {
        struct image i;
        struct object o;
        uint64_t at = 0;

        begin(&i, &kinds[k]);
        o = open_image(&i);
        cr_expect(eq(int, o.abi, abis[k]), "%s", kinds[k].name);
        cr_expect(eq(sz, o.section_count, SECTIONS));
        cr_expect(eq(sz, o.phdr_count, SEGMENTS));
        cr_expect_str_eq(o.sections[SFRAME].name, ".sframe");
        cr_expect(eq(sz, object_section_after(&o, 0, ".sframe"), SFRAME));
        cr_expect(eq(sz, object_section_after(&o, SFRAME, ".sframe"), 0));
        cr_expect(object_bytes(&o, &o.sections[TEXT]) == o.image + TEXT_AT);
        cr_expect(object_segment(&o, SFB_PT_GNU_SFRAME) == &o.phdrs[GNU_SFRAME]);
        cr_expect_null(object_segment(&o, PT_INTERP));
        cr_expect(object_offset_of(&o, ADDRESS + TEXT_AT, &at) && at == TEXT_AT, "%#lx", at);
        cr_expect(object_address_of(&o, TEXT_AT, &at) && at == ADDRESS + TEXT_AT, "%#lx", at);
        cr_expect_not(object_offset_of(&o, ADDRESS - 1, &at));
        cr_expect_not(object_offset_of(&o, ADDRESS + NAMES_AT, &at));
        cr_expect_not(object_address_of(&o, NAMES_AT, &at));
        object_close(&o);
    }
}

/* The headers of the sections stand at the end: no file that is cut is taken for one without them. */
Test(object, refuses_every_proper_prefix)
{
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct image i;

        begin(&i, &kinds[k]);
        finish(&i);
        for (size_t size = 0; size < i.size && !kinds[k].without_sections; size++) {
            struct object_fault fault = { .cause = NULL };
            struct object o;

            cr_assert_not(opens(&o, &fault, &i, size), "%s: %zu", kinds[k].name, size);
            cr_assert_not_null(fault.cause);
            cr_expect(fault.offset <= SIZE_MAX_HERE);
        }
    }
}

/* What is damaged: a field, by where it is in the file. */
static const struct {
    const char *name;
    size_t at;
    uint8_t value[2];
    const char *field, *cause;
} faults[] = {
    { "e_shentsize",
      offsetof(Elf64_Ehdr, e_shentsize),
      { 1, 0 },
      "e_shentsize",
      "not the size of a section header" },
    { "e_phentsize",
      offsetof(Elf64_Ehdr, e_phentsize),
      { 1, 0 },
      "e_phentsize",
      "not the size of a program header" },
    { "e_shoff",
      offsetof(Elf64_Ehdr, e_shoff) + 1,
      { 0x70, 0 },
      "e_shoff",
      "the section headers end past the file" },
    { "e_phoff",
      offsetof(Elf64_Ehdr, e_phoff) + 1,
      { 0x70, 0 },
      "e_phoff",
      "the program headers end past the file" },
    { "the magic number", 0, { 0, 'E' }, NULL, "not an ELF file" },
};

Test(object, says_which_field_of_a_header_is_wrong)
{
    for (size_t c = 0; c < COUNT(faults); c++) {
        struct object_fault fault = { .cause = "" };
        struct image i;
        struct object o;

        begin(&i, &kinds[0]);
        finish(&i);
        memcpy(i.at + faults[c].at, faults[c].value, sizeof faults[c].value);
        cr_assert_not(opens(&o, &fault, &i, i.size), "%s", faults[c].name);
        cr_expect_str_eq(fault.cause, faults[c].cause);
        if (faults[c].field) {
            cr_assert_not_null(fault.field);
            cr_expect_str_eq(fault.field, faults[c].field);
            cr_expect(fault.offset <= faults[c].at && faults[c].at < fault.offset + 8, "%s",
                      faults[c].name);
        }
    }
}

/* Bytes at random: nothing is read outside of the file, which the page behind it and sanitizers see. */
Test(object, stays_in_a_file_that_is_damaged)
{
    uint32_t random = 17;
    size_t opened = 0;

    for (unsigned round = 0; round < 20000; round++) {
        struct object_sframe sframe;
        struct object_fault fault;
        struct image i;
        struct object o;

        begin(&i, &kinds[round % COUNT(kinds)]);
        finish(&i);
        for (unsigned n = 0; n <= round % 3; n++) {
            random = random * 1664525u + 1013904223u;
            i.at[(random >> 8) % i.size] = (uint8_t)(random >> 3);
        }
        if (!opens(&o, &fault, &i, i.size))
            continue;
        opened++;
        object_lay_out(&o);
        cr_assert(object_find_code(&o) && object_read_labels(&o));
        object_find_sframe(&sframe, &fault, &o);
        object_find_cfi(&o);
        for (size_t s = 1; s < o.section_count; s++) {
            struct object_copy copy;

            if (o.sections[s].header.sh_size < SIZE_MAX_HERE && object_relocate(&copy, &o, s))
                object_copy_free(&copy);
        }
        object_close(&o);
    }
    cr_expect(opened > 5000, "%zu", opened);
}

Test(object, finds_sframe_by_section_or_segment)
{
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct object_sframe found;
        struct object_fault fault;
        struct image i;
        struct object o;

        begin(&i, &kinds[k]);
        o = open_image(&i);
        cr_assert(eq(int, object_find_sframe(&found, &fault, &o), OBJECT_FOUND));
        cr_expect(found.data == o.image + SFRAME_AT && found.size == SFRAME_SIZE);
        cr_expect(eq(u64, found.address, kinds[k].relocatable ? 0 : ADDRESS + SFRAME_AT));
        cr_expect(eq(sz, found.section, kinds[k].without_sections ? 0 : SFRAME));
        object_close(&o);
    }
}

Test(object, says_why_sframe_cannot_be_taken)
{
    const uint64_t header = SECTIONS_AT + SFRAME * sizeof(Elf64_Shdr);
    struct object_sframe found;
    struct object_fault fault;
    struct image i;
    struct object o;

    begin(&i, &kinds[0]);
    i.sections[SFRAME].sh_type = SHT_NOBITS;
    o = open_image(&i);
    cr_expect(eq(int, object_find_sframe(&found, &fault, &o), OBJECT_FAULTY));
    cr_expect(eq(u64, fault.offset, header + offsetof(Elf64_Shdr, sh_type)));
    object_close(&o);

    begin(&i, &kinds[0]);
    i.sections[SFRAME].sh_flags |= SHF_COMPRESSED;
    o = open_image(&i);
    cr_expect(eq(int, object_find_sframe(&found, &fault, &o), OBJECT_FAULTY));
    cr_expect(eq(u64, fault.offset, header + offsetof(Elf64_Shdr, sh_flags)));
    object_close(&o);

    begin(&i, &kinds[0]);
    i.sections[SFRAME].sh_size = UINT64_MAX - SFRAME_AT + 1; /* wraps */
    o = open_image(&i);
    cr_expect(eq(int, object_find_sframe(&found, &fault, &o), OBJECT_FAULTY));
    cr_expect(eq(u64, fault.offset, header + offsetof(Elf64_Shdr, sh_offset)));
    object_close(&o);

    begin(&i, &kinds[7]);
    i.segments[GNU_SFRAME].p_filesz = SIZE_MAX_HERE;
    o = open_image(&i);
    cr_expect(eq(int, object_find_sframe(&found, &fault, &o), OBJECT_FAULTY));
    cr_expect(
        eq(u64, fault.offset,
           sizeof(Elf64_Ehdr) + GNU_SFRAME * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset)));
    object_close(&o);

    begin(&i, &kinds[7]);
    i.segments[GNU_SFRAME].p_filesz = 0; /* as objcopy -R leaves it */
    o = open_image(&i);
    cr_expect(eq(int, object_find_sframe(&found, &fault, &o), OBJECT_ABSENT));
    object_close(&o);
}

Test(object, knows_where_code_is)
{
    for (size_t k = 0; k < COUNT(kinds); k++) {
        uint64_t text = ADDRESS + TEXT_AT;
        struct image i;
        struct object o;

        begin(&i, &kinds[k]);
        o = open_image(&i);
        object_lay_out(&o);
        cr_assert(object_find_code(&o));
        if (kinds[k].relocatable)
            text = o.sections[TEXT].address;
        cr_expect(object_is_code(&o, text, text + TEXT_SIZE), "%s", kinds[k].name);
        cr_expect(object_code_at(&o, text + 1, TEXT_SIZE - 1) == o.image + TEXT_AT + 1, "%s",
                  kinds[k].name);
        cr_expect_not(object_is_code(&o, text, text + NAMES_AT), "%s", kinds[k].name);
        cr_expect_null(object_code_at(&o, text, NAMES_AT));
        cr_expect_not(object_is_code(&o, 0, 1));
        object_close(&o);
    }
}

/* Functions and labels of code, and no mapping symbol, and none of another file. */
Test(object, reads_labels)
{
    for (size_t k = 0; k < COUNT(kinds); k++) {
        const bool has = kinds[k].class == ELFCLASS64 && !kinds[k].without_sections;
        struct image i;
        struct object o;

        begin(&i, &kinds[k]);
        o = open_image(&i);
        object_lay_out(&o);
        cr_assert(object_read_labels(&o));
        cr_expect(eq(sz, o.label_count, has ? 1 : 0), "%s", kinds[k].name);
        if (has) {
            const uint64_t f = o.sections[TEXT].address + 0x10;
            const struct object_label *l = object_label_before(&o, f + 0x1000);

            cr_assert_not_null(l);
            cr_expect_str_eq(l->name, "f");
            cr_expect(l->start == f && l->end == f + 0x10);
            cr_expect_null(object_label_before(&o, f - 1));
        }
        object_close(&o);
    }
}

static uint32_t word_at(const struct image *i, const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return i->kind->big ? __builtin_bswap32(word) : word;
}

/* The distance from the field to the symbol, as laid out; nothing else of the section changes. */
Test(object, relocates_a_copy)
{
    for (size_t k = 5; k <= 6; k++) {
        struct object_copy copy;
        struct image i;
        struct object o;

        begin(&i, &kinds[k]);
        i.relocations[1].r_addend = -4;
        o = open_image(&i);
        object_lay_out(&o);
        cr_assert(object_relocate(&copy, &o, SFRAME));
        cr_assert(eq(sz, copy.relocation_count, 2));
        cr_expect_null(copy.fault.cause);
        for (size_t r = 0; r < 2; r++) {
            const uint64_t place = 8 + 8 * r, f = o.sections[TEXT].address + 0x10;
            const uint64_t want = f - (r == 1 ? 4 : 0) - (o.sections[SFRAME].address + place);

            cr_expect_null(copy.relocations[r].cause);
            cr_expect(eq(u64, copy.relocations[r].place, place));
            cr_expect(eq(u64, copy.relocations[r].at, RELA_AT + r * sizeof(GElf_Rela)));
            cr_expect_str_eq(copy.relocations[r].symbol, "f");
            cr_expect(copy.relocations[r].to_code);
            cr_expect(eq(u32, word_at(&i, copy.bytes + place), (uint32_t)want), "%s",
                      kinds[k].name);
        }
        for (size_t b = 0; b < SFRAME_SIZE; b++)
            cr_expect(b >= SFRAME_SIZE || (b >= 8 && b < 12) || (b >= 16 && b < 20) ||
                          copy.bytes[b] == 0x11,
                      "%zu", b);
        cr_expect(eq(int, o.image[SFRAME_AT + 8], 0x11)); /* the file itself stays as it is */
        object_copy_free(&copy);
        object_close(&o);
    }
}

static const struct {
    const char *field, *cause;
    uint64_t offset, info;
} refused[] = {
    { "r_info", "not a relocation that such a section has", 8, GELF_R_INFO(1, R_X86_64_GOTPCREL) },
    { "r_offset", "outside of the section", SFRAME_SIZE - 3, GELF_R_INFO(1, R_X86_64_PC32) },
    { "r_offset", "outside of the section", UINT64_MAX, GELF_R_INFO(1, R_X86_64_PC64) },
    { "r_info", "there is no such symbol", 8, GELF_R_INFO(77, R_X86_64_PC32) },
    { "r_info", "the symbol is not defined here", 8, GELF_R_INFO(3, R_X86_64_PC32) },
};

Test(object, says_which_relocation_it_does_not_apply)
{
    for (size_t c = 0; c < COUNT(refused); c++) {
        const struct object_relocation *found = NULL;
        struct object_copy copy;
        struct image i;
        struct object o;

        begin(&i, &kinds[5]);
        i.relocations[1].r_offset = refused[c].offset;
        i.relocations[1].r_info = refused[c].info;
        o = open_image(&i);
        object_lay_out(&o);
        cr_assert(object_relocate(&copy, &o, SFRAME));
        for (size_t r = 0; r < copy.relocation_count; r++)
            if (copy.relocations[r].cause)
                found = &copy.relocations[r];
        cr_assert_not_null(found, "%s", refused[c].cause);
        cr_expect_str_eq(found->cause, refused[c].cause);
        cr_expect_str_eq(found->field, refused[c].field);
        cr_expect(eq(u64, found->at, RELA_AT + sizeof(GElf_Rela)));
        object_copy_free(&copy);
        object_close(&o);
    }
}

/* A section that claims to have no bytes in the file: its copy is empty, and nothing is stored there. */
Test(object, relocates_nothing_where_there_are_no_bytes)
{
    struct object_copy copy;
    struct image i;
    struct object o;

    begin(&i, &kinds[5]);
    i.sections[SFRAME].sh_type = SHT_NOBITS;
    o = open_image(&i);
    object_lay_out(&o);
    cr_assert(object_relocate(&copy, &o, SFRAME));
    cr_expect(eq(sz, copy.size, 0));
    cr_assert(eq(sz, copy.relocation_count, 2));
    for (size_t r = 0; r < 2; r++) {
        cr_assert_not_null(copy.relocations[r].cause);
        cr_expect_str_eq(copy.relocations[r].cause, "outside of the section");
    }
    object_copy_free(&copy);
    object_close(&o);
}
