#include "symbols/object.h"

#include <stdlib.h>
#include <string.h>

#include <sfb/abi.h>

static bool no_memory(struct object_fault *fault)
{
    return object_fault_set(fault, 0, NULL, "out of memory");
}

uint8_t object_header_abi(const GElf_Ehdr *h)
{
    const bool big = h->e_ident[EI_DATA] == ELFDATA2MSB;

    if (h->e_machine == EM_X86_64 && !big)
        return SFB_ABI_AMD64_LE;
    if (h->e_machine == EM_AARCH64)
        return big ? SFB_ABI_AARCH64_BE : SFB_ABI_AARCH64_LE;
    return h->e_machine == EM_S390 && big ? OBJECT_ABI_S390X : 0;
}

const char *object_string(const struct object *o, const GElf_Shdr *table, uint64_t offset)
{
    const char *string;

    if (table->sh_type != SHT_STRTAB || !object_has(o, table->sh_offset, table->sh_size) ||
        offset >= table->sh_size)
        return "";
    string = (const char *)o->image + table->sh_offset + offset;
    return memchr(string, 0, table->sh_size - offset) ? string : "";
}

/* ---- section headers ---- */

/* @return false after a fault; *count may be 0 */
static bool count_sections(const struct object *o, struct object_fault *fault, size_t *count)
{
    const size_t entry = gelf_fsize(o->elf, ELF_T_SHDR, 1, EV_CURRENT);
    const uint64_t at = o->header.e_shoff;
    int known;

    *count = 0;
    if (at == 0 && o->header.e_shnum == 0)
        return true;
    if (o->header.e_shentsize != entry)
        return object_fault_set(fault, OBJECT_EHDR_AT(object_class(o), e_shentsize), "e_shentsize",
                                "not the size of a section header");
    known = elf_getshdrnum(o->elf, count);
    if (known == 0 && *count == 0 && o->header.e_shnum == 0 && object_has(o, at, entry))
        return true;
    /*
     * libelf gives none for headers past the end: a cut file would look like one without sections.
     */
    if (known != 0 || *count == 0 || *count > o->size / entry || !object_has(o, at, *count * entry))
        return object_fault_set(fault, OBJECT_EHDR_AT(object_class(o), e_shoff), "e_shoff",
                                "the section headers end past the file");
    return true;
}

static void name_sections(struct object *o)
{
    size_t names = 0;

    if (elf_getshdrstrndx(o->elf, &names) != 0 || names >= o->section_count)
        return;
    o->names = names;
    for (size_t i = 0; i < o->section_count; i++)
        o->sections[i].name =
            object_string(o, &o->sections[names].header, o->sections[i].header.sh_name);
}

static bool read_sections(struct object *o, struct object_fault *fault)
{
    size_t count;

    if (!count_sections(o, fault, &count))
        return false;
    if (count == 0)
        return true;
    o->sections = calloc(count, sizeof *o->sections);
    if (!o->sections)
        return no_memory(fault);
    for (size_t i = 0; i < count; i++) {
        Elf_Scn *section = elf_getscn(o->elf, i);

        o->sections[i].header_at = object_section_header_at(o, i);
        o->sections[i].name = "";
        if (!section || !gelf_getshdr(section, &o->sections[i].header))
            return object_fault_set(fault, o->sections[i].header_at, "sh_name",
                                    "the section header cannot be read");
        o->sections[i].address = o->sections[i].header.sh_addr;
    }
    o->section_count = count;
    name_sections(o);
    return true;
}

/* ---- program headers ---- */

static bool read_segments(struct object *o, struct object_fault *fault)
{
    const size_t entry = gelf_fsize(o->elf, ELF_T_PHDR, 1, EV_CURRENT);
    size_t count = 0;

    if (o->header.e_phnum == 0 || o->header.e_phoff == 0)
        return true;
    if (o->header.e_phentsize != entry)
        return object_fault_set(fault, OBJECT_EHDR_AT(object_class(o), e_phentsize), "e_phentsize",
                                "not the size of a program header");
    if (elf_getphdrnum(o->elf, &count) != 0 || count > o->size / entry ||
        !object_has(o, o->header.e_phoff, count * entry))
        return object_fault_set(fault, OBJECT_EHDR_AT(object_class(o), e_phoff), "e_phoff",
                                "the program headers end past the file");
    o->phdrs = calloc(count ? count : 1, sizeof *o->phdrs);
    if (!o->phdrs)
        return no_memory(fault);
    for (size_t i = 0; i < count; i++)
        if (!gelf_getphdr(o->elf, (int)i, &o->phdrs[i]))
            return object_fault_set(fault, object_segment_header_at(o, i), "p_type",
                                    "the program header cannot be read");
    o->phdr_count = count;
    return true;
}

