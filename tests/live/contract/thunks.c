#include "contract/thunks.h"

#include <link.h>
#include <string.h>

struct tables tables;

static void look_at_program(const struct dl_phdr_info *info)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == SFB_PT_GNU_SFRAME) {
            uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

            tables.sframe = (const void *)at; /* NOLINT(performance-no-int-to-ptr) */
            tables.sframe_size = info->dlpi_phdr[i].p_memsz;
        }
}

static const Elf64_Phdr *phdr(const struct dl_phdr_info *info, uint32_t type)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return &info->dlpi_phdr[i];
    return NULL;
}

static void look_at_libc(const struct dl_phdr_info *info)
{
    const Elf64_Phdr *hdr = phdr(info, PT_GNU_EH_FRAME);

    for (unsigned i = 0; hdr && i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        if (p->p_vaddr <= hdr->p_vaddr && hdr->p_vaddr - p->p_vaddr < p->p_filesz) {
            tables.text = (const uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */
            tables.text_size = p->p_filesz;
            tables.hdr = info->dlpi_addr + hdr->p_vaddr;
        } else if (p->p_flags & PF_W) {
            tables.data = (const uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */
            tables.data_size = p->p_filesz;
        }
    }
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    if (*info->dlpi_name == '\0' && !tables.sframe) /* the program is the first */
        look_at_program(info);
    else if (strstr(info->dlpi_name, "/libc.so"))
        look_at_libc(info);
    return 0;
}

bool find_tables(void)
{
    dl_iterate_phdr(look_at, NULL);
    return tables.sframe && tables.text && tables.data;
}

static void for_each(const struct thunk *thunk, void (*visit)(const struct thunk *, void *),
                     void *arg)
{
    for (; thunk->function; thunk++)
        visit(thunk, arg);
}

void for_each_thunk(void (*visit)(const struct thunk *, void *), void *arg)
{
    for_each(capture_thunks, visit, arg);
    for_each(table_thunks, visit, arg);
    for_each(other_thunks, visit, arg);
}

void clear_room(struct thunk_room *room, ucontext_t *ucontext, unsigned stride)
{
    memset(room, 0, offsetof(struct thunk_room, own));
    room->ucontext = ucontext;
    room->stride = stride;
    room->options.size = sizeof room->options;
    room->info.size = sizeof room->info;
}
