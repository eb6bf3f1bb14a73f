#include "toolchain/synth/elf_loadable.h"

#include <sfb/abi.h>

#define EHDR_AT(member) offsetof(Elf64_Ehdr, member)

static uint64_t phdr_at(const struct object *o, size_t index, size_t field)
{
    return object_segment_header_at(o, index) + field;
}

static bool judge_header(const GElf_Ehdr *h, struct object_fault *fault)
{
    const uint8_t abi = object_header_abi(h);

    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return object_fault_set(fault, EI_CLASS, "EI_CLASS",
                                "a 32-bit file: SFrame version 1 knows 64-bit machines only");
    if (abi < SFB_ABI_AARCH64_BE || abi > SFB_ABI_AMD64_LE)
        return object_fault_set(
            fault, EHDR_AT(e_machine), "e_machine",
            "neither x86-64 nor AArch64: SFrame version 1 knows no other machine");
    if (h->e_type == ET_REL)
        return object_fault_set(
            fault, EHDR_AT(e_type), "e_type",
            "a relocatable object: link it first, or assemble it with --gsframe");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return object_fault_set(fault, EHDR_AT(e_type), "e_type",
                                "neither a program nor a shared library");
    return true;
}

static bool judge_counts(const struct object *o, struct object_fault *fault)
{
    if (o->header.e_phnum == 0 || o->header.e_phoff == 0)
        return object_fault_set(fault, EHDR_AT(e_phnum), "e_phnum",
                                "no program headers: nothing of it is loaded");
    if (o->header.e_phnum >= PN_XNUM)
        return object_fault_set(fault, EHDR_AT(e_phnum), "e_phnum",
                                "more program headers than any loader reads");
    if (o->section_count == 0)
        return true;
    if (o->section_count != o->header.e_shnum || o->section_count >= SHN_LORESERVE - 1)
        return object_fault_set(fault, EHDR_AT(e_shnum), "e_shnum",
                                "more sections than an ELF header counts");
    if (o->header.e_shstrndx >= o->section_count)
        return object_fault_set(fault, EHDR_AT(e_shstrndx), "e_shstrndx",
                                "there is no such section");
    return true;
}

static bool judge_names(const struct object *o, struct object_fault *fault)
{
    const GElf_Shdr *s = &o->sections[o->names].header;

    if (s->sh_type != SHT_STRTAB)
        return object_fault_set(fault,
                                o->sections[o->names].header_at + offsetof(Elf64_Shdr, sh_type),
                                "sh_type", "the section that e_shstrndx names has no strings");
    if (!object_has(o, s->sh_offset, s->sh_size))
        return object_fault_set(fault,
                                o->sections[o->names].header_at + offsetof(Elf64_Shdr, sh_offset),
                                "sh_offset", "the names of the sections end past the file");
    return true;
}

/* A segment must lie where its header says, in the file and in memory. */
static bool judge_segments(const struct object *o, struct object_fault *fault)
{
    uint64_t end = 0;

    for (size_t i = 0; i < o->phdr_count; i++) {
        const GElf_Phdr *p = &o->phdrs[i];

        if (p->p_type != PT_LOAD)
            continue;
        if (!object_has(o, p->p_offset, p->p_filesz) && p->p_filesz > 0)
            return object_fault_set(fault, phdr_at(o, i, offsetof(Elf64_Phdr, p_filesz)),
                                    "p_filesz", "a segment ends past the file");
        if (p->p_filesz > p->p_memsz)
            return object_fault_set(fault, phdr_at(o, i, offsetof(Elf64_Phdr, p_memsz)), "p_memsz",
                                    "a segment is larger in the file than in memory");
        if (p->p_vaddr < end)
            return object_fault_set(fault, phdr_at(o, i, offsetof(Elf64_Phdr, p_vaddr)), "p_vaddr",
                                    "segments overlap, or do not ascend");
        if (p->p_vaddr > INT64_MAX || p->p_memsz > INT64_MAX - p->p_vaddr)
            return object_fault_set(fault, phdr_at(o, i, offsetof(Elf64_Phdr, p_memsz)), "p_memsz",
                                    "a segment ends past the address space");
        end = p->p_vaddr + p->p_memsz;
    }
    return true;
}

bool elf_loadable_open(struct object *out, struct object_fault *fault, uint8_t *image, size_t size)
{
    GElf_Ehdr header;

    if (!object_header_read(&header, fault, image, size) || !judge_header(&header, fault) ||
        !object_open(out, fault, image, size))
        return false;
    if (judge_counts(out, fault) && (out->names == 0 || judge_names(out, fault)) &&
        judge_segments(out, fault))
        return true;
    object_close(out);
    return false;
}
