#include "symbols/candidate.h"

#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/regular.h"

static bool is_section(Elf *elf, Elf_Scn *section, size_t names, const char *wanted)
{
    GElf_Shdr header;
    const char *name;

    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
        return false;
    name = elf_strptr(elf, names, header.sh_name);
    return name && strcmp(name, wanted) == 0;
}

bool object_has_section(Elf *elf, const char *wanted)
{
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;)
        if (is_section(elf, section, names, wanted))
            return true;
    return false;
}

bool object_has_dwarf(Elf *elf)
{
    return object_has_section(elf, ".debug_info") || object_has_section(elf, ".zdebug_info");
}

/* @return false: unreadable */
static bool crc_of(int fd, uint32_t *out)
{
    uint8_t block[16 << 10];
    off_t offset = 0;
    ssize_t got;

    *out = 0;
    while ((got = pread(fd, block, sizeof block, offset)) > 0) {
        *out = lzma_crc32(block, (size_t)got, *out);
        offset += got;
    }
    return got == 0;
}

/* @return whether the file fits; if not, the trail says why */
static bool is_wanted(const struct object_opened *opened, const char *place,
                      const struct object_wanted *wanted, struct object_trail *trail)
{
    char want[OBJECT_BUILD_ID_TEXT], got[OBJECT_BUILD_ID_TEXT];
    struct object_build_id id;
    uint32_t crc = 0;

    if (!opened->elf || elf_kind(opened->elf) != ELF_K_ELF) {
        object_trail_add(trail, wanted->part, place, OBJECT_REFUSED, "not an ELF file");
        return false;
    }
    object_build_id_of(&id, opened->elf);
    if (wanted->id.size > 0 && !object_build_id_equal(&id, &wanted->id)) {
        object_build_id_text(want, &wanted->id);
        object_build_id_text(got, &id);
        object_trail_add(trail, wanted->part, place, OBJECT_OTHER_BUILD_ID,
                         "its build-id is %s, not %s", got, want);
        return false;
    }
    if (wanted->part != OBJECT_FILE && !object_has_dwarf(opened->elf)) {
        object_trail_add(trail, wanted->part, place, OBJECT_NO_DEBUG, NULL);
        return false;
    }
    if (wanted->has_crc && (!crc_of(opened->fd, &crc) || crc != wanted->crc)) {
        object_trail_add(trail, wanted->part, place, OBJECT_REFUSED,
                         "its CRC-32 is 0x%08x, not 0x%08x", crc, wanted->crc);
        return false;
    }
    return true;
}

static bool take(struct object_opened *out, struct object_opened *opened, const char *place,
                 const struct object_wanted *wanted, struct object_trail *trail)
{
    if (!is_wanted(opened, place, wanted, trail) || !(opened->path = strdup(place))) {
        object_opened_close(opened);
        return false;
    }
    object_trail_add(trail, wanted->part, place, OBJECT_USED, NULL);
    *out = *opened;
    return true;
}

bool object_candidate_open(struct object_opened *out, const char *path,
                           const struct object_wanted *wanted, struct object_trail *trail)
{
    struct object_opened opened = { NULL, -1, NULL };
    const char *cause;

    opened.fd = regular_open(path, &cause);
    if (opened.fd < 0) {
        const bool absent = access(path, F_OK) != 0;

        object_trail_add(trail, wanted->part, path, absent ? OBJECT_ABSENT : OBJECT_UNOPENED, "%s",
                         cause);
        return false;
    }
    elf_version(EV_CURRENT);
    opened.elf = elf_begin(opened.fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    return take(out, &opened, path, wanted, trail);
}

bool object_candidate_image(struct object_opened *out, void *image, size_t size, const char *place,
                            const struct object_wanted *wanted, struct object_trail *trail)
{
    struct object_opened opened = { NULL, -1, NULL };

    elf_version(EV_CURRENT);
    opened.elf = elf_memory(image, size);
    return take(out, &opened, place, wanted, trail);
}

void object_opened_keep(struct object_opened *opened)
{
    if (opened->fd < 0 || elf_cntl(opened->elf, ELF_C_FDREAD) != 0)
        return;
    elf_cntl(opened->elf, ELF_C_FDDONE);
    close(opened->fd);
    opened->fd = -1;
}

void object_opened_close(struct object_opened *opened)
{
    if (opened->elf)
        elf_end(opened->elf);
    if (opened->fd >= 0)
        close(opened->fd);
    free(opened->path);
    *opened = (struct object_opened){ NULL, -1, NULL };
}
