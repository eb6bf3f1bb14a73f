#include "remote/copied_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/eh_index.h"
#include "symbols/load_bias.h"
#include "symbols/search.h"

/* Ids of a rule cache are below 1,024. */
enum { IDS_MAX = 1023 };

struct sfb_copied_files *sfb_copied_files_open(void)
{
    struct sfb_copied_files *files = calloc(1, sizeof *files);

    if (!files)
        return NULL;
    elf_version(EV_CURRENT);
    files->cache = aligned_alloc(64, sizeof *files->cache);
    if (!files->cache) {
        free(files);
        return NULL;
    }
    memset(files->cache, 0, sizeof *files->cache);
    return files;
}

static void free_loaded(struct copied_loaded *loaded)
{
    if (loaded->is_there)
        object_tables_close(&loaded->tables);
    free(loaded->index);
    free(loaded);
}

static void free_file(struct copied_file *file)
{
    if (file->is_there)
        object_close(&file->object);
    if (file->tried)
        object_opened_close(&file->opened);
    free(file->path);
    free(file->root);
    free(file->opens);
    free(file);
}

void sfb_copied_files_close(struct sfb_copied_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->loaded.count; i++)
        free_loaded(files->loaded.at[i]);
    for (size_t i = 0; i < files->files.count; i++)
        free_file(files->files.at[i]);
    free(files->loaded.at);
    free(files->files.at);
    report_strings_free(&files->keys);
    report_index_free(&files->by_bias);
    free(files->cache);
    free(files);
}

/* --- Files ------------------------------------------------------------------------------------- */

