#include "remote/core_space.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "remote/core_links.h"
#include "remote/core_maps.h"
#include "remote/module_file.h"
#include "remote/module_tables.h"
#include "remote/segment_image.h"

enum {
    HEAD_MAX = 64 << 10, /* of a module: up to its notes */
    HEADS_MAX = 1 << 30, /* of all modules */
    IMAGES_MAX = 1 << 30,
    VDSO_MAX = 1 << 20 /* it is two pages */
};

/* Its own name, as the loader and so a crash report has it. */
#define VDSO "linux-vdso.so.1"

struct remote_core_module {
    char *name; /* the path by which it was loaded; NULL: unknown */
    struct object_build_id id;
    bool asked;     /* for its file */
    uint8_t *bytes; /* NULL: it is not here */
    size_t size;
    struct object_opened file;
    void *image; /* from memory */
    bool opened;
    struct remote_module_tables tables;
};

/* --- Files ---------------------------------------------------------------------------------------- */

/* Whether bytes are a file of the core's machine: without a build-id a path may lead to any file. */
static bool is_of_machine(const struct remote_core_space *s, const uint8_t *bytes, size_t size)
{
    Elf64_Ehdr header;

    if (!bytes || size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_machine == s->file->machine;
}

static uint8_t *search_file(struct remote_core_module *m, const struct remote_core_space *s,
                            const struct sfb_remote_module *facts, size_t *size)
{
    const struct object_module module = {
        .path = facts->path, .root = s->root, .gone = facts->gone, .id = m->id
    };

    if (!remote_module_file(&m->file, &module))
        return NULL;
    object_opened_keep(&m->file);
    return (uint8_t *)elf_rawfile(m->file.elf, size);
}

static size_t read_saved(void *user, uint64_t address, void *out, size_t size)
{
    return remote_core_file_read(user, address, out, size);
}

/* From memory, if the core has all of it that no program writes to: a full core needs no files. */
static void *image_in_core(const struct remote_core_space *s, size_t index, size_t *size)
{
    const struct object_mapped *mapped = &s->maps.modules[index];
    const struct remote_reader memory = { read_saved, s->file };

    for (size_t i = mapped->first; i < s->maps.mapping_count && s->maps.mappings[i].module == index;
         i++) {
        const struct object_mapping *m = &s->maps.mappings[i];
        const struct remote_core_segment *segment = remote_core_segment_at(s->file, m->start);

        if (!segment || segment->present < segment->end - segment->start)
            return NULL;
    }
    return s->maps.mappings[mapped->first].offset == 0
               ? remote_segment_image(&memory, s->maps.mappings[mapped->first].start, s->images,
                                      size)
               : NULL;
}

/* Finds the bytes of a module's file, once. */
static void ask(struct remote_core_space *s, size_t index)
{
    struct remote_core_module *m = &s->modules[index];
    const struct sfb_remote_module *facts = &s->facts[index];

    if (m->asked)
        return;
    m->asked = true;
    m->bytes = facts->image;
    m->size = facts->image_size;
    if (!m->bytes)
        m->bytes = s->files ? s->files->find(s->files->user, facts, &m->size)
                            : search_file(m, s, facts, &m->size);
    if (is_of_machine(s, m->bytes, m->size))
        return;
    m->size = 0;
    m->bytes = m->image = image_in_core(s, index, &m->size);
    s->images -= m->image ? m->size : 0;
}

void *remote_core_space_file(struct remote_core_space *s, size_t module, size_t *size)
{
    ask(s, module);
    *size = s->modules[module].size;
    return s->modules[module].bytes;
}

/* --- Memory --------------------------------------------------------------------------------------- */

/* What a file has at an address, as far as one mapping goes. */
static size_t read_file(struct remote_core_space *s, uint64_t address, void *out, size_t size)
{
    const struct object_mapping *mapping = object_maps_find(&s->maps, address);
    const struct remote_core_module *m;
    uint64_t offset;

    if (!mapping)
        return 0;
    ask(s, mapping->module);
    m = &s->modules[mapping->module];
    offset = mapping->offset + (address - mapping->start);
    if (!m->bytes || offset >= m->size)
        return 0;
    if (size > mapping->end - address)
        size = (size_t)(mapping->end - address);
    if (size > m->size - offset)
        size = (size_t)(m->size - offset);
    memcpy(out, m->bytes + offset, size);
    return size;
}

/* Whether the program may have written what was cut off: its file has something else there. */
static bool was_cut(const struct remote_core_segment *segment, uint64_t address)
{
    const uint64_t in = segment ? address - segment->start : 0;

    return segment && segment->writable && in >= segment->present && in < segment->saved;
}

size_t remote_core_space_read(struct remote_core_space *s, uint64_t address, void *out, size_t size)
{
    size_t done = 0;

    while (done < size) {
        uint8_t *to = (uint8_t *)out + done;
        const uint64_t at = address + done;
        const struct remote_core_segment *segment = remote_core_segment_at(s->file, at);
        size_t wanted = size - done, got;

        /* One segment at a time: the next one may have more than a file. */
        if (segment && wanted > segment->end - at)
            wanted = (size_t)(segment->end - at);
        got = remote_core_file_read(s->file, at, to, wanted);
        if (got == 0 && was_cut(segment, at)) {
            s->cut = at;
            break;
        }
        if (got == 0)
            got = read_file(s, at, to, wanted);
        if (got == 0) {
            s->left_out = at;
            break;
        }
        done += got;
    }
    return done;
}

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    return (address & 7) == 0 &&
           remote_core_space_read(memory->user, address, out, sizeof *out) == sizeof *out;
}

