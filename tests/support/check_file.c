#include "check_file.h"

#include <assert.h>
#include <elf.h>
#include <string.h>

#include "check_tables.h"

static const char names[] = "\0.text\0.plt\0.eh_frame\0.sframe\0.symtab\0.strtab\0.names\0"
                            ".rela.sframe\0.rela.eh_frame";
static const char strings[] = "\0f\0g";

static void put_at(uint8_t *at, size_t width, uint64_t value, bool big)
{
    for (size_t i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void file_set(struct file *f, size_t at, size_t width, uint64_t value)
{
    assert(at + width <= sizeof f->at);
    put_at(f->at + at, width, value, f->big);
}

uint64_t file_get(const struct file *f, size_t at, size_t width)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)f->at[at + (f->big ? width - 1 - i : i)] << 8 * i;
    return value;
}

/* ---- the file around it ---- */

size_t file_shdr(enum file_section section, size_t field)
{
    return FILE_SHDRS_AT + 64 * (size_t)section + field;
}

size_t file_phdr(unsigned index, size_t field)
{
    return FILE_PHDRS_AT + 56 * (size_t)index + field;
}

static size_t name_of(const char *name)
{
    for (size_t i = 1; i < sizeof names; i += strlen(names + i) + 1)
        if (strcmp(names + i, name) == 0)
            return i;
    return 0;
}

static void put_section(struct file *f, const struct file_plan *plan, enum file_section index,
                        const char *name, const Elf64_Shdr *s)
{
    struct file_pen p = { f, file_shdr(index, 0) };
    const bool has_address = (s->sh_flags & SHF_ALLOC) != 0 && !plan->relocatable;

    file_put(&p, 4, name_of(name));
    file_put(&p, 4, s->sh_type);
    file_put(&p, 8, s->sh_flags);
    file_put(&p, 8, has_address ? s->sh_offset : 0);
    file_put(&p, 8, s->sh_offset);
    file_put(&p, 8, s->sh_size);
    file_put(&p, 4, s->sh_link);
    file_put(&p, 4, s->sh_info);
    file_put(&p, 8, 8);
    file_put(&p, 8, s->sh_entsize);
}

static void put_segment(struct file *f, unsigned index, uint32_t type, uint32_t flags, uint64_t at,
                        uint64_t size)
{
    struct file_pen p = { f, file_phdr(index, 0) };

    file_put(&p, 4, type);
    file_put(&p, 4, flags);
    for (int i = 0; i < 3; i++)
        file_put(&p, 8, at);
    file_put(&p, 8, size);
    file_put(&p, 8, size);
    file_put(&p, 8, 8);
}

static void put_symbol(struct file_pen *p, uint32_t name, unsigned type, unsigned section,
                       uint64_t value, uint64_t size)
{
    file_put(p, 4, name);
    file_put(p, 1, ELF64_ST_INFO(STB_GLOBAL, type));
    file_put(p, 1, 0);
    file_put(p, 2, section);
    file_put(p, 8, value);
    file_put(p, 8, size);
}

/* @return how many */
static unsigned put_symbols(struct file *f, const struct file_plan *plan)
{
    struct file_pen p = { f, FILE_SYMTAB_AT };
    const uint64_t base = plan->relocatable ? 0 : FILE_TEXT_AT;

    put_symbol(&p, 0, 0, 0, 0, 0);
    put_symbol(&p, 0, STT_SECTION, FILE_TEXT, base, 0);
    put_symbol(&p, 1, STT_FUNC, FILE_TEXT, base, 0x30);
    put_symbol(&p, 3, STT_FUNC, FILE_TEXT, base + 0x40, 0x20);
    memcpy(f->at + FILE_SYMTAB_AT + 0x100, strings, sizeof strings);
    return plan->without_symbols ? 0 : 4;
}

