#include "symbols/eh_frame.h"

#include <stdlib.h>
#include <string.h>

/* Copies two segments, laid out as loaded, with the gap between them. @return false: no memory */
static bool lay_out(struct object_eh_frame *out, const struct object *o, const GElf_Phdr *low,
                    const GElf_Phdr *high)
{
    out->memory = calloc(1, high->p_vaddr - low->p_vaddr + high->p_filesz);
    if (!out->memory)
        return false;
    memcpy(out->memory, o->image + low->p_offset, low->p_filesz);
    memcpy(out->memory + (high->p_vaddr - low->p_vaddr), o->image + high->p_offset, high->p_filesz);
    return true;
}

/*
 * Usually one segment holds both tables. Some start files make .eh_frame writable, and so part of
 * another segment (in CUDA's libraries): then memory is laid out as loaded.
 *
 * @return whether the view's data, size and address are set
 */
static bool find_memory(struct object_eh_frame *out, struct object_fault *fault,
                        const struct object *o, const GElf_Phdr *segment, const GElf_Phdr *other)
{
    const bool below = other && other->p_vaddr < segment->p_vaddr;
    const GElf_Phdr *low = below ? other : segment, *high = below || !other ? segment : other;
    const uint64_t distance = high->p_vaddr - low->p_vaddr, most = UINT32_MAX;

    if (low != high && distance < low->p_filesz)
        return object_fault_set(fault, o->header.e_phoff, "p_vaddr",
                                "the segments of .eh_frame and .eh_frame_hdr overlap");
    if (high->p_filesz > most || distance > most - high->p_filesz)
        return object_fault_set(fault, o->header.e_phoff, "p_vaddr",
                                ".eh_frame and .eh_frame_hdr are further apart than 4 GiB");
    if (low != high && !lay_out(out, o, low, high))
        return object_fault_set(fault, 0, NULL, "out of memory");
    out->eh.data = out->memory ? out->memory : o->image + low->p_offset;
    out->eh.size = (uint32_t)(distance + high->p_filesz);
    out->eh.address = low->p_vaddr;
    return true;
}

bool object_eh_frame_open(struct object_eh_frame *out, struct object_fault *fault,
                          const struct object *o)
{
    const GElf_Phdr *hdr = object_segment(o, PT_GNU_EH_FRAME), *segment, *other = NULL;
    const size_t section = object_section_after(o, 0, ".eh_frame");
    struct sfb_error error = { SFB_OK, NULL, 0 };

    *out = (struct object_eh_frame){ .status = hdr ? SFB_BAD_ELF : SFB_NO_EH_FRAME };
    if (!hdr)
        return object_fault_set(fault, o->header.e_phoff, "p_type",
                                "no PT_GNU_EH_FRAME: there is no table of .eh_frame (ld makes none "
                                "for static programs that are no PIE)");
    segment = object_segment_at(o, hdr->p_vaddr);
    if (!segment)
        return object_fault_set(
            fault,
            object_segment_header_at(o, (size_t)(hdr - o->phdrs)) +
                OBJECT_PHDR_AT(object_class(o), p_vaddr),
            "p_vaddr",
            "PT_GNU_EH_FRAME has no bytes in this file (as in a file of debug information)");
    if (section != 0)
        other = object_segment_at(o, o->sections[section].header.sh_addr);
    out->hdr_size = hdr->p_memsz;
    if (!find_memory(out, fault, o, segment, other == segment ? NULL : other))
        return false;
    out->status = sfb_eh_frame_open(&out->eh, out->eh.data, out->eh.size, out->eh.address,
                                    hdr->p_vaddr, (enum sfb_abi)o->abi, &error);
    if (out->status == SFB_OK)
        return true;
    object_fault_set(fault, object_eh_frame_offset(out, o, error.offset),
                     error.field ? error.field : ".eh_frame_hdr", sfb_status_str(out->status));
    free(out->memory);
    *out = (struct object_eh_frame){ .status = out->status };
    return false;
}

uint64_t object_eh_frame_offset(const struct object_eh_frame *view, const struct object *o,
                                uint64_t offset)
{
    uint64_t at = 0;

    return object_offset_of(o, view->eh.address + offset, &at) ? at : 0;
}

void object_eh_frame_close(struct object_eh_frame *view)
{
    free(view->memory);
    *view = (struct object_eh_frame){ .memory = NULL };
}

/* ---- by its section ---- */

static struct object_cfi_place none(const char *reason)
{
    return (struct object_cfi_place){ .result = OBJECT_CFI_NONE, .reason = reason };
}

static struct object_cfi_place by_section(const struct object *o, size_t index)
{
    const struct object_section *s = &o->sections[index];

    if (s->header.sh_type == SHT_NOBITS)
        return none("this file has no bytes of .eh_frame");
    if ((s->header.sh_flags & SHF_COMPRESSED) != 0)
        return none(".eh_frame is compressed");
    if (!object_bytes(o, s))
        return none(".eh_frame ends past the file");
    if (s->header.sh_size == 0)
        return none(".eh_frame is empty");
    return (struct object_cfi_place){ .section = index,
                                      .address = s->address,
                                      .offset = s->header.sh_offset,
                                      .size = s->header.sh_size };
}

/* @return the end of the table's last entry; 0: no entry is readable */
static uint64_t end_of_entries(const struct sfb_eh_frame *eh)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < eh->count; i++) {
        struct sfb_cfi_fde fde;

        if (sfb_eh_frame_fde(eh, i, &fde, NULL) == SFB_OK && fde.program_end > end)
            end = fde.program_end;
    }
    return end;
}

static struct object_cfi_place by_segment(const struct object *o, const GElf_Phdr *hdr)
{
    const GElf_Phdr *load = object_segment_at(o, hdr->p_vaddr);
    struct sfb_eh_frame eh;
    uint64_t end;

    if (!load)
        return none("no section headers, and no segment loads PT_GNU_EH_FRAME");
    if (sfb_eh_frame_open(&eh, o->image + load->p_offset, load->p_filesz, load->p_vaddr,
                          hdr->p_vaddr, (enum sfb_abi)o->abi, NULL) != SFB_OK)
        return none("no section headers, and PT_GNU_EH_FRAME has no table that can be read");
    end = end_of_entries(&eh);
    if (eh.frames < load->p_vaddr || eh.frames - load->p_vaddr >= end)
        return none("no section headers, and PT_GNU_EH_FRAME leads to no entry");
    return (struct object_cfi_place){ .address = eh.frames,
                                      .offset = load->p_offset + (eh.frames - load->p_vaddr),
                                      .size = end - (eh.frames - load->p_vaddr) };
}

struct object_cfi_place object_find_cfi(const struct object *object)
{
    const size_t section = object_section_after(object, 0, ".eh_frame");
    const GElf_Phdr *hdr =
        object->section_count == 0 ? object_segment(object, PT_GNU_EH_FRAME) : NULL;

    if (section == 0 && !hdr)
        return none(object->section_count == 0 ? "no section headers, and no PT_GNU_EH_FRAME"
                                               : "no section .eh_frame");
    if (object->abi < SFB_ABI_AARCH64_BE || object->abi > SFB_ABI_AMD64_LE)
        return (struct object_cfi_place){ .result = OBJECT_CFI_MACHINE,
                                          .reason = "only x86-64 and AArch64 are compared" };
    return section != 0 ? by_section(object, section) : by_segment(object, hdr);
}