/* --- Modules -------------------------------------------------------------------------------------- */

static const struct sfb_module *find(const struct sfb_modules *policy, uint64_t pc,
                                     struct sfb_module *scratch)
{
    struct remote_core_space *s = policy->user;
    const struct object_mapping *mapping = object_maps_find(&s->maps, pc);
    struct remote_core_module *m;

    (void)scratch;
    if (!mapping)
        return NULL;
    m = &s->modules[mapping->module];
    if (!m->opened) {
        m->opened = true;
        ask(s, mapping->module);
        remote_module_tables_open(&m->tables, m->bytes, m->size, mapping, &s->ids);
    }
    return remote_module_tables_at(&m->tables, pc);
}

static void find_build_id(struct object_build_id *out, struct remote_core_space *s, uint64_t start)
{
    char magic[SELFMAG];
    uint8_t *head;

    if (s->unread < HEAD_MAX ||
        remote_core_file_read(s->file, start, magic, sizeof magic) != sizeof magic ||
        memcmp(magic, ELFMAG, SELFMAG) != 0 || !(head = malloc(HEAD_MAX)))
        return;
    object_build_id_of_head(out, head, remote_core_file_read(s->file, start, head, HEAD_MAX));
    s->unread -= HEAD_MAX;
    free(head);
}

/* @return false: no memory */
static bool copy_vdso(struct remote_core_space *s, struct sfb_remote_module *facts)
{
    const uint64_t size = facts->end - facts->start;

    if (size > VDSO_MAX || s->unread < size)
        return true;
    s->unread -= size;
    facts->image = malloc(size);
    if (facts->image)
        facts->image_size = remote_core_file_read(s->file, facts->start, facts->image, size);
    return facts->image != NULL;
}

static bool describe(struct remote_core_space *s, size_t index)
{
    const struct object_mapped *mapped = &s->maps.modules[index];
    const struct object_mapping *first = &s->maps.mappings[mapped->first];
    struct remote_core_module *m = &s->modules[index];
    struct sfb_remote_module *facts = &s->facts[index];
    size_t last = mapped->first;

    while (last + 1 < s->maps.mapping_count && s->maps.mappings[last + 1].module == index)
        last++;
    *facts = (struct sfb_remote_module){ .start = first->start,
                                         .end = s->maps.mappings[last].end,
                                         .path = mapped->path,
                                         .gone = mapped->deleted };
    m->file.fd = -1;
    if (first->offset == 0)
        find_build_id(&m->id, s, first->start);
    facts->build_id = m->id.bytes;
    facts->build_id_size = m->id.size;
    return strcmp(facts->path, VDSO) != 0 || copy_vdso(s, facts);
}

static void name_module(void *user, uint64_t dynamic, const char *path)
{
    struct remote_core_space *s = user;
    const struct object_mapping *mapping = object_maps_find(&s->maps, dynamic);
    struct remote_core_module *m = mapping ? &s->modules[mapping->module] : NULL;

    if (!m || m->name)
        return;
    m->name = strdup(path);
    s->facts[mapping->module].name = m->name;
}