static void put_relocation(struct file_pen *p, const struct file_plan *plan, uint64_t place,
                           bool wide, uint64_t addend)
{
    const uint32_t type = file_is_amd64(plan) ? (wide ? R_X86_64_PC64 : R_X86_64_PC32)
                                              : (wide ? R_AARCH64_PREL64 : R_AARCH64_PREL32);

    file_put(p, 8, place);
    file_put(p, 8, ELF64_R_INFO(UINT64_C(1), type));
    file_put(p, 8, addend);
}

static void put_rela(struct file *f, const struct file_plan *plan, enum file_section index,
                     enum file_section of, uint64_t at)
{
    const uint64_t size = (uint64_t)24 * f->functions;
    const char *name = of == FILE_SFRAME ? ".rela.sframe" : ".rela.eh_frame";

    put_section(f, plan, index, name,
                &(Elf64_Shdr){ .sh_type = SHT_RELA,
                               .sh_offset = at,
                               .sh_size = size,
                               .sh_link = FILE_SYMTAB,
                               .sh_info = of,
                               .sh_entsize = 24 });
}

static void put_sections(struct file *f, const struct file_plan *plan, size_t eh_frame_size)
{
    const uint32_t sframe_type = plan->version == 3 ? FILE_SHT_GNU_SFRAME : SHT_PROGBITS;
    const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
    const unsigned symbols = put_symbols(f, plan);
    const bool plt = f->functions == 3;
    const uint64_t sframe_size = f->sframe_size, relocations = (uint64_t)24 * f->functions;
    struct file_pen rela = { f, FILE_RELA_AT };

    for (unsigned i = 0; i < f->functions && plan->relocatable; i++)
        put_relocation(&rela, plan, f->fde[i], plan->version == 3,
                       file_function_of(plan, i).start - FILE_TEXT_AT);
    for (unsigned i = 0; i < f->functions && plan->relocatable; i++)
        put_relocation(&rela, plan, f->eh_entry[i] + 8, false,
                       file_function_of(plan, i).start - FILE_TEXT_AT);
    put_section(f, plan, FILE_TEXT, ".text",
                &(Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                               .sh_flags = code,
                               .sh_offset = FILE_TEXT_AT,
                               .sh_size = FILE_TEXT_SIZE });
    if (plt)
        put_section(f, plan, FILE_PLT, ".plt",
                    &(Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                                   .sh_flags = code,
                                   .sh_offset = FILE_PLT_AT,
                                   .sh_size = FILE_PLT_SIZE });
    if (!plan->without_eh_frame)
        put_section(f, plan, FILE_EH_FRAME, ".eh_frame",
                    &(Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                                   .sh_flags = SHF_ALLOC,
                                   .sh_offset = FILE_EH_FRAME_AT,
                                   .sh_size = eh_frame_size });
    put_section(f, plan, FILE_SFRAME, ".sframe",
                &(Elf64_Shdr){ .sh_type = sframe_type,
                               .sh_flags = SHF_ALLOC,
                               .sh_offset = FILE_SFRAME_AT,
                               .sh_size = sframe_size });
    put_section(f, plan, FILE_SYMTAB, ".symtab",
                &(Elf64_Shdr){ .sh_type = SHT_SYMTAB,
                               .sh_offset = FILE_SYMTAB_AT,
                               .sh_size = 24 * (uint64_t)symbols,
                               .sh_link = FILE_STRTAB,
                               .sh_entsize = 24 });
    put_section(f, plan, FILE_STRTAB, ".strtab",
                &(Elf64_Shdr){ .sh_type = SHT_STRTAB,
                               .sh_offset = FILE_SYMTAB_AT + 0x100,
                               .sh_size = sizeof strings });
    put_section(f, plan, FILE_NAMES, ".names",
                &(Elf64_Shdr){ .sh_type = SHT_STRTAB,
                               .sh_offset = FILE_SYMTAB_AT + 0x200,
                               .sh_size = sizeof names });
    memcpy(f->at + FILE_SYMTAB_AT + 0x200, names, sizeof names);
    if (plan->relocatable) {
        put_rela(f, plan, FILE_RELA_SFRAME, FILE_SFRAME, FILE_RELA_AT);
        put_rela(f, plan, FILE_RELA_EH_FRAME, FILE_EH_FRAME, FILE_RELA_AT + relocations);
    }
}

