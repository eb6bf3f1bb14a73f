#include "symbols/debug_file.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/no_alt.h"
#include "symbols/packed.h"
#include "symbols/search.h"
#include "util/base_name.h"

/* --- the file ---------------------------------------------------------------------------------- */

static bool at_its_path(struct object_search *s)
{
    const struct object_module *m = s->module;

    if (m->gone && m->id.size == 0) {
        object_trail_add(s->trail, OBJECT_FILE, m->path, OBJECT_PASSED,
                         "the file was deleted, and no build-id tells whether one there is it");
        return false;
    }
    /* The kernel shows a path as the reader sees it, if such a path exists. */
    return (m->root && object_search_path(s, "%s%s", m->root, m->path)) ||
           ((!m->root || m->id.size > 0) && object_search_path(s, "%s", m->path));
}

static bool find_file(struct object_search *s)
{
    const bool file = object_search_has_file(s);
    const char *name = file ? sfb_base_name(s->module->path) : s->module->path;

    if (s->module->image)
        return object_candidate_image(s->out, s->module->image, s->module->image_size,
                                      s->module->path, &s->wanted, s->trail);
    if (s->module->opens && object_search_path(s, "%s", s->module->opens))
        return true;
    if (s->wanted.id.size == 0)
        return object_search_symbol_paths(s, &name, 1) || (file && at_its_path(s));
    return (file && at_its_path(s)) || object_search_debug_folder(s) ||
           object_search_symbol_paths(s, &name, 1) || object_search_server(s);
}

/* --- the debug information --------------------------------------------------------------------- */

/* @return the link's file name; NULL: no link, or an unsafe one */
static const char *link_of(struct object_search *s, const struct object_opened *file)
{
    GElf_Word crc = 0;
    const char *name = file->elf ? dwelf_elf_gnu_debuglink(file->elf, &crc) : NULL;

    if (!name) {
        if (file->elf && object_has_section(file->elf, ".gnu_debuglink"))
            object_trail_add(s->trail, OBJECT_DEBUG, file->path, OBJECT_REFUSED,
                             "its .gnu_debuglink cannot be read");
        return NULL;
    }
    if (strchr(name, '/') || strlen(name) > NAME_MAX || name[0] == '\0') {
        object_trail_add(s->trail, OBJECT_DEBUG, name, OBJECT_REFUSED,
                         "what .gnu_debuglink has is not the name of a file");
        return NULL;
    }
    s->wanted.crc = crc;
    return name;
}

static bool try_beside(struct object_search *s, const char *root, const char *path,
                       const char *name)
{
    const int folder = object_folder_length(path);

    return object_search_path(s, "%s%.*s%s", root, folder, path, name) ||
           object_search_path(s, "%s%.*s.debug/%s", root, folder, path, name);
}

static bool try_debug_folder(struct object_search *s, const char *root, const char *path,
                             const char *name)
{
    return object_search_path(s, "%s" OBJECT_DEBUG_FOLDER "%.*s%s", root,
                              object_folder_length(path), path, name);
}

/* The link's folders: the file's as opened, with symbolic links resolved, and as in the process. */
static bool by_link(struct object_search *s, const struct object_opened *file, const char *name)
{
    const struct object_module *m = s->module;
    const char *const path = object_search_has_file(s) && m->path[0] == '/' ? m->path : NULL;
    /* A map_files path is in no folder of the file. */
    const bool renamed = m->opens && strcmp(file->path, m->opens) == 0;
    char *real = file->fd >= 0 ? realpath(file->path, NULL) : NULL;
    const bool moved = real && strcmp(real, path ? path : "") != 0;
    bool found;

    found = (path && try_beside(s, object_search_root(s), path, name)) ||
            (file->fd >= 0 && !renamed && (!path || strcmp(file->path, path) != 0) &&
             try_beside(s, "", file->path, name)) ||
            (moved && strcmp(real, file->path) != 0 && try_beside(s, "", real, name)) ||
            (path && m->root && try_debug_folder(s, object_search_root(s), path, name)) ||
            (path && try_debug_folder(s, "", path, name)) ||
            (moved && try_debug_folder(s, "", real, name));
    free(real);
    return found;
}

static bool find_debug(struct object_search *s, const struct object_opened *file)
{
    const char *link = link_of(s, file), *names[3];
    char with_ending[NAME_MAX + 1] = "";
    size_t count = 0;

    if (!link && s->wanted.id.size == 0)
        object_trail_add(s->trail, OBJECT_DEBUG, "everywhere", OBJECT_PASSED,
                         "the file has no build-id and no .gnu_debuglink");
    if (object_search_debug_folder(s))
        return true;
    s->wanted.has_crc = link != NULL;
    if (link && by_link(s, file, link))
        return true;
    /* Elsewhere a build-id is enough: a debug file may be compressed after the link was made. */
    if (s->wanted.id.size > 0)
        s->wanted.has_crc = false;
    if (link)
        names[count++] = link;
    if (object_search_has_file(s) && (s->wanted.id.size > 0 || s->wanted.has_crc)) {
        const char *name = sfb_base_name(s->module->path);

        if ((size_t)snprintf(with_ending, sizeof with_ending, "%s.debug", name) <
            sizeof with_ending)
            names[count++] = with_ending;
        names[count++] = name;
    }
    return ((s->wanted.id.size > 0 || s->wanted.has_crc) &&
            object_search_symbol_paths(s, names, count)) ||
           object_search_server(s);
}

