/*
 * Files from memory, and tables that ld did not make: whole ones are as good as the file, and no damaged byte is believed.
 * This program is the process that is read.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "remote/eh_index.h"
#include "remote/segment_image.h"
#include "remote/target_memory.h"
#include "support/guarded.h"
#include "support/test.h"
#include "symbols/tables.h"

/* Where this program's ELF header is mapped. */
static uint64_t own_start(void)
{
    return getauxval(AT_PHDR) - sizeof(Elf64_Ehdr);
}

static size_t read_own(void *user, uint64_t address, void *out, size_t size)
{
    (void)user;
    return remote_memory_read(getpid(), address, out, size);
}

static const struct remote_reader own_memory = { read_own, NULL };

static void here(void)
{
}

/* Looks a function of this program up in an image's tables. @return SFB_OK, or why it is not there */
static enum sfb_status look_up(void *image, size_t size, bool index)
{
    enum sfb_status status = SFB_BAD_ELF;
    struct object_tables tables;
    struct object_fault fault;
    struct sfb_eh_frame eh;
    struct object object;
    struct sfb_rule rule;
    void *memory = NULL;

    if (!object_open(&object, &fault, image, size))
        return SFB_BAD_ELF;
    if (object_tables_open(&tables, &object, own_start())) {
        status = tables.module.eh_frame_status;
        eh = tables.module.eh_frame;
        if (index)
            status = remote_eh_index(&eh, &memory, &object, own_start()) ? SFB_OK : SFB_NO_EH_FRAME;
        if (status == SFB_OK)
            status = sfb_eh_frame_find(&eh, (uintptr_t)here, &rule, NULL);
        object_tables_close(&tables);
    }
    free(memory);
    object_close(&object);
    return status;
}

Test(images, of_a_mapped_file_have_its_tables)
{
    size_t size;
    void *image = remote_segment_image(&own_memory, own_start(), REMOTE_IMAGE_MOST, &size);

    cr_assert(image != NULL);
    cr_expect(eq(int, (int)look_up(image, size, false), SFB_OK));
    cr_expect(eq(int, (int)look_up(image, size, true), SFB_OK), "by an index of its own");
    free(image);
}

/* A core may name one large file a thousand times: each image is a copy. */
Test(images, above_the_budget_are_refused)
{
    size_t size, again = 0;
    void *image = remote_segment_image(&own_memory, own_start(), REMOTE_IMAGE_MOST, &size);

    cr_assert(image != NULL);
    free(image);
    image = remote_segment_image(&own_memory, own_start(), size, &again);
    cr_expect(image != NULL && again == size);
    free(image);
    cr_expect(remote_segment_image(&own_memory, own_start(), size - 1, &again) == NULL);
}

/* A process may have anything where its map says that a file is. */
Test(images, with_hostile_headers_are_none_or_bounded)
{
    static const struct {
        const char *name;
        size_t at, size;
        uint64_t value;
    } cases[] = {
        { "no ELF file", offsetof(Elf64_Ehdr, e_ident), 4, 0 },
        { "32 bits", offsetof(Elf64_Ehdr, e_ident) + EI_CLASS, 1, ELFCLASS32 },
        { "no program header", offsetof(Elf64_Ehdr, e_phnum), 2, 0 },
        { "65,535 of them", offsetof(Elf64_Ehdr, e_phnum), 2, 65535 },
        { "of another size", offsetof(Elf64_Ehdr, e_phentsize), 2, 8 },
        { "far away", offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8 },
        { "a segment at the end of all files", sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_offset),
          8, UINT64_MAX },
        { "a segment without end", sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), 8,
          UINT64_MAX },
        { "a segment of 300 MiB", sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), 8,
          300 << 20 },
    };
    struct {
        Elf64_Ehdr file;
        Elf64_Phdr segment;
    } good = { .file = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
                         .e_phoff = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1 },
               .segment = { .p_type = PT_LOAD, .p_filesz = sizeof good } };
    size_t size;
    void *image = remote_segment_image(&own_memory, (uintptr_t)&good, REMOTE_IMAGE_MOST, &size);

    cr_expect(image != NULL && size == sizeof good);
    free(image);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bad[sizeof good];

        memcpy(bad, &good, sizeof good);
        memcpy(bad + cases[i].at, &cases[i].value, cases[i].size);
        image = remote_segment_image(&own_memory, (uintptr_t)bad, REMOTE_IMAGE_MOST, &size);
        cr_expect(image == NULL, "%s", cases[i].name);
        free(image);
    }
}

/* Any bytes of its headers and tables: refused, or an answer; never more than the image has. */
Test(images, that_are_damaged_are_read_within_bounds)
{
    size_t size;
    uint8_t *image = remote_segment_image(&own_memory, own_start(), REMOTE_IMAGE_MOST, &size);
    struct guarded room;
    uint32_t seed = 1;

    cr_assert(image != NULL);
    room = guarded_new(size);
    for (unsigned n = 0; n < 2000; n++) {
        uint8_t *copy = guarded_copy(&room, image, size);

        for (unsigned k = 0; k < 8; k++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % (k < 4 ? 1024 : size)] ^= (uint8_t)(1u << (seed & 7));
        }
        look_up(copy, size, n % 2 == 0);
    }
    guarded_free(&room);
    free(image);
}