static void put_header(struct file *f, const struct file_plan *plan)
{
    struct file_pen p = { f, 0 };

    memcpy(f->at, ELFMAG, SELFMAG);
    f->at[EI_CLASS] = ELFCLASS64;
    f->at[EI_DATA] = f->big ? ELFDATA2MSB : ELFDATA2LSB;
    f->at[EI_VERSION] = EV_CURRENT;
    p.at = EI_NIDENT;
    file_put(&p, 2, plan->relocatable ? ET_REL : ET_DYN);
    file_put(&p, 2, file_is_amd64(plan) ? EM_X86_64 : EM_AARCH64);
    file_put(&p, 4, EV_CURRENT);
    file_put(&p, 8, 0);
    file_put(&p, 8, plan->relocatable ? 0 : FILE_PHDRS_AT);
    file_put(&p, 8, FILE_SHDRS_AT);
    file_put(&p, 4, 0);
    file_put(&p, 2, 64);
    file_put(&p, 2, plan->relocatable ? 0 : 56);
    file_put(&p, 2, plan->relocatable ? 0 : 4);
    file_put(&p, 2, 64);
    file_put(&p, 2, FILE_SECTIONS);
    file_put(&p, 2, FILE_NAMES);
}

/* AMD64: code that its rows describe. The other machines' is zeros. */
static void put_code(struct file *f)
{
    static const uint8_t enter[] = { 0xc8, 8, 0, 0 }, back[] = { 0xc9, 0xc3, 0xcc, 0xcc, 0xcc };
    static const uint8_t plt[] = {
        0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x68, 0, 0, 0, 0, 0xff, 0xe0, 0xcc
    };
    uint8_t *text = f->at + FILE_TEXT_AT;

    memset(text, 0x90, FILE_TEXT_SIZE);
    memcpy(text, enter, sizeof enter);
    memcpy(text + 0x2b, back, sizeof back);
    text[0x5f] = 0xc3;
    if (f->functions > 2)
        memset(f->at + FILE_PLT_AT, 0xcc, FILE_PLT_SIZE);
    for (unsigned i = 0; f->functions > 2 && i < FILE_PLT_SIZE; i += 16)
        memcpy(f->at + FILE_PLT_AT + i, plt, sizeof plt);
}

void file_make(struct file *out, const struct file_plan *plan)
{
    size_t eh_frame_size;

    memset(out, 0, sizeof *out);
    out->big = plan->abi == SFB_ABI_AARCH64_BE;
    out->version = plan->version;
    out->functions = file_is_amd64(plan) && !plan->relocatable ? 3 : 2; /* with .plt, without */
    if (file_is_amd64(plan))
        put_code(out);
    file_put_sframe(out, plan);
    eh_frame_size = file_put_eh_frame(out, plan);
    put_header(out, plan);
    put_sections(out, plan, eh_frame_size);
    if (plan->relocatable)
        return;
    put_segment(out, 0, PT_LOAD, PF_R | PF_X, FILE_TEXT_AT, 0x200);
    put_segment(out, 1, PT_LOAD, PF_R, FILE_EH_FRAME_AT, 0x2000);
    put_segment(out, 2, PT_GNU_STACK, PF_R | PF_W, 0, 0);
    put_segment(out, 3, 0x6474e554, PF_R, FILE_SFRAME_AT, out->sframe_size);
}

void file_resize(struct file *f, size_t size)
{
    file_set(f, file_shdr(FILE_SFRAME, offsetof(Elf64_Shdr, sh_size)), 8, size);
    if (file_get(f, 16, 2) != ET_REL)
        for (int i = 0; i < 2; i++)
            file_set(f, file_phdr(3, offsetof(Elf64_Phdr, p_filesz) + 8 * (size_t)i), 8, size);
}
