#include "symbols/packed.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

static uint64_t allowed = OBJECT_PACKED_MAX;

void object_packed_allow(uint64_t bytes)
{
    allowed = bytes;
}

/* "ZLIB" and the size, big endian: compression before ELF had a standard. */
static uint64_t size_in_front(Elf_Scn *section)
{
    const Elf_Data *data = elf_rawdata(section, NULL);
    const uint8_t *bytes = data ? data->d_buf : NULL;
    uint64_t size = 0;

    if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
        return 0;
    for (int i = 4; i < 12; i++)
        size = size << 8 | bytes[i];
    return size;
}

/* @return the stated unpacked size of a section; 0: not packed */
static uint64_t size_unpacked(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    GElf_Chdr packed;

    if (header->sh_type == SHT_NOBITS)
        return 0;
    if (header->sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
    return strncmp(name, ".zdebug", 7) == 0 ? size_in_front(section) : 0;
}

bool object_packed_is_too_much(Elf *elf, struct object_packed *largest)
{
    uint64_t all = 0;
    size_t names;

    *largest = (struct object_packed){ .unpacked = 0 };
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        const char *name;
        uint64_t size;

        if (!gelf_getshdr(section, &header))
            continue;
        name = elf_strptr(elf, names, header.sh_name);
        size = size_unpacked(section, &header, name ? name : "");
        if (size / OBJECT_PACKED_RATIO <= header.sh_size)
            continue;
        all = all + size < all ? UINT64_MAX : all + size;
        if (size > largest->unpacked) {
            *largest = (struct object_packed){ .packed = header.sh_size, .unpacked = size };
            snprintf(largest->name, sizeof largest->name, "%s", name ? name : "?");
        }
    }
    return all > allowed;
}

bool object_packed_by_zstd(Elf *elf)
{
    enum { ZSTD = 2 }; /* ELFCOMPRESS_ZSTD, which elf.h has from glibc 2.36 on */
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        GElf_Chdr packed;

        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_COMPRESSED) != 0 &&
            gelf_getchdr(section, &packed) && packed.ch_type == ZSTD)
            return true;
    }
    return false;
}
