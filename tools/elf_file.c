#include "elf_file.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define EHDR_AT(member) offsetof(Elf64_Ehdr, member)

uint64_t elf_file_phdr_at(const struct elf_file *file, size_t index, size_t field)
{
    return file->header.e_phoff + index * sizeof(Elf64_Phdr) + field;
}

uint64_t elf_file_shdr_at(const struct elf_file *file, size_t index, size_t field)
{
    return file->header.e_shoff + index * sizeof(Elf64_Shdr) + field;
}

static bool inside(const struct elf_file *f, uint64_t offset, uint64_t length)
{
    return offset <= f->size && length <= f->size - offset;
}

static bool judge_header(struct elf_file *f, struct elf_fault *fault)
{
    const Elf64_Ehdr *h = &f->header;
    const bool big = h->e_ident[EI_DATA] == ELFDATA2MSB;

    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return elf_fault_set(fault, EI_CLASS, "EI_CLASS",
                             "a 32-bit file: SFrame version 1 knows 64-bit machines only");
    if (h->e_machine == EM_X86_64 && !big)
        f->abi = SFB_ABI_AMD64_LE;
    else if (h->e_machine == EM_AARCH64)
        f->abi = big ? SFB_ABI_AARCH64_BE : SFB_ABI_AARCH64_LE;
    else
        return elf_fault_set(fault, EHDR_AT(e_machine), "e_machine",
                             "neither x86-64 nor AArch64: SFrame version 1 knows no other machine");
    if (h->e_type == ET_REL)
        return elf_fault_set(fault, EHDR_AT(e_type), "e_type",
                             "a relocatable object: link it first, or assemble it with --gsframe");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return elf_fault_set(fault, EHDR_AT(e_type), "e_type",
                             "neither a program nor a shared library");
    return true;
}

static bool read_phdrs(struct elf_file *f, struct elf_fault *fault, Elf *elf)
{
    size_t count = 0;

    if (f->header.e_phnum == 0 || f->header.e_phoff == 0)
        return elf_fault_set(fault, EHDR_AT(e_phnum), "e_phnum",
                             "no program headers: nothing of it is loaded");
    if (f->header.e_phnum >= PN_XNUM)
        return elf_fault_set(fault, EHDR_AT(e_phnum), "e_phnum",
                             "more program headers than any loader reads");
    if (f->header.e_phentsize != sizeof(Elf64_Phdr))
        return elf_fault_set(fault, EHDR_AT(e_phentsize), "e_phentsize",
                             "not the size of a program header");
    if (elf_getphdrnum(elf, &count) != 0 || count != f->header.e_phnum ||
        !inside(f, f->header.e_phoff, count * sizeof(Elf64_Phdr)))
        return elf_fault_set(fault, EHDR_AT(e_phoff), "e_phoff",
                             "the program headers end past the file");
    f->phdrs = calloc(count, sizeof *f->phdrs);
    for (size_t i = 0; f->phdrs && i < count; i++)
        if (!gelf_getphdr(elf, (int)i, &f->phdrs[i]))
            return elf_fault_set(fault, elf_file_phdr_at(f, i, 0), "p_type",
                                 "the program header cannot be read");
    f->phdr_count = count;
    return f->phdrs || elf_fault_set(fault, 0, NULL, "out of memory");
}

static bool read_shdrs(struct elf_file *f, struct elf_fault *fault, Elf *elf)
{
    size_t count = 0;
    Elf_Scn *section = NULL;

    if (f->header.e_shoff == 0 && f->header.e_shnum == 0)
        return true;
    if (f->header.e_shentsize != sizeof(Elf64_Shdr))
        return elf_fault_set(fault, EHDR_AT(e_shentsize), "e_shentsize",
                             "not the size of a section header");
    /* libelf gives none where they lie past the end of the file. */
    if (elf_getshdrnum(elf, &count) != 0 || count == 0 || count > f->size / sizeof(Elf64_Shdr) ||
        !inside(f, f->header.e_shoff, count * sizeof(Elf64_Shdr)))
        return elf_fault_set(fault, EHDR_AT(e_shoff), "e_shoff",
                             "the section headers end past the file");
    if (count != f->header.e_shnum || count >= SHN_LORESERVE - 1)
        return elf_fault_set(fault, EHDR_AT(e_shnum), "e_shnum",
                             "more sections than an ELF header counts");
    if (f->header.e_shstrndx >= count)
        return elf_fault_set(fault, EHDR_AT(e_shstrndx), "e_shstrndx", "there is no such section");
    f->shdrs = calloc(count, sizeof *f->shdrs);
    if (!f->shdrs)
        return elf_fault_set(fault, 0, NULL, "out of memory");
    /* The one at index 0, which is none, is not among those that libelf walks over. */
    for (size_t i = 0; i < count; i++) {
        section = elf_getscn(elf, i);
        if (!section || !gelf_getshdr(section, &f->shdrs[i]))
            return elf_fault_set(fault, elf_file_shdr_at(f, i, 0), "sh_name",
                                 "the section header cannot be read");
    }
    f->shdr_count = count;
    f->names = f->header.e_shstrndx;
    return true;
}