static bool copy_text(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

static struct copied_file *make_file(const struct sfb_copied_mapping *m)
{
    struct copied_file *file = calloc(1, sizeof *file);

    if (!file)
        return NULL;
    file->given = m->image;
    file->given_size = m->image_size;
    object_build_id_set(&file->id, m->build_id, m->build_id_size);
    if (copy_text(&file->path, m->path) && copy_text(&file->root, m->root) &&
        copy_text(&file->opens, m->opens))
        return file;
    free_file(file);
    return NULL;
}

/* A file that is given is known by where its bytes are. @return false: no memory */
static bool key_of(struct sfb_copied_files *files, uint32_t *out,
                   const struct sfb_copied_mapping *m)
{
    struct object_build_id id = { .size = 0 };
    char text[OBJECT_BUILD_ID_TEXT], *key;
    bool good;

    object_build_id_set(&id, m->build_id, m->build_id_size);
    object_build_id_text(text, &id);
    if (asprintf(&key, "%s|%s|%s|%p|%s", text, m->root ? m->root : "", m->opens ? m->opens : "",
                 m->image, m->path) < 0)
        return false;
    good = report_strings_add(&files->keys, key, out);
    free(key);
    return good;
}

bool copied_files_add(struct sfb_copied_files *files, uint32_t *out,
                      const struct sfb_copied_mapping *mapping)
{
    struct copied_file **next;

    *out = COPIED_NO_FILE;
    if (!mapping->path || (mapping->path[0] != '/' && !mapping->image))
        return true;
    if (!key_of(files, out, mapping))
        return false;
    if (*out != files->files.count)
        return *out < files->files.count;
    next = REPORT_NEXT(files->files);
    if (!next)
        return false;
    *next = make_file(mapping);
    if (*next)
        return true;
    files->files.count--;
    return false;
}

static bool find(struct copied_file *file)
{
    const struct object_places nowhere_else = { .path_count = 0 };
    const struct object_module module = {
        .path = file->path, .opens = file->opens, .root = file->root, .id = file->id
    };
    struct object_trail trail = { .count = 0 };
    struct object_search search = { .module = &module,
                                    .places = &nowhere_else,
                                    .wanted = { .part = OBJECT_FILE, .id = file->id },
                                    .out = &file->opened,
                                    .trail = &trail };
    const bool found =
        (file->opens && object_search_path(&search, "%s", file->opens)) ||
        object_search_path(&search, "%s%s", object_search_root(&search), file->path) ||
        (file->id.size > 0 && object_search_debug_folder(&search));

    object_trail_free(&trail);
    return found;
}

bool copied_file_open(struct copied_file *file)
{
    struct object_fault fault;
    uint8_t *bytes = (uint8_t *)(uintptr_t)file->given; /* which nothing writes to */
    size_t size = file->given_size;

    if (file->tried)
        return file->is_there;
    file->tried = true;
    file->opened.fd = -1;
    if (!bytes && find(file)) {
        object_opened_keep(&file->opened);
        bytes = (uint8_t *)elf_rawfile(file->opened.elf, &size);
    }
    file->is_there = bytes && object_open(&file->object, &fault, bytes, size);
    if (file->is_there && file->id.size == 0)
        object_build_id_of(&file->id, file->object.elf);
    return file->is_there;
}

/* --- Where they are loaded ---------------------------------------------------------------------- */

void copied_files_give_id(struct sfb_copied_files *files, struct copied_loaded *loaded)
{
    if (files->ids < IDS_MAX)
        loaded->tables.module.id = ++files->ids;
    else
        files->renew = true;
}

void copied_files_renew(struct sfb_copied_files *files)
{
    if (!files->renew)
        return;
    for (size_t i = 0; i < files->loaded.count; i++)
        files->loaded.at[i]->tables.module.id = 0;
    memset(files->cache, 0, sizeof *files->cache);
    files->ids = 0;
    files->renew = false;
}

/* Programs are marked; executable libraries, such as glibc's, are not. */
static bool is_program(const struct object *object)
{
    const GElf_Phdr *dynamic = object_segment(object, PT_DYNAMIC);
    Elf64_Dyn entry;

    if (object->header.e_type == ET_EXEC)
        return true;
    for (uint64_t at = 0; dynamic && at < dynamic->p_filesz; at += sizeof entry) {
        if (!object_has(object, dynamic->p_offset + at, sizeof entry))
            return false;
        memcpy(&entry, object->image + dynamic->p_offset + at, sizeof entry);
        if (entry.d_tag == DT_FLAGS_1)
            return entry.d_un.d_val & DF_1_PIE;
    }
    return false;
}

static void describe(struct copied_loaded *out, const struct copied_file *file, uint64_t bias)
{
    const struct object *object = &file->object;

    out->is_there = object_tables_open(&out->tables, object, bias);
    if (!out->is_there)
        return;
    if (out->tables.module.eh_frame_status == SFB_NO_EH_FRAME &&
        remote_eh_index(&out->tables.module.eh_frame, &out->index, object, bias))
        out->tables.module.eh_frame_status = SFB_OK;
    out->entry = object->header.e_entry + bias;
    out->is_program = is_program(object);
    out->is_loader = !out->is_program && object->header.e_entry != 0 &&
                     object_segment(object, PT_INTERP) == NULL;
}

struct copied_loaded *copied_files_load(struct sfb_copied_files *files, uint32_t number,
                                        uint64_t start, uint64_t offset, bool executable)
{
    struct copied_loaded **next;
    struct copied_file *file;
    uint64_t bias;
    uint32_t at;
    bool known;

    if (number == COPIED_NO_FILE)
        return NULL;
    file = files->files.at[number];
    if (!copied_file_open(file) ||
        !object_bias_of_mapping(file->object.elf, start, offset, executable, &bias) ||
        !report_index_find(&files->by_bias, number, bias, (uint32_t)files->loaded.count, &at,
                           &known))
        return NULL;
    if (!known) {
        next = REPORT_NEXT(files->loaded);
        if (!next)
            return NULL;
        *next = calloc(1, sizeof **next);
        if (!*next) {
            files->loaded.count--;
            return NULL;
        }
        describe(*next, file, bias);
    }
    return at < files->loaded.count && files->loaded.at[at]->is_there ? files->loaded.at[at] : NULL;
}
