/*
 * libelf reads the headers; the bytes are taken from the image by their offset. elf_getdata() would
 * also convert and decompress, neither of which an SFrame section ever needs, and it gives NULL
 * buffers and invented sizes for files that lie.
 */
#include "elf_section.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* elf.h has it since glibc 2.36 or so, under another name in other C libraries. */
#define SEGMENT_GNU_SFRAME 0x6474e554u

static const char *format_name(const GElf_Ehdr *header)
{
    static const struct {
        GElf_Half machine;
        unsigned char class, order;
        const char *name;
    } formats[] = {
        { EM_X86_64, ELFCLASS64, ELFDATA2LSB, "elf64-x86-64" },
        { EM_X86_64, ELFCLASS32, ELFDATA2LSB, "elf32-x86-64" },
        { EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "elf64-littleaarch64" },
        { EM_AARCH64, ELFCLASS64, ELFDATA2MSB, "elf64-bigaarch64" },
        { EM_386, ELFCLASS32, ELFDATA2LSB, "elf32-i386" },
        { EM_S390, ELFCLASS64, ELFDATA2MSB, "elf64-s390" },
    };
    bool big = header->e_ident[EI_DATA] == ELFDATA2MSB;

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].machine == header->e_machine &&
            formats[i].class == header->e_ident[EI_CLASS] &&
            formats[i].order == header->e_ident[EI_DATA])
            return formats[i].name;
    /* What a BFD that was built without the target calls it. */
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return big ? "elf32-big" : "elf32-little";
    return big ? "elf64-big" : "elf64-little";
}

static bool inside(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

/*
 * libelf gives no section at all when their headers lie past the end: without this a file that was
 * cut off would pass for one without section headers.
 */
static enum elf_result check_sections(Elf *elf, const GElf_Ehdr *header, struct elf_fault *fault,
                                      size_t size)
{
    size_t entry = gelf_fsize(elf, ELF_T_SHDR, 1, EV_CURRENT);
    size_t count = 0, names = 0;

    if (header->e_shoff == 0 || elf_getshdrnum(elf, &count) != 0)
        count = 0;
    if (count == 0 && header->e_shnum == 0)
        return ELF_ABSENT;
    if (count == 0 || count > size / entry || !inside(header->e_shoff, count * entry, size))
        return elf_faulty(fault, ELF_EHDR_AT(gelf_getclass(elf), e_shoff), "e_shoff",
                          "the section headers end past the file");
    if (header->e_shentsize != entry)
        return elf_faulty(fault, ELF_EHDR_AT(gelf_getclass(elf), e_shentsize), "e_shentsize",
                          "not the size of a section header");
    if (elf_getshdrstrndx(elf, &names) != 0 || names >= count)
        return elf_faulty(fault, ELF_EHDR_AT(gelf_getclass(elf), e_shstrndx), "e_shstrndx",
                          "there is no such section");
    return ELF_FOUND;
}

/* .sframe itself, if its header tells the truth. */
static enum elf_result take_section(struct elf_section *out, struct elf_fault *fault, Elf *elf,
                                    const GElf_Shdr *s, uint64_t header_at, uint8_t *image,
                                    size_t size)
{
    if (s->sh_type == SHT_NOBITS)
        return elf_faulty(
            fault, header_at + ELF_SHDR_AT(gelf_getclass(elf), sh_type), "sh_type",
            ".sframe has no bytes in this file (SHT_NOBITS: a file of debug information)");
    if (s->sh_flags & SHF_COMPRESSED)
        return elf_faulty(fault, header_at + ELF_SHDR_AT(gelf_getclass(elf), sh_flags), "sh_flags",
                          ".sframe is compressed, which a loaded section cannot be");
    if (!inside(s->sh_offset, s->sh_size, size))
        return elf_faulty(fault, header_at + ELF_SHDR_AT(gelf_getclass(elf), sh_offset),
                          "sh_offset", ".sframe ends past the file");
    out->data = image + s->sh_offset;
    out->size = (size_t)s->sh_size;
    out->vma = s->sh_addr;
    return ELF_FOUND;
}

static enum elf_result from_section(struct elf_section *out, struct elf_fault *fault, Elf *elf,
                                    const GElf_Ehdr *header, uint8_t *image, size_t size)
{
    enum elf_result result = check_sections(elf, header, fault, size);
    Elf_Scn *section = NULL;
    size_t names = 0;

    if (result != ELF_FOUND || elf_getshdrstrndx(elf, &names) != 0)
        return result;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr s;
        const char *name = gelf_getshdr(section, &s) ? elf_strptr(elf, names, s.sh_name) : NULL;

        if (name && strcmp(name, ".sframe") == 0)
            return take_section(
                out, fault, elf, &s,
                header->e_shoff + (uint64_t)elf_ndxscn(section) * header->e_shentsize, image, size);
    }
    return ELF_ABSENT;
}

static enum elf_result from_segment(struct elf_section *out, struct elf_fault *fault, Elf *elf,
                                    const GElf_Ehdr *header, uint8_t *image, size_t size)
{
    size_t entry = gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT);
    size_t count = 0;

    if (header->e_phoff == 0 || header->e_phnum == 0)
        return ELF_ABSENT;
    if (elf_getphdrnum(elf, &count) != 0 || count > size / entry ||
        !inside(header->e_phoff, count * entry, size))
        return elf_faulty(fault, ELF_EHDR_AT(gelf_getclass(elf), e_phoff), "e_phoff",
                          "the program headers end past the file");
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr p;

        /* objcopy -R .sframe leaves the segment behind, with a size of zero. */
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != SEGMENT_GNU_SFRAME || p.p_filesz == 0)
            continue;
        if (!inside(p.p_offset, p.p_filesz, size))
            return elf_faulty(fault,
                              header->e_phoff + i * header->e_phentsize +
                                  ELF_PHDR_AT(gelf_getclass(elf), p_offset),
                              "p_offset", "PT_GNU_SFRAME ends past the file");
        out->data = image + p.p_offset;
        out->size = (size_t)p.p_filesz;
        out->vma = p.p_vaddr;
        return ELF_FOUND;
    }
    return ELF_ABSENT;
}

static enum elf_result find(struct elf_section *out, struct elf_fault *fault, Elf *elf,
                            uint8_t *image, size_t size)
{
    GElf_Ehdr header;
    enum elf_result result;

    if (elf_kind(elf) == ELF_K_AR)
        return elf_faulty(fault, 0, NULL, "an archive: extract its members with ar");
    if (elf_kind(elf) != ELF_K_ELF)
        return elf_faulty(fault, 0, NULL, "not an ELF file");
    if (!gelf_getehdr(elf, &header))
        return elf_faulty(fault, 0, NULL, "the ELF header cannot be read");
    out->format = format_name(&header);
    result = from_section(out, fault, elf, &header, image, size);
    if (result == ELF_ABSENT)
        result = from_segment(out, fault, elf, &header, image, size);
    return result;
}

enum elf_result elf_section_find(struct elf_section *out, struct elf_fault *fault, uint8_t *image,
                                 size_t size)
{
    struct elf_section found = { NULL, 0, 0, NULL };
    enum elf_result result;
    Elf *elf;

    if (elf_version(EV_CURRENT) == EV_NONE)
        return elf_faulty(fault, 0, NULL, "libelf is older than its header");
    elf = elf_memory((char *)image, size);
    if (!elf)
        return elf_faulty(fault, 0, NULL, "not an ELF file");
    result = find(&found, fault, elf, image, size);
    elf_end(elf);
    if (result == ELF_FOUND)
        *out = found;
    return result;
}
