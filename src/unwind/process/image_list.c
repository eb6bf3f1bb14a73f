#include "unwind/process/image_list.h"

#include <link.h>
#include <stddef.h>

#include "base/memory.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/process/loader_state.h"
#include "unwind/process/program.h"

enum { MODULES_MAX = 1 << 16 };

static uint64_t word_at(struct sfb_image_list *list, uint64_t address)
{
    uint64_t word = 0;

    return sfb_memory_copy(&list->memory, address, &word, sizeof word) ? word : 0;
}

/* From version 2 on, other namespaces follow: dlmopen() makes them. */
static void next_namespace(struct sfb_image_list *list)
{
    const uint64_t debug = list->debug;
    uint32_t version = 0;

    list->link_map = word_at(list, debug + offsetof(struct r_debug, r_map));
    sfb_memory_copy(&list->memory, debug + offsetof(struct r_debug, r_version), &version,
                    sizeof version);
    list->debug =
        version > 1 ? word_at(list, debug + offsetof(struct r_debug_extended, r_next)) : 0;
}

void sfb_image_list_begin(struct sfb_image_list *out)
{
    *out = (struct sfb_image_list){ .debug = sfb_loader_debug(), .left = MODULES_MAX };
    sfb_memory_probed(&out->memory);
}

/* A static program has no list. Its modules are itself and the vDSO. */
static bool next_of_static(struct sfb_image_list *list, struct sfb_listed_image *out)
{
    unsigned i = MODULES_MAX - list->left--;

    *out = (struct sfb_listed_image){ .address = sfb_loader_static(i) };
    return out->address != 0;
}

/* A module linked to a fixed address has no bias: a program that is not a PIE. */
static uint64_t address_of(struct sfb_image_list *list, uint64_t link_map)
{
    uint64_t bias = word_at(list, link_map + offsetof(struct link_map, l_addr));

    return bias ? bias : word_at(list, link_map + offsetof(struct link_map, l_ld));
}

bool sfb_image_list_next(struct sfb_image_list *list, struct sfb_listed_image *out)
{
    if (list->left == 0)
        return false;
    if (sfb_loader_debug() == 0)
        return next_of_static(list, out);
    while (list->link_map == 0) {
        if (list->debug == 0 || list->left-- == 0)
            return false;
        next_namespace(list);
    }
    *out = (struct sfb_listed_image){ .address = address_of(list, list->link_map),
                                      .link_map = list->link_map };
    list->link_map = word_at(list, list->link_map + offsetof(struct link_map, l_next));
    list->left--;
    return true;
}

/*
 * If a module's segments have gaps between them, as in the loader on AArch64, glibc gives only the segment of an
 * address. The bias leads to the first segment, with the ELF header, unless the module is linked to another address.
 */
bool sfb_image_list_find(struct sfb_image_list *list, const struct sfb_listed_image *listed,
                         struct sfb_loaded *out)
{
    uint64_t dynamic;

    if (sfb_loaded_find(out, listed->address) &&
        (listed->link_map == 0 || out->link_map == listed->link_map))
        return true;
    dynamic =
        listed->link_map ? word_at(list, listed->link_map + offsetof(struct link_map, l_ld)) : 0;
    return dynamic && sfb_loaded_find(out, dynamic);
}

static uint64_t copy_text(struct sfb_image_list *list, uint64_t text, char *out, uint64_t room)
{
    uint64_t size = 0;

    while (text && size < room && sfb_memory_copy(&list->memory, text + size, &out[size], 1) &&
           out[size] != '\0')
        size++;
    return size;
}

/* The loader has no name for the program; a static program has no name for the vDSO. */
uint64_t sfb_image_list_path(struct sfb_image_list *list, const struct sfb_listed_image *listed,
                             char *out, uint64_t room)
{
    const bool is_vdso = listed->link_map == 0 && listed->address != sfb_loader_static(0);
    const char *known = is_vdso ? "linux-vdso.so.1" : sfb_program_path();
    uint64_t name =
        listed->link_map ? word_at(list, listed->link_map + offsetof(struct link_map, l_name)) : 0;
    uint64_t size = copy_text(list, name, out, room);

    return size > 0 ? size : copy_text(list, (uintptr_t)known, out, room);
}
