#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/synth/elf_copy.h"

#define SECTION_NAME ".sframe"

/* What is appended: sizes and, from its start, places. */
struct layout {
    uint64_t section, section_size;
    uint32_t type;
    uint64_t names, names_size; /* 0: the names stay where they are */
    uint64_t shdrs;
    size_t shdr_count;
    uint64_t size;
};

static bool is_inside(const struct elf_move *move, uint64_t address)
{
    return address - move->from < move->size;
}

static void relocate(uint64_t *address, const struct elf_copy *copy)
{
    const struct elf_move *move = is_inside(&copy->near, *address) ? &copy->near : &copy->far;

    if (is_inside(move, *address))
        *address += move->to - move->from;
}

static struct layout lay_out(const struct elf_copy *copy, const struct object *f, size_t size,
                             uint32_t type)
{
    struct layout in = { .type = type,
                         .section = copy->section_address - copy->address,
                         .section_size = size,
                         .shdr_count = f->section_count };

    in.size = in.section + size;
    if (object_section_after(f, 0, SECTION_NAME) == 0) {
        in.shdr_count++;
        in.names = in.size;
        in.names_size = f->sections[f->names].header.sh_size + sizeof SECTION_NAME;
        in.size += in.names_size;
    } else if (f->sections[f->names].header.sh_offset >= copy->offset) { /* of a copy */
        in.names = in.size;
        in.names_size = f->sections[f->names].header.sh_size;
        in.size += in.names_size;
    }
    in.shdrs = elf_align(in.size, ELF_SECTION_ALIGN);
    in.size = in.shdrs + in.shdr_count * sizeof(Elf64_Shdr);
    return in;
}

/* Copies structures to their place, in the byte order of the file. */
static void write_table(uint8_t *to, void *from, size_t size, Elf_Type type, const struct object *f)
{
    Elf_Data source = { .d_buf = from, .d_type = type, .d_size = size, .d_version = EV_CURRENT };
    Elf_Data target = { .d_buf = to, .d_type = type, .d_size = size, .d_version = EV_CURRENT };

    elf64_xlatetof(&target, &source, f->header.e_ident[EI_DATA]);
}

static uint8_t *bytes_at(const struct object *f, uint64_t address)
{
    const GElf_Phdr *segment = object_segment_at(f, address);

    return f->image + segment->p_offset + (address - segment->p_vaddr);
}

static void move_bytes(struct elf_copy *copy, const struct object *f)
{
    uint8_t *from;

    if (copy->far.size > 0) {
        from = bytes_at(f, copy->far.from);
        memcpy(copy->appended + (copy->far.to - copy->address), from, copy->far.size);
        memset(from, 0, copy->far.size);
    }
    if (copy->near.size > 0) {
        from = bytes_at(f, copy->near.from);
        memmove(from + (copy->near.to - copy->near.from), from, copy->near.size);
    }
}

static uint64_t offset_of(const struct elf_copy *copy, const struct object *f, uint64_t address)
{
    return address >= copy->address ? copy->offset + (address - copy->address)
                                    : (uint64_t)(bytes_at(f, address) - f->image);
}

/* Whether the segment is in the file already. */
static bool is_own(const struct elf_copy *copy, const struct object *f)
{
    return copy->offset < f->size;
}

/* All of the file's, the new segment right behind the last one that is loaded. */
static bool write_phdrs(const struct elf_copy *copy, const struct object *f,
                        const struct layout *in)
{
    const uint64_t size = copy->phdr_count * sizeof(Elf64_Phdr);
    GElf_Phdr *phdrs = calloc(copy->phdr_count, sizeof *phdrs), *to = phdrs, *sframe = NULL;
    size_t last = 0;

    if (!phdrs)
        return false;
    for (size_t i = 0; i < f->phdr_count; i++)
        if (f->phdrs[i].p_type == PT_LOAD)
            last = i;
    for (size_t i = 0; i < f->phdr_count; i++) {
        *to = f->phdrs[i];
        if (to->p_type == PT_PHDR) {
            to->p_filesz = to->p_memsz = size;
        } else if (to->p_type == SFB_PT_GNU_SFRAME && !sframe) {
            sframe = to;
        } else if (to->p_type != PT_LOAD && to->p_filesz > 0 &&
                   (is_inside(&copy->near, to->p_vaddr) || is_inside(&copy->far, to->p_vaddr))) {
            relocate(&to->p_vaddr, copy);
            to->p_paddr = to->p_vaddr;
            to->p_offset = offset_of(copy, f, to->p_vaddr);
        }
        to++;
        if (i == last && is_own(copy, f))
            to[-1].p_filesz = to[-1].p_memsz = in->section + in->section_size;
        else if (i == last)
            *to++ = (Elf64_Phdr){ .p_type = PT_LOAD,
                                  .p_flags = PF_R,
                                  .p_offset = copy->offset,
                                  .p_vaddr = copy->address,
                                  .p_paddr = copy->address,
                                  .p_filesz = in->section + in->section_size,
                                  .p_memsz = in->section + in->section_size,
                                  .p_align = copy->page_size };
    }
    *(sframe ? sframe : to) = (Elf64_Phdr){ .p_type = SFB_PT_GNU_SFRAME,
                                            .p_flags = PF_R,
                                            .p_offset = copy->offset + in->section,
                                            .p_vaddr = copy->section_address,
                                            .p_paddr = copy->section_address,
                                            .p_filesz = in->section_size,
                                            .p_memsz = in->section_size,
                                            .p_align = ELF_SECTION_ALIGN };
    write_table(f->image + f->header.e_phoff, phdrs, size, ELF_T_PHDR, f);
    free(phdrs);
    return true;
}

