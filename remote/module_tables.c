#include "remote/module_tables.h"

#include <stdlib.h>

#include "remote/eh_index.h"
#include "symbols/load_bias.h"

/* Ids of a rule cache are below 1,024. */
enum { IDS_MAX = 1023 };

bool remote_module_tables_open(struct remote_module_tables *out, uint8_t *bytes, size_t size,
                               const struct object_mapping *mapping, uint16_t *ids)
{
    struct object_fault fault;
    struct sfb_module *module = &out->tables.module;
    uint64_t bias;

    *out = (struct remote_module_tables){ .is_there = false };
    if (!bytes || !object_open(&out->object, &fault, bytes, size))
        return false;
    out->is_there = object_bias_of_mapping(out->object.elf, mapping->start, mapping->offset,
                                           mapping->executable, &bias) &&
                    object_tables_open(&out->tables, &out->object, bias);
    if (!out->is_there) {
        object_close(&out->object);
        return false;
    }
    if (module->eh_frame_status == SFB_NO_EH_FRAME &&
        remote_eh_index(&module->eh_frame, &out->index, &out->object, bias))
        module->eh_frame_status = SFB_OK;
    if (*ids < IDS_MAX)
        module->id = ++*ids;
    return true;
}

void remote_module_tables_close(struct remote_module_tables *tables)
{
    if (tables->is_there) {
        object_tables_close(&tables->tables);
        object_close(&tables->object);
    }
    free(tables->index);
    *tables = (struct remote_module_tables){ .is_there = false };
}

const struct sfb_module *remote_module_tables_at(const struct remote_module_tables *tables,
                                                 uint64_t pc)
{
    const struct sfb_module *m = &tables->tables.module;

    return tables->is_there && pc - m->start < m->end - m->start ? m : NULL;
}
