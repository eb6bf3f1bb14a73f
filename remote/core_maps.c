#include "remote/core_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "util/grow.h"

#define DELETED " (deleted)"

bool remote_core_mappings_add(struct remote_core_mappings *m,
                              const struct remote_core_mapping *mapping)
{
    if (!array_make_room(&m->all, m->count, &m->room, sizeof *m->all))
        return false;
    m->all[m->count++] = *mapping;
    return true;
}

/* Takes the next path of the list. @return NULL: it does not end */
static const char *next_path(struct sfb_reader *r)
{
    const uint8_t *path = r->pos, *end = r->left > 0 ? memchr(path, 0, r->left) : NULL;

    if (!end)
        return NULL;
    sfb_reader_skip(r, (uint64_t)(end + 1 - path));
    return (const char *)path;
}

static bool is_executable(const struct remote_core_file *file, uint64_t address)
{
    const struct remote_core_segment *s = remote_core_segment_at(file, address);

    return s && s->executable;
}

/* Count, page size; for each its start, end, and page in the file; then their paths. */
bool remote_core_mappings_of_note(struct remote_core_mappings *out,
                                  const struct remote_core_file *file,
                                  const struct remote_core_bytes *note)
{
    enum { EACH = 24 };
    struct sfb_reader r = { .pos = note->at, .left = note->size }, paths;
    const uint64_t count = sfb_reader_u64(&r), page = sfb_reader_u64(&r);

    if (r.failed || count > r.left / EACH)
        return true;
    paths = r;
    sfb_reader_skip(&paths, count * EACH);
    for (uint64_t i = 0; i < count; i++) {
        struct remote_core_mapping m = { .start = sfb_reader_u64(&r) };
        uint64_t pages;

        m.end = sfb_reader_u64(&r);
        pages = sfb_reader_u64(&r);
        m.path = next_path(&paths);
        if (!m.path)
            return true;
        if (m.start >= m.end || (page > 0 && pages > INT64_MAX / page))
            continue;
        m.offset = pages * page;
        m.executable = is_executable(file, m.start);
        if (!remote_core_mappings_add(out, &m))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct remote_core_mapping *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* A file that is mapped twice begins anew. */
static bool is_next_of(const struct remote_core_mapping *before,
                       const struct remote_core_mapping *m)
{
    return strcmp(before->path, m->path) == 0 && (m->offset > 0 || before->offset == 0);
}

static bool add_module(struct object_maps *maps, const struct remote_core_mapping *m)
{
    const size_t size = strlen(m->path), ending = sizeof DELETED - 1;
    struct object_mapped module = { .first = maps->mapping_count };

    if (!array_make_room(&maps->modules, maps->module_count, &maps->module_room,
                         sizeof *maps->modules))
        return false;
    module.deleted = size > ending && strcmp(m->path + size - ending, DELETED) == 0;
    module.path = strndup(m->path, module.deleted ? size - ending : size);
    if (!module.path)
        return false;
    maps->modules[maps->module_count++] = module;
    return true;
}

static bool add(struct object_maps *maps, const struct remote_core_mapping *before,
                const struct remote_core_mapping *m)
{
    if ((!before || !is_next_of(before, m)) && !add_module(maps, m))
        return false;
    if (!array_make_room(&maps->mappings, maps->mapping_count, &maps->mapping_room,
                         sizeof *maps->mappings))
        return false;
    maps->mappings[maps->mapping_count++] =
        (struct object_mapping){ .start = m->start,
                                 .end = m->end,
                                 .offset = m->offset,
                                 .executable = m->executable,
                                 .module = maps->module_count - 1 };
    return true;
}

bool remote_core_maps(struct object_maps *out, struct remote_core_mappings *m)
{
    const struct remote_core_mapping *before = NULL;

    *out = (struct object_maps){ .module_count = 0 };
    if (m->count > 0)
        qsort(m->all, m->count, sizeof *m->all, by_start);
    for (size_t i = 0; i < m->count; i++) {
        if (before && m->all[i].start < before->end)
            continue; /* they overlap, which no process's do */
        if (!add(out, before, &m->all[i]))
            return false;
        before = &m->all[i];
    }
    return true;
}
