#include "unwind/process/image.h"

#include <string.h>

#include "base/reader.h"
#include "eh_frame/header.h"
#include "unwind/machine/arch.h"
#include "unwind/process/pages.h"

const ElfW(Phdr) * sfb_image_phdr(const struct sfb_loaded_image *image, uint32_t type)
{
    for (unsigned i = 0; i < image->phdr_count; i++)
        if (image->phdrs[i].p_type == type)
            return &image->phdrs[i];
    return NULL;
}

const ElfW(Phdr) * sfb_image_segment(const struct sfb_loaded_image *image, uint64_t vaddr)
{
    /* Bytes behind p_filesz are zeros (.bss); no table lies there. */
    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && vaddr - p->p_vaddr < p->p_filesz)
            return p;
    }
    return NULL;
}

uint64_t sfb_image_text_end(const struct sfb_loaded_image *image)
{
    const struct sfb_module_identity *identity = &image->identity;
    uint64_t text_end = 0;

    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];
        uint64_t end = image->bias + p->p_vaddr + p->p_memsz;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && end > text_end)
            text_end = end;
    }
    return text_end > identity->start && text_end <= identity->end ? text_end : identity->end;
}

bool sfb_image_is_whole(const struct sfb_loaded_image *image)
{
    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && p->p_filesz > 0 &&
            !sfb_page_probe(image->bias + p->p_vaddr + (p->p_filesz - 1)))
            return false;
    }
    return true;
}

/* Two words: functions return it in registers, and captures come here. */
struct bytes {
    const uint8_t *at;
    uint64_t size;
};

/*
 * Bytes of the module from a virtual address on; no bytes outside of readable segments. If the file is
 * shorter than its headers say, only its readable bytes: a load behind its end is SIGBUS.
 */
static struct bytes bytes_at(const struct sfb_loaded_image *image, uint64_t vaddr)
{
    const ElfW(Phdr) *p = sfb_image_segment(image, vaddr);
    uint64_t address = image->bias + vaddr, room = p ? p->p_filesz - (vaddr - p->p_vaddr) : 0;

    if (address < image->identity.start || address >= image->identity.end ||
        room > image->identity.end - address)
        return (struct bytes){ .size = 0 };
    return (struct bytes){
        .at = (const uint8_t *)(uintptr_t)address, /* NOLINT(performance-no-int-to-ptr) */
        .size = sfb_pages_readable(address, room),
    };
}

enum sfb_status sfb_image_section(struct sfb_section *out, const struct sfb_loaded_image *image)
{
    const ElfW(Phdr) *p = sfb_image_phdr(image, SFB_PT_GNU_SFRAME);
    struct bytes b;
    enum sfb_status status;

    /* objcopy -R .sframe leaves an empty PT_GNU_SFRAME behind. */
    if (!p || p->p_memsz == 0)
        return SFB_NO_SECTION;
    b = bytes_at(image, p->p_vaddr);
    if (b.size == 0)
        return SFB_BAD_ELF;
    /* GNU ld makes p_memsz larger than the section; the section's own header has the true size. */
    status = sfb_section_open(out, b.at, b.size < p->p_memsz ? b.size : p->p_memsz, (uintptr_t)b.at,
                              NULL);
    if (status == SFB_OK && out->abi != SFB_ARCH_ABI)
        return SFB_BAD_ABI;
    return status;
}

enum sfb_status sfb_image_eh_frame_hdr(struct sfb_eh_frame *out,
                                       const struct sfb_loaded_image *image)
{
    const ElfW(Phdr) *hdr = sfb_image_phdr(image, PT_GNU_EH_FRAME);
    const ElfW(Phdr) *segment = hdr ? sfb_image_segment(image, hdr->p_vaddr) : NULL;
    struct bytes b;

    if (!hdr || hdr->p_memsz == 0)
        return SFB_NO_EH_FRAME;
    if (!segment)
        return SFB_BAD_ELF;
    b = bytes_at(image, segment->p_vaddr);
    if (b.size == 0)
        return SFB_BAD_ELF;
    if (!sfb_eh_frame_place(out, b.at, b.size, (uintptr_t)b.at, image->bias + hdr->p_vaddr,
                            (enum sfb_abi)SFB_ARCH_ABI))
        return SFB_BAD_ARGUMENT;
    return sfb_eh_frame_read_header(out, NULL);
}

/*
 * Linkers put read-only tables together: the segment with .eh_frame_hdr nearly always has .eh_frame,
 * too.
 */
enum sfb_status sfb_image_eh_frame_extend(struct sfb_eh_frame *eh,
                                          const struct sfb_loaded_image *image)
{
    const ElfW(Phdr) *segment = sfb_image_segment(image, eh->frames - image->bias);
    struct bytes b;

    if (!segment || eh->address == image->bias + segment->p_vaddr)
        return SFB_OK;
    b = bytes_at(image, segment->p_vaddr);
    return b.size > 0 && sfb_eh_frame_extend(eh, b.at, b.size, (uintptr_t)b.at) == SFB_OK
               ? SFB_OK
               : SFB_BAD_ELF;
}

void sfb_module_read(struct sfb_module *out, const struct sfb_loaded_image *image)
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

void sfb_image_build_id(struct sfb_build_id *out, const struct sfb_loaded_image *image)
{
    out->size = 0;
    out->at = NULL;
    for (unsigned i = 0; i < image->phdr_count && out->size == 0; i++) {
        struct sfb_reader r = { .left = 0 };
        struct bytes b;

        if (image->phdrs[i].p_type != PT_NOTE)
            continue;
        b = bytes_at(image, image->phdrs[i].p_vaddr);
        r.pos = b.at;
        r.left = b.size < image->phdrs[i].p_memsz ? b.size : image->phdrs[i].p_memsz;
        while (next_note(&r, out))
            ;
    }
    /* On that page, it can be compared again without reading the program headers. */
    if (out->size > 0 &&
        (uintptr_t)out->at + out->size > image->identity.start + SFB_IMAGE_HEADER_PAGE)
        out->at = NULL;
}
