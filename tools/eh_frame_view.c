#include "eh_frame_view.h"

#include <stdlib.h>
#include <string.h>

/*
 * Nearly always one segment holds both tables. Some compilers' start files make .eh_frame writable,
 * and so a part of another one (CUDA's libraries are such): then memory is laid out as loaded.
 */
static uint8_t *lay_out(uint64_t *address, uint64_t *size, const struct elf_file *f,
                        const Elf64_Phdr *a, const Elf64_Phdr *b)
{
    const Elf64_Phdr *low = a->p_vaddr < b->p_vaddr ? a : b, *high = low == a ? b : a;
    uint8_t *memory;

    *address = low->p_vaddr;
    *size = high->p_vaddr + high->p_filesz - low->p_vaddr;
    memory = *size <= UINT32_MAX ? calloc(1, (size_t)*size) : NULL;
    if (memory) {
        memcpy(memory, f->image + low->p_offset, low->p_filesz);
        memcpy(memory + (high->p_vaddr - low->p_vaddr), f->image + high->p_offset, high->p_filesz);
    }
    return memory;
}

bool eh_frame_view_open(struct eh_frame_view *out, struct elf_fault *fault,
                        const struct elf_file *f)
{
    const Elf64_Phdr *hdr = elf_file_phdr(f, PT_GNU_EH_FRAME), *segment, *other = NULL;
    const size_t section = elf_file_section(f, ".eh_frame");
    struct sfb_error error = { SFB_OK, NULL, 0 };
    uint64_t address, size;
    enum sfb_status status;

    if (!hdr)
        return elf_fault_set(fault, f->header.e_phoff, "p_type",
                             "no PT_GNU_EH_FRAME: there is no table of .eh_frame (ld makes none "
                             "for static programs that are no PIE)");
    segment = elf_file_segment(f, hdr->p_vaddr);
    if (!segment)
        return elf_fault_set(
            fault, elf_file_phdr_at(f, (size_t)(hdr - f->phdrs), offsetof(Elf64_Phdr, p_vaddr)),
            "p_vaddr",
            "PT_GNU_EH_FRAME has no bytes in this file (a file of debug information has none)");
    if (section != 0)
        other = elf_file_segment(f, f->shdrs[section].sh_addr);
    *out = (struct eh_frame_view){ .hdr_size = hdr->p_memsz };
    address = segment->p_vaddr;
    size = segment->p_filesz;
    if (other && other != segment)
        out->memory = lay_out(&address, &size, f, segment, other);
    if (size > UINT32_MAX || (other && other != segment && !out->memory))
        return elf_fault_set(fault, f->header.e_phoff, "p_vaddr",
                             ".eh_frame and .eh_frame_hdr are further apart than 4 GiB");
    status = sfb_eh_frame_open(&out->eh, out->memory ? out->memory : f->image + segment->p_offset,
                               (size_t)size, address, hdr->p_vaddr, f->abi, &error);
    if (status == SFB_OK)
        return true;
    out->eh.address = address;
    elf_fault_set(fault, eh_frame_view_at(out, f, error.offset),
                  error.field ? error.field : ".eh_frame_hdr", sfb_status_str(status));
    eh_frame_view_close(out);
    return false;
}

uint64_t eh_frame_view_at(const struct eh_frame_view *view, const struct elf_file *f,
                          uint64_t offset)
{
    const uint64_t address = view->eh.address + offset;
    const Elf64_Phdr *segment = elf_file_segment(f, address);

    return segment ? segment->p_offset + (address - segment->p_vaddr) : 0;
}

void eh_frame_view_close(struct eh_frame_view *view)
{
    free(view->memory);
    *view = (struct eh_frame_view){ .memory = NULL };
}