/* ---- the file ---- */

/* @return a handle; NULL after a fault */
static Elf *open_elf(GElf_Ehdr *header, struct object_fault *fault, uint8_t *image, size_t size)
{
    const char *cause = "not an ELF file";
    Elf *elf;

    if (elf_version(EV_CURRENT) == EV_NONE) {
        object_fault_set(fault, 0, NULL, "libelf is older than its header");
        return NULL;
    }
    elf = elf_memory((char *)image, size);
    if (elf && elf_kind(elf) == ELF_K_AR)
        cause = "an archive: extract its members with ar";
    else if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, header))
        return elf;
    else if (elf && elf_kind(elf) == ELF_K_ELF)
        cause = "the ELF header cannot be read";
    object_fault_set(fault, 0, NULL, cause);
    elf_end(elf);
    return NULL;
}

bool object_header_read(GElf_Ehdr *out, struct object_fault *fault, uint8_t *image, size_t size)
{
    Elf *elf = open_elf(out, fault, image, size);

    elf_end(elf);
    return elf != NULL;
}

bool object_open(struct object *out, struct object_fault *fault, uint8_t *image, size_t size)
{
    struct object o = { .image = image, .size = size };

    o.elf = open_elf(&o.header, fault, image, size);
    if (!o.elf)
        return false;
    o.big = o.header.e_ident[EI_DATA] == ELFDATA2MSB;
    o.abi = object_header_abi(&o.header);
    o.relocatable = o.header.e_type == ET_REL;
    if (!read_sections(&o, fault) || !read_segments(&o, fault)) {
        object_close(&o);
        return false;
    }
    *out = o;
    return true;
}

void object_close(struct object *object)
{
    free(object->sections);
    free(object->phdrs);
    free(object->code);
    free(object->labels);
    elf_end(object->elf);
    *object = (struct object){ .image = NULL };
}

/* ---- what is where ---- */

uint64_t object_section_header_at(const struct object *object, size_t index)
{
    return object->header.e_shoff + (uint64_t)index * object->header.e_shentsize;
}

uint64_t object_segment_header_at(const struct object *object, size_t index)
{
    return object->header.e_phoff + (uint64_t)index * object->header.e_phentsize;
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
        !object_has(object, s->sh_offset, s->sh_size))
        return NULL;
    return object->image + s->sh_offset;
}

const GElf_Phdr *object_segment(const struct object *object, uint32_t type)
{
    for (size_t i = 0; i < object->phdr_count; i++)
        if (object->phdrs[i].p_type == type)
            return &object->phdrs[i];
    return NULL;
}

const GElf_Phdr *object_segment_at(const struct object *object, uint64_t address)
{
    for (size_t i = 0; i < object->phdr_count; i++) {
        const GElf_Phdr *p = &object->phdrs[i];

        if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz &&
            object_has(object, p->p_offset, p->p_filesz))
            return p;
    }
    return NULL;
}

bool object_offset_of(const struct object *object, uint64_t address, uint64_t *out)
{
    const GElf_Phdr *p = object_segment_at(object, address);

    if (p)
        *out = p->p_offset + (address - p->p_vaddr);
    return p != NULL;
}

bool object_address_of(const struct object *object, uint64_t offset, uint64_t *out)
{
    for (size_t i = 0; i < object->phdr_count; i++) {
        const GElf_Phdr *p = &object->phdrs[i];

        if (p->p_type == PT_LOAD && offset - p->p_offset < p->p_filesz &&
            object_has(object, p->p_offset, p->p_filesz)) {
            *out = p->p_vaddr + (offset - p->p_offset);
            return true;
        }
    }
    return false;
}
