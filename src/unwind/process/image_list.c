#include "unwind/process/image_list.h"

#include <link.h>
#include <stddef.h>

#include "base/memory.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"

enum { MODULES_MAX = 1 << 16 };

static uint64_t word_at(struct sfb_image_list *list, uint64_t address)
{
    uint64_t word = 0;

    return sfb_memory_copy(&list->memory, address, &word, sizeof word) ? word : 0;
}

/* From version 2 on, which dlmopen() makes, other namespaces follow. */
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

/* A static program has no list: itself, and the vDSO. */
static bool next_of_static(struct sfb_image_list *list, struct sfb_listed_image *out)
{
    unsigned i = MODULES_MAX - list->left--;

    *out = (struct sfb_listed_image){ .address = sfb_loader_static(i),
                                      .name = i > 0 ? (uintptr_t) "linux-vdso.so.1" : 0 };
    return out->address != 0;
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
    *out = (struct sfb_listed_image){
        .address = word_at(list, list->link_map + offsetof(struct link_map, l_ld)),
        .name = word_at(list, list->link_map + offsetof(struct link_map, l_name)),
    };
    list->link_map = word_at(list, list->link_map + offsetof(struct link_map, l_next));
    list->left--;
    return true;
}

uint64_t sfb_image_list_path(struct sfb_image_list *list, uint64_t name, char *out, uint64_t room)
{
    uint64_t size = 0;

    while (name && size < room && sfb_memory_copy(&list->memory, name + size, &out[size], 1) &&
           out[size] != '\0')
        size++;
    return size;
}
