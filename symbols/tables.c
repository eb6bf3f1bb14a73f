#include "symbols/tables.h"

#include "symbols/sframe.h"

/* @return whether a segment is loaded */
static bool find_span(struct sfb_module *out, const struct object *o, uint64_t bias)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (size_t i = 0; i < o->phdr_count; i++) {
        const GElf_Phdr *p = &o->phdrs[i];

        if (p->p_type != PT_LOAD || p->p_memsz > UINT64_MAX - p->p_vaddr)
            continue;
        if (low > p->p_vaddr)
            low = p->p_vaddr;
        if (high < p->p_vaddr + p->p_memsz)
            high = p->p_vaddr + p->p_memsz;
    }
    out->start = low + bias;
    out->end = high + bias;
    return low < high;
}

static enum sfb_status open_sframe(struct sfb_section *out, const struct object *o, uint64_t bias)
{
    struct object_sframe found;
    struct object_fault fault;
    struct sfb_section section;
    enum sfb_status status = SFB_NO_SECTION;

    switch (object_find_sframe(&found, &fault, o)) {
    case OBJECT_FOUND:
        status = sfb_section_open(&section, found.data, found.size, found.address + bias, NULL);
        break;
    case OBJECT_ABSENT: break;
    case OBJECT_FAULTY: status = SFB_BAD_ELF; break;
    }
    if (status == SFB_OK && section.abi != o->abi)
        return SFB_BAD_ABI;
    if (status == SFB_OK)
        *out = section;
    return status;
}

bool object_tables_open(struct object_tables *out, const struct object *object, uint64_t bias)
{
    struct object_fault fault;

    *out = (struct object_tables){ .module.start = 0 };
    if (object->relocatable || !find_span(&out->module, object, bias))
        return false;
    out->module.section_status = open_sframe(&out->module.section, object, bias);
    if (object_eh_frame_open(&out->view, &fault, object)) {
        out->module.eh_frame = out->view.eh;
        out->module.eh_frame.address += bias;
        out->module.eh_frame.frames += bias;
    }
    out->module.eh_frame_status = out->view.status;
    return true;
}

void object_tables_close(struct object_tables *tables)
{
    object_eh_frame_close(&tables->view);
    *tables = (struct object_tables){ .module.start = 0 };
}