/* The vDSO is no file: the kernel says where it is, and the core has it. */
static bool add_vdso(struct remote_core_mappings *mappings, const struct remote_core_file *file,
                     const struct remote_core_notes *notes)
{
    const struct remote_core_segment *segment =
        remote_core_segment_at(file, remote_core_auxv(notes, AT_SYSINFO_EHDR));
    struct remote_core_mapping m = { .path = VDSO, .executable = true };

    if (!segment || segment->present == 0)
        return true;
    m.start = segment->start;
    m.end = segment->end;
    return remote_core_mappings_add(mappings, &m);
}

/* The link map's modules: without maps there is no module whose file a caller could be asked for by its facts. */
struct headers {
    struct remote_core_space *space;
    struct object_opened file;
    uint8_t head[HEAD_MAX];
};

static const void *find_headers(void *user, const char *path, uint64_t start, size_t *size)
{
    struct headers *h = user;
    struct remote_core_module module = { .file.fd = -1 };
    struct sfb_remote_module facts = { .start = start, .path = path };
    const struct remote_core_space *s = h->space;
    const void *bytes;

    *size = remote_core_file_read(s->file, start, h->head, sizeof h->head);
    if (is_of_machine(s, h->head, *size))
        return h->head;
    object_opened_close(&h->file);
    bytes = s->files ? s->files->find(s->files->user, &facts, size)
                     : search_file(&module, s, &facts, size);
    h->file = module.file;
    return is_of_machine(s, bytes, *size) ? bytes : NULL;
}

static bool list_links(struct remote_core_space *s, struct remote_core_links *links,
                       const struct remote_core_notes *notes)
{
    struct headers *found = malloc(sizeof *found);
    const struct remote_core_headers headers = { find_headers, found };
    bool good;

    if (!found)
        return false;
    found->space = s;
    found->file = (struct object_opened){ .fd = -1 };
    good = remote_core_links_read(links, s->file, notes, &headers);
    object_opened_close(&found->file);
    free(found);
    return good;
}

static bool list(struct remote_core_space *s, const struct remote_core_notes *notes)
{
    struct remote_core_links links = { .path_count = 0 };
    const bool good = remote_core_mappings_of_note(&links.mappings, s->file, &notes->files) &&
                      (links.mappings.count > 0 || list_links(s, &links, notes)) &&
                      add_vdso(&links.mappings, s->file, notes) &&
                      remote_core_maps(&s->maps, &links.mappings);

    remote_core_links_free(&links);
    return good;
}

static void find_entries(struct remote_core_space *s, const struct remote_core_notes *notes)
{
    const uint64_t loader = remote_core_auxv(notes, AT_BASE);
    Elf64_Ehdr header;

    s->policy.entries.program = remote_core_auxv(notes, AT_ENTRY);
    if (loader != 0 && remote_core_space_read(s, loader, &header, sizeof header) == sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0)
        s->policy.entries.loader = loader + header.e_entry;
}

bool remote_core_space_open(struct remote_core_space *s, struct remote_core_file *file,
                            const struct remote_core_notes *notes)
{
    s->file = file;
    s->unread = HEADS_MAX;
    s->images = IMAGES_MAX;
    s->memory = (struct sfb_memory){ .read = read_word, .user = s };
    s->cache = aligned_alloc(64, sizeof *s->cache);
    if (!s->cache || !list(s, notes))
        return false;
    memset(s->cache, 0, sizeof *s->cache);
    s->policy = (struct sfb_modules){ .find = find, .cache = s->cache, .user = s };
    s->modules = calloc(s->maps.module_count + 1, sizeof *s->modules);
    s->facts = calloc(s->maps.module_count + 1, sizeof *s->facts);
    if (!s->modules || !s->facts)
        return false;
    for (size_t i = 0; i < s->maps.module_count; i++)
        if (!describe(s, i))
            return false;
    remote_core_links_each(file, notes, name_module, s);
    find_entries(s, notes);
    return true;
}

void remote_core_space_close(struct remote_core_space *s)
{
    for (size_t i = 0; s->modules && s->facts && i < s->maps.module_count; i++) {
        remote_module_tables_close(&s->modules[i].tables);
        if (s->facts[i].path) /* described */
            object_opened_close(&s->modules[i].file);
        free(s->modules[i].image);
        free(s->modules[i].name);
        free(s->facts[i].image);
    }
    free(s->modules);
    free(s->facts);
    free(s->cache);
    object_maps_free(&s->maps);
}
