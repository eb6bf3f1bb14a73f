#include "tables.h"

#include <link.h>
#include <string.h>

struct search {
    uintptr_t address;
    struct tables *out;
};

/* @return the segment of a module that an address lies in, or NULL */
static const ElfW(Phdr) * segment_at(const struct dl_phdr_info *module, uintptr_t address)
{
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && address - module->dlpi_addr - p->p_vaddr < p->p_memsz) {
            return p;
        }
    }
    return NULL;
}

static void open_table(const struct dl_phdr_info *module, const ElfW(Phdr) * p, struct tables *out)
{
    uintptr_t start = module->dlpi_addr + p->p_vaddr;
    const ElfW(Phdr) *segment = segment_at(module, start);

    if (p->p_type == SFB_PT_GNU_SFRAME) {
        out->have_section =
            sfb_section_open(&out->section, (const void *)start, p->p_memsz, start, NULL) == SFB_OK;
    } else if (p->p_type == PT_GNU_EH_FRAME && segment != NULL) {
        uintptr_t data = module->dlpi_addr + segment->p_vaddr;

        out->have_eh_frame = sfb_eh_frame_open(&out->eh_frame, (const void *)data, segment->p_memsz,
                                               data, start, SFB_ABI_AMD64_LE, NULL) == SFB_OK;
    }
}

static int look(struct dl_phdr_info *module, size_t size, void *user)
{
    struct search *search = user;

    (void)size;
    if (segment_at(module, search->address) == NULL) {
        return 0;
    }
    for (int i = 0; i < module->dlpi_phnum; i++) {
        open_table(module, &module->dlpi_phdr[i], search->out);
    }
    return 1;
}

void tables_of(const void *address, struct tables *out)
{
    struct search search = { .address = (uintptr_t)address, .out = out };

    memset(out, 0, sizeof *out);
    dl_iterate_phdr(look, &search);
}
