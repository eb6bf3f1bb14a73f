#include "symbols/minidebug.h"

#include <gelf.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MEBIBYTE = 1024 * 1024, UNPACKED_MAX = 64 * MEBIBYTE, DECODER_MEMORY_MAX = 128 * MEBIBYTE };

static Elf_Data *find_packed(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
            (name = elf_strptr(elf, names, header.sh_name)) != NULL &&
            strcmp(name, ".gnu_debugdata") == 0)
            return elf_rawdata(section, NULL);
    return NULL;
}

/* @return the unpacked bytes; NULL: not xz, or too many */
static uint8_t *unpack(lzma_stream *xz, size_t *size)
{
    uint8_t *bytes = NULL;
    lzma_ret result = LZMA_OK;

    for (size_t room = MEBIBYTE; result == LZMA_OK && room <= UNPACKED_MAX; room *= 2) {
        uint8_t *grown = realloc(bytes, room);

        if (!grown)
            break;
        bytes = grown;
        xz->next_out = bytes + xz->total_out;
        xz->avail_out = room - xz->total_out;
        result = lzma_code(xz, LZMA_FINISH);
    }
    *size = xz->total_out;
    if (result == LZMA_STREAM_END)
        return bytes;
    free(bytes);
    return NULL;
}

bool object_minidebug_open(Elf *elf, Elf **out, void **bytes)
{
    const Elf_Data *packed = find_packed(elf);
    lzma_stream xz = LZMA_STREAM_INIT;
    uint8_t *unpacked;
    Elf *inner;
    size_t size;

    if (!packed || packed->d_size == 0 ||
        lzma_stream_decoder(&xz, DECODER_MEMORY_MAX, 0) != LZMA_OK)
        return false;
    xz.next_in = packed->d_buf;
    xz.avail_in = packed->d_size;
    unpacked = unpack(&xz, &size);
    lzma_end(&xz);
    inner = unpacked ? elf_memory((char *)unpacked, size) : NULL;
    if (inner && elf_kind(inner) == ELF_K_ELF) {
        *out = inner;
        *bytes = unpacked;
        return true;
    }
    elf_end(inner);
    free(unpacked);
    return false;
}
