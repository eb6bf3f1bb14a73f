#include "collection.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"
#include "tool.h"

/* --- members ----------------------------------------------------------------------------------- */

/*
 * The name of a member for a path: without the slash that it starts with, and without empty, . and
 * .. parts. Who unpacks the file stays in the folder that he does it in.
 */
static char *member_name(const char *path)
{
    char *out = malloc(strlen(path) + 1), *to = out;

    while (out && *path) {
        const size_t size = strcspn(path, "/");
        const bool part = size > 0 && !(size <= 2 && strncmp(path, "..", size) == 0);

        if (part && to > out)
            *to++ = '/';
        if (part)
            to = mempcpy(to, path, size);
        path += size + (path[size] == '/');
    }
    if (out)
        *to = '\0';
    return out;
}

/* Adds the member for a path, a link to that of the build-id. */
static void add_path(struct collection *c, const char *path, const char *target)
{
    char *name = member_name(path), *link = NULL;
    size_t depth = 0, size;
    FILE *to;

    for (const char *at = name; at && (at = strchr(at, '/')); at++)
        depth++;
    to = name && *name ? open_memstream(&link, &size) : NULL;
    for (size_t i = 0; to && i < depth; i++)
        fputs("../", to);
    if (to) {
        fputs(target, to);
        fclose(to);
        tar_add_link(&c->tar, name, link);
    }
    free(link);
    free(name);
}

/* Adds a file by its build-id; without one, by a path. @return its member's name, for the manifest */
static char *add_opened(struct collection *c, const struct object_opened *opened, const char *path,
                        const char *ending)
{
    char name[OBJECT_BUILD_ID_PATH];
    struct object_build_id id;
    size_t size = 0;
    const char *data = elf_rawfile(opened->elf, &size);
    char *member;

    object_build_id_of(&id, opened->elf);
    member = object_build_id_path(name, &id, ending) ? strdup(name) : member_name(path);
    if (!data || !member || !*member) {
        tool_complain(TOOL_BAD_DATA, "%s: not collected: %s", opened->path,
                      data ? "it has no name" : "it cannot be read");
        c->missing = true;
        free(member);
        return NULL;
    }
    tar_add_file(&c->tar, member, data, size);
    return member;
}

/* --- modules ----------------------------------------------------------------------------------- */

static void tell(struct collection *c, const char *what, const char *name)
{
    char *printable = foreign_copy(name, FOREIGN_NAME);

    fprintf(c->manifest, "%s %s\n", what, printable ? printable : "?");
    free(printable);
}

/* The units whose debug information is in files of its own, which are not collected. */
static void look_for_split_units(struct collection *c, const struct module_file *file)
{
    Dwarf_Die unit;
    Dwarf_CU *cu = NULL;
    size_t count = 0;
    uint8_t type;

    while (file->files.dwarf &&
           dwarf_get_units(file->files.dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0)
        count += type == DW_UT_skeleton;
    if (count == 0)
        return;
    tool_complain(TOOL_BAD_DATA, "%s: not collected: split debug information of %zu unit%s",
                  file->path, count, count == 1 ? "" : "s");
    fprintf(c->manifest, "missing %zu split units\n", count);
    c->missing = true;
}

/* What a debug file without a build-id is found by elsewhere: its name beside the module. */
static char *beside(const char *path, const char *file)
{
    const char *slash = strrchr(path, '/'), *name = strrchr(file, '/');
    char *out = NULL;

    return asprintf(&out, "%.*s/%s", slash ? (int)(slash - path) : 0, path,
                    name ? name + 1 : file) < 0
               ? NULL
               : out;
}

void collection_add(void *user, struct module_file *file)
{
    struct collection *c = user;
    const struct object_files *f = &file->files;
    char id[OBJECT_BUILD_ID_TEXT], *member, *path;
    struct object_build_id known;

    if (file->told)
        return;
    file->told = true;
    known = file->id;
    if (known.size == 0 && f->file.elf)
        object_build_id_of(&known, f->file.elf);
    object_build_id_text(id, &known);
    fprintf(c->manifest, "module %s", id);
    tell(c, "", file->path);
    if (f->file.elf && (member = add_opened(c, &f->file, file->path, ""))) {
        tell(c, "file", member);
        add_path(c, file->path, member);
        free(member);
    }
    if (f->debug.elf && (path = beside(file->path, f->debug.path))) {
        if ((member = add_opened(c, &f->debug, path, ".debug")))
            tell(c, "debug", member);
        free(member);
        free(path);
    }
    if (f->alt.elf && (member = add_opened(c, &f->alt, f->alt.path, ".debug"))) {
        tell(c, "alt", member);
        free(member);
    }
    if (f->no_alt) {
        tool_complain(TOOL_BAD_DATA, "%s: not collected: what its debug file shares with others",
                      file->path);
        fprintf(c->manifest, "missing alt\n");
        c->missing = true;
    }
    if (!f->file.elf)
        fprintf(c->manifest, "missing file\n");
    c->missing |= file->refused;
    look_for_split_units(c, file);
}
