#include "unwind/image.h"

#include <string.h>

#include "base/reader.h"
#include "eh_frame/table.h"
#include "unwind/arch.h"
#include "unwind/memory.h"

const ElfW(Phdr) * sfb_image_phdr(const struct sfb_image *image, uint32_t type)
{
    for (unsigned i = 0; i < image->phdr_count; i++)
        if (image->phdrs[i].p_type == type)
            return &image->phdrs[i];
    return NULL;
}

const ElfW(Phdr) * sfb_image_segment(const struct sfb_image *image, uint64_t vaddr)
{
    /* Bytes behind p_filesz are zeros (.bss); no table lies there. */
    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && vaddr - p->p_vaddr < p->p_filesz)
            return p;
    }
    return NULL;
}

bool sfb_image_is_whole(const struct sfb_image *image)
{
    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && p->p_filesz > 0 &&
            !sfb_memory_probe_page(image->bias + p->p_vaddr + (p->p_filesz - 1)))
            return false;
    }
    return true;
}

/*
 * Bytes of the module from a virtual address on; no bytes where it is in no readable segment. Of a
 * file that is shorter than its headers say, those that can be read: behind its end, to load is
 * SIGBUS.
 */
static struct sfb_reader bytes_at(const struct sfb_image *image, uint64_t vaddr)
{
    const ElfW(Phdr) *p = sfb_image_segment(image, vaddr);
    struct sfb_reader r = { .left = 0 };
    uint64_t address = image->bias + vaddr, room = p ? p->p_filesz - (vaddr - p->p_vaddr) : 0;

    if (address < image->identity.start || address >= image->identity.end ||
        room > image->identity.end - address)
        return r;
    r.pos = (const uint8_t *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
    r.left = sfb_memory_readable(address, room);
    return r;
}

enum sfb_status sfb_image_section(struct sfb_section *out, const struct sfb_image *image)
{
    const ElfW(Phdr) *p = sfb_image_phdr(image, PT_GNU_SFRAME);
    struct sfb_reader r;
    enum sfb_status status;

    /* objcopy -R .sframe leaves an empty PT_GNU_SFRAME behind. */
    if (!p || p->p_memsz == 0)
        return SFB_NO_SECTION;
    r = bytes_at(image, p->p_vaddr);
    if (r.left == 0)
        return SFB_BAD_ELF;
    /* GNU ld makes p_memsz larger than the section; the section's own header has the last word. */
    status = sfb_section_open(out, r.pos, r.left < p->p_memsz ? r.left : p->p_memsz,
                              (uintptr_t)r.pos, NULL);
    if (status == SFB_OK && out->abi != SFB_ARCH_ABI)
        return SFB_BAD_ABI;
    return status;
}

enum sfb_status sfb_image_eh_frame_hdr(struct sfb_eh_frame *out, const struct sfb_image *image)
{
    const ElfW(Phdr) *hdr = sfb_image_phdr(image, PT_GNU_EH_FRAME);
    const ElfW(Phdr) *segment = hdr ? sfb_image_segment(image, hdr->p_vaddr) : NULL;
    struct sfb_reader r;

    if (!hdr || hdr->p_memsz == 0)
        return SFB_NO_EH_FRAME;
    if (!segment)
        return SFB_BAD_ELF;
    r = bytes_at(image, segment->p_vaddr);
    if (r.left == 0)
        return SFB_BAD_ELF;
    if (!sfb_eh_frame_place(out, r.pos, r.left, (uintptr_t)r.pos, image->bias + hdr->p_vaddr,
                            (enum sfb_abi)SFB_ARCH_ABI))
        return SFB_BAD_ARGUMENT;
    return sfb_eh_frame_read_header(out, NULL);
}

/*
 * Linkers put read-only tables together: the segment with .eh_frame_hdr has .eh_frame, too, nearly
 * always.
 */
enum sfb_status sfb_image_eh_frame_extend(struct sfb_eh_frame *eh, const struct sfb_image *image)
{
    const ElfW(Phdr) *segment = sfb_image_segment(image, eh->frames - image->bias);
    struct sfb_reader r;

    if (!segment || eh->address == image->bias + segment->p_vaddr)
        return SFB_OK;
    r = bytes_at(image, segment->p_vaddr);
    return r.left > 0 && sfb_eh_frame_extend(eh, r.pos, r.left, (uintptr_t)r.pos) == SFB_OK
               ? SFB_OK
               : SFB_BAD_ELF;
}

void sfb_module_read(struct sfb_module *out, const struct sfb_image *image)
{
    memset(out, 0, sizeof *out);
    out->start = image->identity.start;
    out->end = image->identity.end;
    out->section_status = sfb_image_section(&out->section, image);
    out->eh_frame_status = sfb_image_eh_frame(&out->eh_frame, image);
}

/* A note: sizes of name and descriptor, a type, then both, padded to words of 4 bytes. */
static bool next_note(struct sfb_reader *r, struct sfb_build_id *out)
{
    uint32_t name_size = sfb_reader_u32(r), size = sfb_reader_u32(r), type = sfb_reader_u32(r);
    uint64_t name_room = ((uint64_t)name_size + 3) & ~(uint64_t)3;
    uint64_t room = ((uint64_t)size + 3) & ~(uint64_t)3;

    if (r->failed || name_room + room > r->left)
        return false;
    if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(r->pos, "GNU", 4) == 0 &&
        size <= sizeof out->bytes) {
        out->size = (uint8_t)size;
        memcpy(out->bytes, r->pos + name_room, size);
        out->at = r->pos + name_room;
        return false;
    }
    r->pos += name_room + room;
    r->left -= name_room + room;
    return true;
}

void sfb_image_build_id(struct sfb_build_id *out, const struct sfb_image *image)
{
    out->size = 0;
    out->at = NULL;
    for (unsigned i = 0; i < image->phdr_count && out->size == 0; i++) {
        struct sfb_reader r;

        if (image->phdrs[i].p_type != PT_NOTE)
            continue;
        r = bytes_at(image, image->phdrs[i].p_vaddr);
        if (r.left > image->phdrs[i].p_memsz)
            r.left = image->phdrs[i].p_memsz;
        while (next_note(&r, out))
            ;
    }
    /* There, it can be looked at again without another look at the program headers. */
    if (out->size > 0 &&
        (uintptr_t)out->at + out->size > image->identity.start + SFB_IMAGE_HEADER_PAGE)
        out->at = NULL;
}
