/* libelf walks archives in files only: the bytes are copied into an unnamed file. */
#include "symbols/archive.h"

#include <ar.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/write_all.h"

#define THIN_MAGIC "!<thin>\n"

static bool begins_with(const uint8_t *image, size_t size, const char *magic)
{
    return size >= strlen(magic) && memcmp(image, magic, strlen(magic)) == 0;
}

enum object_archive_kind object_archive_kind(const uint8_t *image, size_t size)
{
    if (begins_with(image, size, ARMAG))
        return OBJECT_ARCHIVE;
    return begins_with(image, size, THIN_MAGIC) ? OBJECT_THIN_ARCHIVE : OBJECT_NO_ARCHIVE;
}

/* Whether a member lies inside the archive; tables of names and symbols are no members. */
static bool read_member(struct object_member *out, Elf *member, size_t size)
{
    const Elf_Arhdr *header = elf_getarhdr(member);
    const int64_t at = elf_getbase(member);

    if (!header || !header->ar_name || header->ar_name[0] == '/' || at < 0 || (uint64_t)at > size ||
        header->ar_size < 0 || (uint64_t)header->ar_size > size - (uint64_t)at)
        return false;
    *out = (struct object_member){ header->ar_name, (size_t)at, (size_t)header->ar_size };
    return true;
}

bool object_archive_members(const uint8_t *image, size_t size,
                            void (*visit)(void *data, const struct object_member *member),
                            void *data, bool *any)
{
    const int fd = memfd_create("archive", MFD_CLOEXEC);
    Elf_Cmd command = ELF_C_READ_MMAP;
    Elf *archive = NULL, *elf;
    bool good;

    *any = false;
    if (elf_version(EV_CURRENT) != EV_NONE && fd >= 0 && sfb_write_all(fd, image, size) == size)
        archive = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    good = archive && elf_kind(archive) == ELF_K_AR;
    while (good && (elf = elf_begin(fd, command, archive)) != NULL) {
        struct object_member member;

        if (read_member(&member, elf, size)) {
            *any = true;
            if (elf_kind(elf) == ELF_K_ELF)
                visit(data, &member);
        }
        command = elf_next(elf);
        elf_end(elf);
    }
    elf_end(archive);
    if (fd >= 0)
        close(fd);
    return good;
}

bool object_archive_is_empty(const uint8_t *image, size_t size)
{
    static const char *const tables[] = { "/ ", "// ", "/SYM64/ " };
    size_t at = SARMAG;

    while (size - at >= sizeof(struct ar_hdr)) {
        const struct ar_hdr *header = (const struct ar_hdr *)(image + at);
        char digits[sizeof header->ar_size + 1] = "";
        uint64_t bytes;
        bool is_table = false;

        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            is_table |= strncmp(header->ar_name, tables[i], strlen(tables[i])) == 0;
        memcpy(digits, header->ar_size, sizeof header->ar_size);
        bytes = strtoull(digits, NULL, 10);
        if (!is_table || bytes > size - at - sizeof *header)
            return false;
        at += sizeof *header + (size_t)bytes;
        at += at % 2;
        if (at > size)
            return true;
    }
    return size == at;
}