static bool judge_names(const struct elf_file *f, struct elf_fault *fault)
{
    const Elf64_Shdr *s = &f->shdrs[f->names];

    if (s->sh_type != SHT_STRTAB)
        return elf_fault_set(fault, elf_file_shdr_at(f, f->names, offsetof(Elf64_Shdr, sh_type)),
                             "sh_type", "the section that e_shstrndx names has no strings");
    if (!inside(f, s->sh_offset, s->sh_size))
        return elf_fault_set(fault, elf_file_shdr_at(f, f->names, offsetof(Elf64_Shdr, sh_offset)),
                             "sh_offset", "the names of the sections end past the file");
    return true;
}

/* Where a segment is said to lie must be true, in the file and in memory. */
static bool judge_segments(const struct elf_file *f, struct elf_fault *fault)
{
    uint64_t end = 0;

    for (size_t i = 0; i < f->phdr_count; i++) {
        const Elf64_Phdr *p = &f->phdrs[i];

        if (p->p_type != PT_LOAD)
            continue;
        if (!inside(f, p->p_offset, p->p_filesz) && p->p_filesz > 0)
            return elf_fault_set(fault, elf_file_phdr_at(f, i, offsetof(Elf64_Phdr, p_filesz)),
                                 "p_filesz", "a segment ends past the file");
        if (p->p_filesz > p->p_memsz)
            return elf_fault_set(fault, elf_file_phdr_at(f, i, offsetof(Elf64_Phdr, p_memsz)),
                                 "p_memsz", "a segment is larger in the file than in memory");
        if (p->p_vaddr < end)
            return elf_fault_set(fault, elf_file_phdr_at(f, i, offsetof(Elf64_Phdr, p_vaddr)),
                                 "p_vaddr", "segments overlap, or do not ascend");
        if (p->p_vaddr > INT64_MAX || p->p_memsz > INT64_MAX - p->p_vaddr)
            return elf_fault_set(fault, elf_file_phdr_at(f, i, offsetof(Elf64_Phdr, p_memsz)),
                                 "p_memsz", "a segment ends past the address space");
        end = p->p_vaddr + p->p_memsz;
    }
    return true;
}

static bool read_all(struct elf_file *f, struct elf_fault *fault, Elf *elf)
{
    if (elf_kind(elf) == ELF_K_AR)
        return elf_fault_set(fault, 0, NULL, "an archive: extract its members with ar");
    if (elf_kind(elf) != ELF_K_ELF)
        return elf_fault_set(fault, 0, NULL, "not an ELF file");
    if (!gelf_getehdr(elf, &f->header))
        return elf_fault_set(fault, 0, NULL, "the ELF header cannot be read");
    return judge_header(f, fault) && read_phdrs(f, fault, elf) && read_shdrs(f, fault, elf) &&
           (f->names == 0 || judge_names(f, fault)) && judge_segments(f, fault);
}

bool elf_file_open(struct elf_file *out, struct elf_fault *fault, uint8_t *image, size_t size)
{
    struct elf_file file = { .image = image, .size = size };
    bool good;
    Elf *elf;

    if (elf_version(EV_CURRENT) == EV_NONE)
        return elf_fault_set(fault, 0, NULL, "libelf is older than its header");
    elf = elf_memory((char *)image, size);
    if (!elf)
        return elf_fault_set(fault, 0, NULL, "not an ELF file");
    good = read_all(&file, fault, elf);
    elf_end(elf);
    if (good)
        *out = file;
    else
        elf_file_close(&file);
    return good;
}

void elf_file_close(struct elf_file *file)
{
    free(file->phdrs);
    free(file->shdrs);
    *file = (struct elf_file){ .image = NULL };
}

const Elf64_Phdr *elf_file_phdr(const struct elf_file *file, uint32_t type)
{
    for (size_t i = 0; i < file->phdr_count; i++)
        if (file->phdrs[i].p_type == type)
            return &file->phdrs[i];
    return NULL;
}

const Elf64_Phdr *elf_file_segment(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->phdr_count; i++) {
        const Elf64_Phdr *p = &file->phdrs[i];

        if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz)
            return p;
    }
    return NULL;
}

size_t elf_file_section(const struct elf_file *file, const char *name)
{
    const Elf64_Shdr *names;
    size_t size = strlen(name) + 1;

    if (file->names == 0)
        return 0;
    names = &file->shdrs[file->names];
    for (size_t i = 1; i < file->shdr_count; i++) {
        uint64_t at = file->shdrs[i].sh_name;

        if (at < names->sh_size && size <= names->sh_size - at &&
            memcmp(file->image + names->sh_offset + at, name, size) == 0)
            return i;
    }
    return 0;
}
