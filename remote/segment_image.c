#include "remote/segment_image.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PHDRS_MAX = 256, IMAGE_MAX = REMOTE_IMAGE_MOST };

struct headers {
    Elf64_Ehdr file;
    Elf64_Phdr segment[PHDRS_MAX];
};

static bool read_all(const struct remote_reader *memory, uint64_t address, void *out, size_t size)
{
    return memory->read(memory->user, address, out, size) == size;
}

static bool read_headers(struct headers *out, const struct remote_reader *memory, uint64_t start)
{
    const Elf64_Ehdr *e = &out->file;

    return read_all(memory, start, &out->file, sizeof out->file) &&
           memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 && e->e_ident[EI_CLASS] == ELFCLASS64 &&
           e->e_phentsize == sizeof *out->segment && e->e_phnum > 0 && e->e_phnum <= PHDRS_MAX &&
           e->e_phoff <= IMAGE_MAX &&
           read_all(memory, start + e->e_phoff, out->segment, e->e_phnum * sizeof *out->segment);
}

/* @return bytes of the image; 0: it is too large, or has no segment with the file's first byte */
static size_t measure(const struct headers *h, uint64_t *first)
{
    uint64_t end = 0;
    bool found = false;

    for (unsigned i = 0; i < h->file.e_phnum; i++) {
        const Elf64_Phdr *p = &h->segment[i];

        if (p->p_type != PT_LOAD)
            continue;
        if (p->p_offset > IMAGE_MAX || p->p_filesz > IMAGE_MAX - p->p_offset)
            return 0;
        if (end < p->p_offset + p->p_filesz)
            end = p->p_offset + p->p_filesz;
        if (p->p_offset == 0 && !found) {
            *first = p->p_vaddr;
            found = true;
        }
    }
    return found ? (size_t)end : 0;
}

/* What cannot be read stays zero: tables there are damaged, and say so. */
static void copy_segments(uint8_t *image, const struct headers *h,
                          const struct remote_reader *memory, uint64_t bias)
{
    for (unsigned i = 0; i < h->file.e_phnum; i++) {
        const Elf64_Phdr *p = &h->segment[i];

        if (p->p_type == PT_LOAD)
            memory->read(memory->user, bias + p->p_vaddr, image + p->p_offset, (size_t)p->p_filesz);
    }
}

/* The image ends behind the last segment, and section headers stand behind that. */
static void forget_sections(uint8_t *image)
{
    Elf64_Ehdr header;

    memcpy(&header, image, sizeof header);
    header.e_shoff = 0;
    header.e_shnum = 0;
    header.e_shstrndx = 0;
    memcpy(image, &header, sizeof header);
}

void *remote_segment_image(const struct remote_reader *memory, uint64_t start, size_t most,
                           size_t *size)
{
    struct headers *h = malloc(sizeof *h);
    uint64_t first = 0;
    uint8_t *image = NULL;

    *size = h && read_headers(h, memory, start) ? measure(h, &first) : 0;
    if (*size >= sizeof h->file && *size <= most)
        image = calloc(1, *size);
    if (image) {
        copy_segments(image, h, memory, start - first);
        forget_sections(image);
    }
    free(h);
    return image;
}
