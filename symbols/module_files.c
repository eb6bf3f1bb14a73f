#include "symbols/module_files.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/guard.h"
#include "symbols/load_bias.h"
#include "symbols/own_vdso.h"

/* The place at the path of the module, else the first one. */
static const struct object_try *first_try(const struct module_file *f)
{
    const struct object_try *first = NULL;

    for (size_t i = 0; i < f->files.trail.count; i++) {
        const struct object_try *t = &f->files.trail.tries[i];

        if (t->part == OBJECT_FILE && strcmp(t->place, f->path) == 0)
            return t;
        if (t->part == OBJECT_FILE && !first)
            first = t;
    }
    return first;
}

static void report_file(const struct module_file *f, const struct reporter *reporter)
{
    const struct object_try *t = first_try(f);
    const char *cause = t && t->cause ? t->cause : "not found";

    reporter_say(reporter, REPORTED_BAD_DATA, "%s: %s%s", f->path,
                 t && t->verdict == OBJECT_OTHER_BUILD_ID ? "not the file that was loaded: " : "",
                 cause);
}

/* Says that debug information is here and was not taken, if nothing better was found. */
static void report_part(const struct module_file *f, enum object_part part,
                        const struct reporter *reporter)
{
    for (size_t i = 0; i < f->files.trail.count; i++) {
        const struct object_try *t = &f->files.trail.tries[i];

        if (t->part != part || (t->verdict != OBJECT_OTHER_BUILD_ID &&
                                t->verdict != OBJECT_UNOPENED && t->verdict != OBJECT_REFUSED))
            continue;
        reporter_say(reporter, REPORTED_NOTE, "%s: not %s: %s", t->place,
                     t->verdict == OBJECT_UNOPENED ? "opened" : "used", t->cause);
        return;
    }
}

/* What the kernel gives (linux-vdso.so.1) is no file, and is not expected to be here. */
static bool is_file(const char *path)
{
    return strchr(path, '/') != NULL;
}

static bool is_own_vdso(const struct object_module *module, struct object_module *vdso)
{
    struct object_build_id id;
    Elf *elf;

    *vdso = *module;
    if (module->image || is_file(module->path) || module->id.size == 0 ||
        !(vdso->image = object_own_vdso(&vdso->image_size)))
        return false;
    elf_version(EV_CURRENT);
    elf = elf_memory(vdso->image, vdso->image_size);
    object_build_id_of(&id, elf);
    elf_end(elf);
    return object_build_id_equal(&id, &module->id);
}

/* An address in the debug file less that of the file: prelink moves files, and not those. */
static int64_t debug_shift(const struct object_files *files)
{
    uint64_t file, debug;

    if (!files->file.elf || !files->debug.elf || !object_bias_of_start(files->file.elf, 0, &file) ||
        !object_bias_of_start(files->debug.elf, 0, &debug))
        return 0;
    return (int64_t)(file - debug);
}

/* @return false: no memory */
static bool open_files(struct module_file *f, const struct object_module *module,
                       const struct module_files *files, bool expected)
{
    struct object_module vdso;
    struct object_names_source source = { .main = NULL };

    /* libdw opens by itself what a file names as its split debug information. Input that a user
     * names was opened before this. */
    object_guard_libraries(&files->reporter);
    if (is_own_vdso(module, &vdso))
        module = &vdso;
    if (!object_files_find(&f->files, module, &files->places)) {
        f->refused = expected && is_file(f->path);
        if (f->refused)
            report_file(f, &files->reporter);
        return true;
    }
    if (!f->files.dwarf)
        report_part(f, OBJECT_DEBUG, &files->reporter);
    if (f->files.no_alt)
        report_part(f, OBJECT_ALT, &files->reporter);
    source.main = f->files.file.elf ? f->files.file.elf : f->files.debug.elf;
    source.debug = f->files.debug.elf;
    source.dwarf = f->files.dwarf;
    source.debug_shift = debug_shift(&f->files);
    source.dwarf_shift = source.debug ? source.debug_shift : 0;
    f->names = object_names_open(&source);
    return f->names != NULL;
}

static void free_file(void *data)
{
    struct module_file *f = data;

    if (f->names)
        object_names_close(f->names);
    object_files_free(&f->files);
    free(f->path);
    free(f);
}

static int compare(const void *a, const void *b)
{
    const struct module_file *x = a, *y = b;
    int order;

    if (x->id.size != y->id.size)
        return x->id.size < y->id.size ? -1 : 1;
    if (x->gone != y->gone)
        return x->gone ? 1 : -1;
    order = memcmp(x->id.bytes, y->id.bytes, x->id.size);
    return order ? order : strcmp(x->path, y->path);
}

struct module_file *module_files_find(struct module_files *files,
                                      const struct object_module *module, bool expected)
{
    struct module_file *file = calloc(1, sizeof *file), **found;

    if (!file || !(file->path = strdup(module->path))) {
        free(file);
        return NULL;
    }
    file->id = module->id;
    file->gone = module->gone;
    file->files.file.fd = file->files.debug.fd = file->files.alt.fd = -1;
    found = tsearch(file, &files->tree, compare);
    if (found && *found != file) {
        free_file(file);
        return *found;
    }
    if (found && open_files(file, module, files, expected))
        return file;
    tdelete(file, &files->tree, compare);
    free_file(file);
    return NULL;
}

bool module_file_bias(const struct module_file *file, uint64_t start, uint64_t *bias)
{
    Elf *elf = file->files.file.elf ? file->files.file.elf : file->files.debug.elf;

    return elf && object_bias_of_start(elf, start, bias);
}

bool module_file_data(const struct module_file *file, uint64_t start, uint64_t address,
                      struct object_data *out)
{
    uint64_t bias;

    return module_file_bias(file, start, &bias) &&
           object_data_find(out, file->files.file.elf, file->files.debug.elf,
                            (uint64_t)debug_shift(&file->files), address - bias);
}

void module_files_free(struct module_files *files)
{
    tdestroy(files->tree, free_file);
    files->tree = NULL;
}
