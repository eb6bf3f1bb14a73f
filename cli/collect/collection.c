#include "cli/collect/collection.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "util/base_name.h"
#include "util/counted.h"
#include "util/foreign.h"

/* --- members ----------------------------------------------------------------------------------- */

/*
 * The archive member name of a path: without the leading slash, and without empty, . and .. parts.
 * So unpacking never writes outside of the current folder.
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

/*
 * Whether a name is of the file's own members, or below one. A report may be hostile, and so the path of a module: it could
 * take the place of the report, of the manifest, or of another module.
 */
static bool is_own(const char *name)
{
    static const char *const own[] = { ".build-id", "manifest", "maps", "recording.sfbr",
                                       "report" };
    const size_t size = strcspn(name, "/");

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == size && strncmp(name, own[i], size) == 0)
            return true;
    return false;
}

static void leave_out(struct collection *c, const char *path, const char *why)
{
    tool_complain(TOOL_BAD_DATA, "%s: not collected: %s", path, why);
    c->missing = true;
}

/* Adds the member for a path, a link to that of the build-id. */
static void add_path(struct collection *c, const char *path, const char *target)
{
    char *name = member_name(path), *link = NULL;
    size_t depth = 0, size;
    FILE *to;

    if (name && is_own(name)) {
        leave_out(c, path, "at its path: the file has something else there");
        free(name);
        return;
    }
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

    const char *why = NULL;

    object_build_id_of(&id, opened->elf);
    member = object_build_id_path(name, &id, ending) ? strdup(name) : member_name(path);
    if (!data)
        why = "it cannot be read";
    else if (!member || !*member)
        why = "it has no name";
    else if (id.size == 0 && is_own(member))
        why = "the file has something else of its name";
    if (why) {
        leave_out(c, opened->path, why);
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
    tool_complain(TOOL_BAD_DATA, "%s: not collected: split debug information of %s", file->path,
                  counted(count, "units").text);
    fprintf(c->manifest, "missing %zu split units\n", count);
    c->missing = true;
}

/* What a debug file without a build-id is found by elsewhere: its name beside the module. */
static char *beside(const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    char *out = NULL;

    return asprintf(&out, "%.*s/%s", slash ? (int)(slash - path) : 0, path, sfb_base_name(file)) < 0
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
