#include "symbols/build_id.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <string.h>

#include "util/hex.h"
#include "util/hex_text.h"

bool object_build_id_set(struct object_build_id *out, const void *bytes, size_t size)
{
    *out = (struct object_build_id){ .size = 0 };
    if (size == 0 || size > sizeof out->bytes)
        return false;
    memcpy(out->bytes, bytes, size);
    out->size = size;
    return true;
}

bool object_build_id_of(struct object_build_id *out, Elf *elf)
{
    const void *bytes = NULL;
    const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

    return object_build_id_set(out, bytes, size > 0 && bytes ? (size_t)size : 0);
}

/* Without section headers libelf reads the notes of the segments. */
static void forget_sections(uint8_t *head, size_t size)
{
    if (size < sizeof(Elf64_Ehdr))
        return;
    if (head[EI_CLASS] == ELFCLASS64) {
        Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)head;

        header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
    } else if (head[EI_CLASS] == ELFCLASS32) {
        Elf32_Ehdr *header = (Elf32_Ehdr *)(void *)head;

        header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
    }
}

bool object_build_id_of_head(struct object_build_id *out, uint8_t *head, size_t size)
{
    Elf *elf;
    bool found;

    *out = (struct object_build_id){ .size = 0 };
    forget_sections(head, size);
    elf_version(EV_CURRENT);
    elf = elf_memory((char *)head, size);
    found = elf && object_build_id_of(out, elf);
    elf_end(elf);
    return found;
}

bool object_build_id_equal(const struct object_build_id *a, const struct object_build_id *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void object_build_id_text(char out[OBJECT_BUILD_ID_TEXT], const struct object_build_id *id)
{
    if (id->size > 0)
        sfb_hex_text(out, id->bytes, id->size);
    else
        memcpy(out, "none", sizeof "none");
}

bool object_build_id_path(char out[OBJECT_BUILD_ID_PATH], const struct object_build_id *id,
                          const char *ending)
{
    char text[OBJECT_BUILD_ID_TEXT];

    if (id->size < 2)
        return false;
    object_build_id_text(text, id);
    sprintf(out, ".build-id/%.2s/%s%s", text, text + 2, ending);
    return true;
}