/*
 * --- shared debug information ------------------------------------------------------------------
 */

static bool find_alt(struct object_search *s, const struct object_opened *debug, const char *name)
{
    const char *base = sfb_base_name(name);
    char *real = realpath(debug->path, NULL);
    bool found;

    if (name[0] == '/')
        found = (s->module->root && object_search_path(s, "%s%s", object_search_root(s), name)) ||
                object_search_path(s, "%s", name);
    else
        found = object_search_path(s, "%.*s%s", object_folder_length(real ? real : debug->path),
                                   real ? real : debug->path, name);
    free(real);
    return found || object_search_debug_folder(s) || object_search_symbol_paths(s, &base, 1) ||
           object_search_server(s);
}

/* libdw unpacks all sections of debug information on opening. @return NULL: none, or too much */
static Dwarf *begin_dwarf(struct object_files *out, struct object_unpacked *unpacked,
                          const struct object_opened *from, enum object_part part)
{
    struct object_packed largest;

    if (!object_packed_is_too_much(from->elf, &largest)) {
        object_unpack(unpacked, from->elf);
        return dwarf_begin_elf(unpacked->elf ? unpacked->elf : from->elf, DWARF_C_READ, NULL);
    }
    object_trail_add(&out->trail, part, from->path, OBJECT_REFUSED, OBJECT_PACKED_CAUSE,
                     largest.name, (unsigned long)largest.packed, (unsigned long)largest.unpacked);
    return NULL;
}

/* Opens the shared part here: libdw itself would take any file, whatever its build-id. */
static void open_alt(struct object_files *out, struct object_search *s,
                     const struct object_opened *debug)
{
    const char *name;
    const void *bytes;
    const ssize_t size = dwelf_dwarf_gnu_debugaltlink(out->dwarf, &name, &bytes);

    if (size == 0)
        return;
    s->wanted = (struct object_wanted){ .part = OBJECT_ALT };
    s->out = &out->alt;
    if (size < 0 || !object_build_id_set(&s->wanted.id, bytes, (size_t)size))
        object_trail_add(&out->trail, OBJECT_ALT, debug->path, OBJECT_REFUSED,
                         "its .gnu_debugaltlink cannot be read");
    else if (find_alt(s, debug, name))
        out->alt_dwarf = begin_dwarf(out, &out->alt_unpacked, &out->alt, OBJECT_ALT);
    if (!out->alt_dwarf)
        out->no_alt = object_no_alt();
    dwarf_setalt(out->dwarf, out->alt_dwarf ? out->alt_dwarf : out->no_alt);
}

/*
 * --- entry point -------------------------------------------------------------------------------
 */

/* libdw silently leaves out a section that it cannot unpack. */
static void open_dwarf(struct object_files *out, const struct object_opened *from)
{
    Dwarf_CU *unit = NULL;

    out->dwarf = begin_dwarf(out, &out->unpacked, from, OBJECT_DEBUG);
    if (out->dwarf && dwarf_get_units(out->dwarf, NULL, &unit, NULL, NULL, NULL, NULL) == 0)
        return;
    dwarf_end(out->dwarf);
    out->dwarf = NULL;
    object_trail_add(&out->trail, OBJECT_DEBUG, from->path, OBJECT_REFUSED,
                     object_packed_by_zstd(from->elf)
                         ? "its debug information is packed by zstd, which this build's elfutils "
                           "cannot read: objcopy --decompress-debug-sections unpacks it"
                         : "its debug information cannot be read");
}

bool object_files_find(struct object_files *out, const struct object_module *module,
                       const struct object_places *places)
{
    struct object_search s = {
        module, places, { .part = OBJECT_FILE, .id = module->id }, &out->file, &out->trail
    };
    const struct object_opened *with_dwarf = &out->file;

    *out =
        (struct object_files){ .file = { .fd = -1 }, .debug = { .fd = -1 }, .alt = { .fd = -1 } };
    find_file(&s);
    if (!out->file.elf || !object_has_dwarf(out->file.elf)) {
        s.wanted = (struct object_wanted){ .part = OBJECT_DEBUG, .id = module->id };
        if (out->file.elf)
            object_build_id_of(&s.wanted.id, out->file.elf);
        s.out = &out->debug;
        find_debug(&s, &out->file);
        with_dwarf = &out->debug;
    }
    if (with_dwarf->elf)
        open_dwarf(out, with_dwarf);
    if (out->dwarf)
        open_alt(out, &s, with_dwarf);
    object_opened_keep(&out->file);
    object_opened_keep(&out->debug);
    object_opened_keep(&out->alt);
    return out->file.elf || out->debug.elf;
}

void object_files_free(struct object_files *f)
{
    if (f->dwarf)
        dwarf_end(f->dwarf);
    if (f->alt_dwarf)
        dwarf_end(f->alt_dwarf);
    if (f->no_alt)
        object_no_alt_end(f->no_alt);
    object_unpacked_free(&f->unpacked);
    object_unpacked_free(&f->alt_unpacked);
    object_opened_close(&f->file);
    object_opened_close(&f->debug);
    object_opened_close(&f->alt);
    object_trail_free(&f->trail);
}
