#include "symbols/process_maps.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"
#include "util/hex.h"

#define DELETED " (deleted)"

/* The rest of a line. */
struct cursor {
    const char *at;
    size_t left;
};

static bool skip(struct cursor *c, char what)
{
    if (c->left == 0 || *c->at != what)
        return false;
    c->at++;
    c->left--;
    return true;
}

static bool number(struct cursor *c, uint64_t *out)
{
    const size_t digits = hex_number(c->at, c->left, out);

    c->at += digits;
    c->left -= digits;
    return digits > 0;
}

static bool decimal(struct cursor *c, uint64_t *out)
{
    const char *start = c->at;

    for (*out = 0; c->left > 0 && *c->at >= '0' && *c->at <= '9'; c->at++, c->left--) {
        if (*out > (UINT64_MAX - 9) / 10)
            return false;
        *out = 10 * *out + (uint64_t)(*c->at - '0');
    }
    return c->at > start;
}

struct line {
    struct object_mapping mapping;
    struct object_mapped module;
    struct cursor path;
};

/* "55d0-55e0 r-xp 00001000 08:01 1234    /path" */
static bool parse(struct line *out, struct cursor c)
{
    struct object_mapping *m = &out->mapping;
    uint64_t major, minor;
    bool good;

    *out = (struct line){ .mapping = { .start = 0 } };
    good = number(&c, &m->start) && skip(&c, '-') && number(&c, &m->end) && skip(&c, ' ') &&
           m->start < m->end && c.left > 5 && c.at[4] == ' ';
    if (!good)
        return false;
    m->executable = c.at[2] == 'x';
    c.at += 5;
    c.left -= 5;
    good = number(&c, &m->offset) && skip(&c, ' ') && number(&c, &major) && skip(&c, ':') &&
           number(&c, &minor) && skip(&c, ' ') && decimal(&c, &out->module.inode);
    if (!good || (c.left > 0 && *c.at != ' '))
        return false;
    while (skip(&c, ' '))
        ;
    out->module.device = major << 32 | (minor & UINT32_MAX);
    out->path = c;
    return true;
}

/* The kernel writes a newline in a name as \\012. @return NULL: no memory */
static char *copy_path(struct cursor c, bool *deleted)
{
    const size_t ending = sizeof DELETED - 1;
    char *out;
    size_t n = 0;

    *deleted = c.left > ending && memcmp(c.at + c.left - ending, DELETED, ending) == 0;
    if (*deleted)
        c.left -= ending;
    out = malloc(c.left + 1);
    for (size_t i = 0; out && i < c.left; i++) {
        const bool newline = c.left - i >= 4 && memcmp(c.at + i, "\\012", 4) == 0;

        if (c.at[i] != '\0')
            out[n++] = newline ? '\n' : c.at[i];
        i += newline ? 3 : 0;
    }
    if (out)
        out[n] = '\0';
    return out;
}

static bool same_module(const struct object_mapped *a, const struct object_mapped *b)
{
    return a->inode == b->inode && a->device == b->device && a->deleted == b->deleted &&
           strcmp(a->path, b->path) == 0;
}

/*
 * Finds or adds the module of a line. Lines of a file mostly follow each other; a later one makes
 * another module, which costs a second look at the file.
 */
static bool add(struct object_maps *maps, struct line *line)
{
    line->module.path = copy_path(line->path, &line->module.deleted);
    if (!line->module.path ||
        !array_make_room(&maps->mappings, maps->mapping_count, &maps->mapping_room,
                         sizeof *maps->mappings) ||
        !array_make_room(&maps->modules, maps->module_count, &maps->module_room,
                         sizeof *maps->modules)) {
        free(line->module.path);
        return false;
    }
    line->module.first = maps->mapping_count;
    if (maps->module_count > 0 &&
        same_module(&maps->modules[maps->module_count - 1], &line->module))
        free(line->module.path);
    else
        maps->modules[maps->module_count++] = line->module;
    line->mapping.module = maps->module_count - 1;
    maps->mappings[maps->mapping_count++] = line->mapping;
    return true;
}

static bool is_module(const struct line *line)
{
    static const char vdso[] = "[vdso]";

    return (line->module.inode != 0 && line->path.left > 0 && *line->path.at == '/') ||
           (line->path.left == sizeof vdso - 1 &&
            memcmp(line->path.at, vdso, sizeof vdso - 1) == 0);
}

const char *object_maps_read(struct object_maps *out, const char *text, size_t size, size_t *line)
{
    uint64_t behind = 0;

    *out = (struct object_maps){ .module_count = 0 };
    *line = 0;
    for (size_t at = 0; at < size; ++*line) {
        const char *newline = memchr(text + at, '\n', size - at);
        const size_t length = newline ? (size_t)(newline - text) - at : size - at;
        struct line parsed;

        if (!parse(&parsed, (struct cursor){ text + at, length }) ||
            parsed.mapping.start < behind) {
            ++*line;
            return "not what /proc/PID/maps looks like";
        }
        behind = parsed.mapping.end;
        if (is_module(&parsed) && !add(out, &parsed))
            return "out of memory";
        at += length + 1;
    }
    return *line == 0 ? "not what /proc/PID/maps looks like" : NULL;
}

/* @return the index of the first mapping that ends behind an address */
static size_t first_behind(const struct object_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->mapping_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (maps->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct object_mapping *object_maps_find(const struct object_maps *maps, uint64_t address)
{
    const size_t i = first_behind(maps, address);

    return i < maps->mapping_count && maps->mappings[i].start <= address ? &maps->mappings[i]
                                                                         : NULL;
}

const struct object_mapping *object_maps_between(const struct object_maps *maps, uint64_t address)
{
    const size_t i = first_behind(maps, address);

    return i > 0 && i < maps->mapping_count && maps->mappings[i].start > address &&
                   maps->mappings[i].module == maps->mappings[i - 1].module
               ? &maps->mappings[i - 1]
               : NULL;
}

void object_maps_free(struct object_maps *maps)
{
    for (size_t i = 0; i < maps->module_count; i++)
        free(maps->modules[i].path);
    free(maps->modules);
    free(maps->mappings);
    *maps = (struct object_maps){ .module_count = 0 };
}
