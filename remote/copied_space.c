#include "remote/copied_space.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

static struct copied_loaded *load(struct sfb_copied_space *space, struct copied_range *range)
{
    if (!range->tried)
        range->loaded = copied_files_load(space->files, range->file, range->start, range->offset,
                                          range->executable);
    range->tried = true;
    return range->loaded;
}

static const struct sfb_module *find(const struct sfb_modules *policy, uint64_t pc,
                                     struct sfb_module *scratch)
{
    struct sfb_copied_space *space = policy->user;
    struct copied_range *range = copied_space_find(space, pc);
    struct copied_loaded *loaded = range ? load(space, range) : NULL;
    const struct sfb_module *module;

    (void)scratch;
    if (!loaded)
        return NULL;
    module = &loaded->tables.module;
    if (module->id == 0)
        copied_files_give_id(space->files, loaded);
    if (loaded->is_program)
        space->policy.entries.program = loaded->entry;
    else if (loaded->is_loader)
        space->policy.entries.loader = loaded->entry;
    return pc - module->start < module->end - module->start ? module : NULL;
}

struct sfb_copied_space *sfb_copied_space_open(struct sfb_copied_files *files,
                                               const struct sfb_copied_space *parent)
{
    struct sfb_copied_space *space = calloc(1, sizeof *space);

    if (!space)
        return NULL;
    space->files = files;
    space->policy = (struct sfb_modules){ .find = find, .cache = files->cache, .user = space };
    if (!parent || parent->count == 0)
        return space;
    space->ranges = malloc(parent->count * sizeof *space->ranges);
    if (!space->ranges) {
        free(space);
        return NULL;
    }
    memcpy(space->ranges, parent->ranges, parent->count * sizeof *space->ranges);
    space->count = space->room = parent->count;
    return space;
}

void sfb_copied_space_close(struct sfb_copied_space *space)
{
    if (space)
        free(space->ranges);
    free(space);
}

void sfb_copied_space_clear(struct sfb_copied_space *space)
{
    space->count = 0;
    space->policy.entries = (struct sfb_entries){ 0 };
}

/* @return index of the first range that ends behind an address */
static size_t first_behind(const struct sfb_copied_space *space, uint64_t address)
{
    size_t low = 0, high = space->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (space->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct copied_range *copied_space_find(struct sfb_copied_space *space, uint64_t address)
{
    size_t at = space->last;

    if (at < space->count &&
        address - space->ranges[at].start < space->ranges[at].end - space->ranges[at].start)
        return &space->ranges[at];
    at = first_behind(space, address);
    if (at == space->count || space->ranges[at].start > address)
        return NULL;
    space->last = at;
    return &space->ranges[at];
}

bool copied_space_code(struct sfb_copied_space *space, uint64_t address, uint64_t *out)
{
    struct copied_range *range = copied_space_find(space, address);
    const struct object *object;
    uint64_t offset;

    if (!range || !range->executable || !load(space, range) || range->end - address < sizeof *out)
        return false;
    object = &space->files->files.at[range->file]->object;
    offset = address - range->start + range->offset;
    if (offset < range->offset || !object_has(object, offset, sizeof *out))
        return false;
    memcpy(out, object->image + offset, sizeof *out);
    return true;
}

/* --- Changes ------------------------------------------------------------------------------------- */

/* Replaces `gone` ranges by `count` others. @return false: no memory, or too many */
static bool splice(struct sfb_copied_space *space, size_t at, size_t gone,
                   const struct copied_range *with, size_t count)
{
    const size_t behind = space->count - at - gone;

    while (space->count + count > space->room + gone || space->room == 0) {
        struct copied_range *more =
            array_grow(space->ranges, space->room, &space->room, sizeof *more, SFB_COPIED_MAPPINGS);

        if (!more)
            return false;
        space->ranges = more;
    }
    memmove(&space->ranges[at + count], &space->ranges[at + gone], behind * sizeof *space->ranges);
    memcpy(&space->ranges[at], with, count * sizeof *with);
    space->count += count;
    space->count -= gone;
    return true;
}

static struct copied_range part_of(const struct copied_range *range, uint64_t start, uint64_t end)
{
    struct copied_range part = *range;

    part.start = start;
    part.end = end;
    part.offset += start - range->start;
    return part;
}

static bool put(struct sfb_copied_space *space, const struct copied_range *range)
{
    const size_t at = first_behind(space, range->start);
    struct copied_range with[3];
    size_t count = 0, behind = at;

    if (at < space->count && space->ranges[at].start < range->start)
        with[count++] = part_of(&space->ranges[at], space->ranges[at].start, range->start);
    with[count++] = *range;
    while (behind < space->count && space->ranges[behind].start < range->end)
        behind++;
    if (behind > at && space->ranges[behind - 1].end > range->end)
        with[count++] =
            part_of(&space->ranges[behind - 1], range->end, space->ranges[behind - 1].end);
    return splice(space, at, behind - at, with, count);
}

enum sfb_status sfb_copied_space_map(struct sfb_copied_space *space,
                                     const struct sfb_copied_mapping *m)
{
    struct copied_range range = {
        .start = m->start, .end = m->end, .offset = m->offset, .executable = m->executable
    };

    if (m->start >= m->end || m->build_id_size > OBJECT_BUILD_ID_MAX)
        return SFB_BAD_ARGUMENT;
    if (!copied_files_add(space->files, &range.file, m))
        return SFB_NO_RESOURCE;
    return put(space, &range) ? SFB_OK : SFB_NO_RESOURCE;
}

/* --- Modules ------------------------------------------------------------------------------------- */

/* Where the first byte of the file is, or would be. */
static uint64_t base_of(struct sfb_copied_space *space, struct copied_range *range)
{
    const struct copied_loaded *loaded = load(space, range);

    return loaded                         ? loaded->tables.module.start
           : range->offset < range->start ? range->start - range->offset
                                          : range->start;
}

void sfb_copied_space_modules(struct sfb_copied_space *space,
                              bool (*visit)(void *user, const struct sfb_copied_module *module),
                              void *user)
{
    for (size_t i = 0; i < space->count;) {
        struct copied_range *range = &space->ranges[i++];
        const uint64_t base = base_of(space, range);
        struct sfb_copied_module module = { .base = base, .end = range->end };
        const struct copied_file *file;

        if (!range->executable || range->file == COPIED_NO_FILE)
            continue;
        for (; i < space->count && space->ranges[i].file == range->file &&
               base_of(space, &space->ranges[i]) == base;
             i++)
            if (space->ranges[i].executable)
                module.end = space->ranges[i].end;
        file = space->files->files.at[range->file];
        module.path = file->path;
        module.build_id = file->id.bytes;
        module.build_id_size = file->id.size;
        if (!visit(user, &module))
            return;
    }
}