/* All of the file's, and .sframe behind them or instead of the one that is there. */
static bool write_shdrs(const struct elf_copy *copy, const struct object *f,
                        const struct layout *in)
{
    size_t index = object_section_after(f, 0, SECTION_NAME);
    Elf64_Shdr *shdrs = calloc(in->shdr_count, sizeof *shdrs);

    if (!shdrs)
        return false;
    for (size_t i = 0; i < f->section_count; i++) {
        GElf_Shdr *s = &shdrs[i];

        *s = f->sections[i].header;
        if ((s->sh_flags & SHF_ALLOC) &&
            (is_inside(&copy->near, s->sh_addr) || is_inside(&copy->far, s->sh_addr))) {
            relocate(&s->sh_addr, copy);
            s->sh_offset = offset_of(copy, f, s->sh_addr);
        }
    }
    if (in->names_size > 0) {
        const Elf64_Shdr *names = &f->sections[f->names].header;

        memcpy(copy->appended + in->names, f->image + names->sh_offset, names->sh_size);
        shdrs[f->names].sh_offset = copy->offset + in->names;
        shdrs[f->names].sh_size = in->names_size;
        if (index == 0) {
            memcpy(copy->appended + in->names + names->sh_size, SECTION_NAME, sizeof SECTION_NAME);
            index = f->section_count;
            shdrs[index].sh_name = (Elf64_Word)names->sh_size;
        }
    }
    shdrs[index] = (Elf64_Shdr){ .sh_name = shdrs[index].sh_name,
                                 .sh_type = in->type,
                                 .sh_flags = SHF_ALLOC,
                                 .sh_addr = copy->section_address,
                                 .sh_offset = copy->offset + in->section,
                                 .sh_size = in->section_size,
                                 .sh_addralign = ELF_SECTION_ALIGN };
    write_table(copy->appended + in->shdrs, shdrs, in->shdr_count * sizeof *shdrs, ELF_T_SHDR, f);
    free(shdrs);
    return true;
}

/* Where the dynamic section says where something is that has moved. */
static void write_dynamic(const struct elf_copy *copy, const struct object *f)
{
    const GElf_Phdr *p = object_segment(f, PT_DYNAMIC);
    const GElf_Phdr *segment = p ? object_segment_at(f, p->p_vaddr) : NULL;
    uint8_t *at = segment ? bytes_at(f, p->p_vaddr) : NULL;
    uint64_t room = segment ? segment->p_filesz - (p->p_vaddr - segment->p_vaddr) : 0;

    for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= room && i < p->p_filesz; i += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        Elf_Data source = { .d_buf = at + i, .d_type = ELF_T_DYN, .d_version = EV_CURRENT };
        Elf_Data target = { .d_buf = &entry, .d_type = ELF_T_DYN, .d_version = EV_CURRENT };

        source.d_size = target.d_size = sizeof entry;
        elf64_xlatetom(&target, &source, f->header.e_ident[EI_DATA]);
        if (entry.d_tag == DT_NULL)
            return;
        if (entry.d_tag != DT_HASH && entry.d_tag != DT_GNU_HASH && entry.d_tag != DT_SYMTAB)
            continue;
        relocate(&entry.d_un.d_ptr, copy);
        write_table(at + i, &entry, sizeof entry, ELF_T_DYN, f);
    }
}

bool elf_copy_make(struct elf_copy *copy, const struct object *f, const uint8_t *section,
                   size_t size, uint32_t type)
{
    const struct layout in = lay_out(copy, f, size, type);
    Elf64_Ehdr header = f->header;

    copy->appended = calloc(1, in.size);
    if (!copy->appended)
        return false;
    memcpy(copy->appended + in.section, section, size);
    if (is_own(copy, f))
        memcpy(copy->appended, f->image + copy->offset, copy->kept);
    write_dynamic(copy, f);
    move_bytes(copy, f);
    if (!write_shdrs(copy, f, &in) || !write_phdrs(copy, f, &in)) {
        free(copy->appended);
        copy->appended = NULL;
        return false;
    }
    header.e_phnum = (Elf64_Half)copy->phdr_count;
    header.e_shoff = copy->offset + in.shdrs;
    header.e_shnum = (Elf64_Half)in.shdr_count;
    write_table(f->image, &header, sizeof header, ELF_T_EHDR, f);
    copy->parts[0] =
        (struct output_part){ 0, f->image, is_own(copy, f) ? (size_t)copy->offset : f->size };
    copy->parts[1] = (struct output_part){ copy->offset, copy->appended, in.size };
    return true;
}
