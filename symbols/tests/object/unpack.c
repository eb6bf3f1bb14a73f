/* Debug information, packed by zlib and unpacked by us: whole, and with each byte damaged. */
#include "symbols/unpack.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support/test.h"

enum { TEXT = 5000, NAMES = 64, ROOM = 8192, SECTIONS = 4 };

static char text[TEXT];

/* A file with .debug_info, packed, and .debug_loclists. */
struct file {
    Elf64_Ehdr header;
    Elf64_Shdr section[SECTIONS];
    char names[NAMES];
    Elf64_Chdr packed;
    uint8_t bytes[ROOM];
};

static void make_file(struct file *f)
{
    static const char names[] = "\0.debug_info\0.debug_loclists\0.shstrtab";
    uLongf size = sizeof f->bytes;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i / 7);
    memset(f, 0, sizeof *f);
    memcpy(f->names, names, sizeof names);
    f->packed = (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZLIB, .ch_size = TEXT, .ch_addralign = 1 };
    cr_assert(eq(int, compress2(f->bytes, &size, (const Bytef *)text, TEXT, 9), Z_OK));
    f->header = (Elf64_Ehdr){ .e_type = ET_DYN,
                              .e_version = EV_CURRENT,
                              .e_shoff = offsetof(struct file, section),
                              .e_ehsize = sizeof f->header,
                              .e_shentsize = sizeof *f->section,
                              .e_shnum = SECTIONS,
                              .e_shstrndx = 3 };
    memcpy(f->header.e_ident, ELFMAG, SELFMAG);
    f->header.e_ident[EI_CLASS] = ELFCLASS64;
    f->header.e_ident[EI_DATA] = ELFDATA2LSB;
    f->header.e_ident[EI_VERSION] = EV_CURRENT;
    f->section[1] = (Elf64_Shdr){ .sh_name = 1,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_flags = SHF_COMPRESSED,
                                  .sh_offset = offsetof(struct file, packed),
                                  .sh_size = sizeof f->packed + size };
    f->section[2] = (Elf64_Shdr){ .sh_name = 13,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_offset = offsetof(struct file, bytes),
                                  .sh_size = 100 };
    f->section[3] = (Elf64_Shdr){ .sh_name = 29,
                                  .sh_type = SHT_STRTAB,
                                  .sh_offset = offsetof(struct file, names),
                                  .sh_size = NAMES };
}

static Elf *open_file(struct file *f)
{
    elf_version(EV_CURRENT);
    return elf_memory((char *)f, sizeof *f);
}

Test(unpack, gives_what_was_packed_and_leaves_out_the_rest)
{
    struct file *f = malloc(sizeof *f);
    struct object_unpacked unpacked;
    GElf_Shdr header;
    Elf_Data *data;
    Elf *elf;

    make_file(f);
    elf = open_file(f);
    object_unpack(&unpacked, elf);
    cr_assert(unpacked.elf != NULL);
    data = elf_rawdata(elf_getscn(unpacked.elf, 1), NULL);
    cr_assert(eq(sz, data->d_size, TEXT));
    cr_expect(zero(int, memcmp(data->d_buf, text, TEXT)));
    cr_assert(gelf_getshdr(elf_getscn(unpacked.elf, 1), &header) != NULL);
    cr_expect(zero(ulong, header.sh_flags & SHF_COMPRESSED));
    cr_assert(gelf_getshdr(elf_getscn(unpacked.elf, 2), &header) != NULL);
    cr_expect(eq(uint, header.sh_type, SHT_NOBITS));
    object_unpacked_free(&unpacked);
    elf_end(elf);
    f->section[1].sh_flags = 0;
    elf = open_file(f);
    object_unpack(&unpacked, elf);
    cr_expect(unpacked.elf == NULL, "nothing is packed");
    object_unpacked_free(&unpacked);
    elf_end(elf);
    free(f);
}

/* Sections of an image lie in it, and have what their bytes say, or there is none. */
Test(unpack, believes_no_damaged_byte)
{
    struct file *good = malloc(sizeof *good), *bad = malloc(sizeof *bad);
    size_t images = 0, tried = 0;

    make_file(good);
    for (size_t at = EI_VERSION; at < offsetof(struct file, bytes) + 600; at++)
        for (unsigned bit = 0; bit < 8; bit += 3) {
            struct object_unpacked unpacked;
            Elf *elf;

            *bad = *good;
            ((uint8_t *)bad)[at] ^= (uint8_t)(1u << bit);
            elf = open_file(bad);
            object_unpack(&unpacked, elf);
            for (size_t i = 1; unpacked.elf && i < SECTIONS; i++)
                elf_rawdata(elf_getscn(unpacked.elf, i), NULL);
            images += unpacked.elf != NULL;
            tried++;
            object_unpacked_free(&unpacked);
            elf_end(elf);
        }
    cr_expect(lt(sz, images, tried));
    cr_expect(lt(sz, 0, images));
    free(good);
    free(bad);
}
