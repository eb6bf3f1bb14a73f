#include "symbols/unpack.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MAX = 4096 };

/* The file, its section headers, and the image's: file header, sections, section headers. */
struct work {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr file;
    Elf64_Shdr *from, *to; /* file.e_shnum of each */
    uint8_t *image;
    size_t used;
};

static uint64_t rounded(uint64_t size)
{
    return (size + 15) & ~(uint64_t)15;
}

static bool is_inside(const struct work *w, uint64_t offset, uint64_t size)
{
    return offset <= w->size && size <= w->size - offset;
}

/* @return false: of another class or byte order, or no table that is all there */
static bool read_headers(struct work *w)
{
    const Elf64_Ehdr *e = &w->file;
    uint64_t table;

    if (w->size < sizeof *e)
        return false;
    memcpy(&w->file, w->bytes, sizeof *e);
    table = (uint64_t)e->e_shnum * sizeof *w->from;
    if (e->e_ident[EI_CLASS] != ELFCLASS64 ||
        e->e_ident[EI_DATA] !=
            (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) ||
        (e->e_type != ET_EXEC && e->e_type != ET_DYN) || e->e_shentsize != sizeof *w->from ||
        e->e_shnum == 0 || e->e_shnum > SECTIONS_MAX || e->e_shstrndx >= e->e_shnum ||
        !is_inside(w, e->e_shoff, table))
        return false;
    w->from = malloc(2 * table);
    if (!w->from)
        return false;
    w->to = w->from + e->e_shnum;
    memcpy(w->from, w->bytes + e->e_shoff, table);
    return true;
}

/* @return the name; NULL: it is not all there */
static const char *name_of(const struct work *w, const Elf64_Shdr *section)
{
    const Elf64_Shdr *names = &w->from[w->file.e_shstrndx];
    const char *name;

    if (!is_inside(w, names->sh_offset, names->sh_size) || section->sh_name >= names->sh_size)
        return NULL;
    name = (const char *)w->bytes + names->sh_offset + section->sh_name;
    return memchr(name, '\0', names->sh_size - section->sh_name) ? name : NULL;
}

/* What names are found by: functions, lines, inlined calls. Not where variables are, nor macros, nor indexes for debuggers. */
static bool is_wanted(const char *name)
{
    static const char *const wanted[] = { ".debug_info",      ".debug_types",  ".debug_abbrev",
                                          ".debug_line",      ".debug_str",    ".debug_line_str",
                                          ".debug_aranges",   ".debug_ranges", ".debug_rnglists",
                                          ".gnu_debugaltlink" };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(name, wanted[i]) == 0)
            return true;
    return false;
}

/* @return bytes of a section that is wanted, unpacked; 0: it cannot be had */
static uint64_t size_of(const struct work *w, const Elf64_Shdr *section, bool *packed)
{
    Elf64_Chdr header;

    *packed = section->sh_flags & SHF_COMPRESSED;
    if (!is_inside(w, section->sh_offset, section->sh_size))
        return 0;
    if (!*packed)
        return section->sh_size;
    if (section->sh_size < sizeof header)
        return 0;
    memcpy(&header, w->bytes + section->sh_offset, sizeof header);
    return header.ch_type == ELFCOMPRESS_ZLIB && header.ch_size < SIZE_MAX / SECTIONS_MAX
               ? header.ch_size
               : 0;
}

/*
 * Plans the image: what is not wanted has no bytes.
 *
 * @return its size; 0: libelf has to do it
 */
static uint64_t plan(struct work *w)
{
    uint64_t size = rounded(sizeof w->file), copied = 0;
    bool any = false;

    for (size_t i = 0; i < w->file.e_shnum; i++) {
        const Elf64_Shdr *from = &w->from[i];
        const char *name = name_of(w, from);
        Elf64_Shdr *to = &w->to[i];
        bool packed;

        *to = *from;
        if (!name || strcmp(name, ".debug_addr") == 0)
            return 0; /* it may be split */
        if (from->sh_type == SHT_NULL || from->sh_type == SHT_NOBITS)
            continue;
        if (i != w->file.e_shstrndx && !is_wanted(name)) {
            to->sh_type = SHT_NOBITS;
            to->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
            continue;
        }
        to->sh_size = size_of(w, from, &packed);
        if (to->sh_size == 0 && from->sh_size != 0)
            return 0;
        any |= packed;
        copied += packed ? 0 : to->sh_size;
        if (copied > w->size)
            return 0; /* sections of the same bytes */
        to->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
        to->sh_addralign = 1;
        to->sh_offset = size;
        size += rounded(to->sh_size);
    }
    return any ? size + w->file.e_shnum * sizeof *w->to : 0;
}

static bool fill(struct work *w, struct libdeflate_decompressor *by)
{
    for (size_t i = 0; i < w->file.e_shnum; i++) {
        const Elf64_Shdr *from = &w->from[i], *to = &w->to[i];
        uint8_t *at = w->image + to->sh_offset;
        const uint8_t *bytes = w->bytes + from->sh_offset;

        if (to->sh_type == SHT_NULL || to->sh_type == SHT_NOBITS)
            continue;
        if (!(from->sh_flags & SHF_COMPRESSED))
            memcpy(at, bytes, to->sh_size);
        else if (libdeflate_zlib_decompress(by, bytes + sizeof(Elf64_Chdr),
                                            from->sh_size - sizeof(Elf64_Chdr), at, to->sh_size,
                                            NULL) != LIBDEFLATE_SUCCESS)
            return false;
    }
    return true;
}

static void write_headers(struct work *w, uint64_t size)
{
    const uint64_t table = w->file.e_shnum * sizeof *w->to;

    w->file.e_phoff = 0;
    w->file.e_phnum = 0;
    w->file.e_shoff = size - table;
    memcpy(w->image, &w->file, sizeof w->file);
    memcpy(w->image + w->file.e_shoff, w->to, table);
}

static bool make_image(struct work *w, uint64_t size)
{
    struct libdeflate_decompressor *by = libdeflate_alloc_decompressor();
    bool good;

    w->image = malloc(size);
    good = by && w->image && fill(w, by);
    if (good)
        write_headers(w, size);
    if (by)
        libdeflate_free_decompressor(by);
    return good;
}

void object_unpack(struct object_unpacked *out, Elf *elf)
{
    struct work w = { .size = 0 };
    uint64_t size = 0;

    *out = (struct object_unpacked){ .image = NULL };
    w.bytes = (const uint8_t *)elf_rawfile(elf, &w.size);
    if (w.bytes && read_headers(&w))
        size = plan(&w);
    if (size > 0 && make_image(&w, size))
        out->elf = elf_memory((char *)w.image, size);
    free(w.from);
    if (out->elf)
        out->image = w.image;
    else
        free(w.image);
}

void object_unpacked_free(struct object_unpacked *unpacked)
{
    if (unpacked->elf)
        elf_end(unpacked->elf);
    free(unpacked->image);
}
