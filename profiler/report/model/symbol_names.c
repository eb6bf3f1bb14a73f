#include "profiler/report/model/symbol_names.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/candidate.h"
#include "symbols/code_segment.h"
#include "symbols/image_modules.h"
#include "symbols/load_bias.h"
#include "symbols/perf_map.h"

/* The names that a process gave to code that it made. */
struct made_code {
    bool asked;
    struct object_perf_map map;
};

struct report_symbol_names {
    struct symbols *symbols;
    enum object_name_style style;
    struct image_modules *lists; /* of each list, when it is first asked for */
    size_t list_count;
    struct made_code *made; /* of each process */
    size_t process_count;
    struct image_modules none;
    const struct image_modules *modules; /* current ones: addresses are looked up in these */
    struct made_code *code;
};

struct report_symbol_names *report_symbol_names_open(struct symbols *symbols,
                                                     enum object_name_style style)
{
    struct report_symbol_names *n = calloc(1, sizeof *n);

    if (n) {
        n->symbols = symbols;
        n->style = style;
        n->modules = &n->none;
    }
    return n;
}

/* @return false: no memory */
static bool make_room(struct report_symbol_names *n, const struct report_data *data)
{
    if (!n->lists)
        n->lists = calloc(data->lists.count + 1, sizeof *n->lists);
    if (!n->made)
        n->made = calloc(data->processes.count + 1, sizeof *n->made);
    n->list_count = n->lists ? data->lists.count : 0;
    n->process_count = n->made ? data->processes.count : 0;
    return n->lists && n->made;
}

/* What a process wrote of its code last. */
static void read_made_code(struct made_code *code, const struct report_data *data, uint32_t process)
{
    code->asked = true;
    for (size_t i = data->files.count; i-- > 0;) {
        const struct report_file *file = &data->files.at[i];
        char *text = file->process == process ? malloc(file->size + 1) : NULL;

        if (!text)
            continue;
        memcpy(text, file->bytes, file->size + 1);
        if (!object_perf_map_read(&code->map, text, file->size))
            object_perf_map_free(&code->map);
        return;
    }
}

static bool use(void *user, const struct report_data *data, uint32_t process, uint32_t list)
{
    struct report_symbol_names *n = user;
    struct sfb_error error;
    struct image_modules *images;

    if (!make_room(n, data))
        return false;
    n->code = &n->made[process];
    if (!n->code->asked)
        read_made_code(n->code, data, process);
    n->modules = &n->none;
    if (list != REPORT_NONE) {
        images = &n->lists[list];
        /* A list that is damaged names nothing. */
        if (images->count == 0 &&
            image_modules_read(images, data->lists.at[list].map, data->lists.at[list].size,
                               &error) == SFB_NO_RESOURCE)
            return false;
        n->modules = images;
    }
    return !n->symbols || symbols_use_modules(n->symbols, n->modules->modules, n->modules->count);
}

/* --- Addresses --------------------------------------------------------------------------------- */

struct question {
    struct report_symbol_names *names;
    uint64_t address;
    void (*visit)(void *, const struct report_named *);
    void *user;
};

static const struct loaded_module *module_at(const struct image_modules *images, uint64_t address)
{
    for (size_t i = 0; i < images->count; i++)
        if (address >= images->modules[i].start && address < images->modules[i].end)
            return &images->modules[i];
    return NULL;
}

static const struct object_perf_symbol *made_at(const struct report_symbol_names *n,
                                                uint64_t address)
{
    return n->code ? object_perf_map_find(&n->code->map, address) : NULL;
}

static void place(void *user, uint64_t lookup, struct report_place *out)
{
    const struct report_symbol_names *n = user;
    const struct loaded_module *module = module_at(n->modules, lookup);

    if (module)
        *out = (struct report_place){ .kind = REPORT_NATIVE,
                                      .path = module->path,
                                      .build_id = module->build_id,
                                      .build_id_size = module->size,
                                      .start = module->start,
                                      .end = module->end };
    else
        *out = (struct report_place){ .kind = made_at(n, lookup) ? REPORT_MADE : REPORT_NO_MODULE };
}

/* What has no name is known by where it begins, or by the address itself. */
static void answer(void *user, const struct symbols_function *f)
{
    const struct question *q = user;
    char *name = f->name ? object_demangle(f->name, q->names->style) : NULL;
    const struct report_named named = { .name = name,
                                        .system_name = f->name,
                                        .file = f->path,
                                        .line = (uint32_t)(f->line > 0 ? f->line : 0),
                                        .column = (uint32_t)(f->column > 0 ? f->column : 0),
                                        .inlined = f->inlined,
                                        .start = f->start ? f->start : q->address };

    q->visit(q->user, &named);
    free(name);
}

static void find(void *user, uint64_t lookup, void (*visit)(void *, const struct report_named *),
                 void *visit_user)
{
    struct report_symbol_names *n = user;
    struct question q = { n, lookup, visit, visit_user };
    const bool native = module_at(n->modules, lookup) != NULL;
    const struct object_perf_symbol *made = native ? NULL : made_at(n, lookup);
    const struct report_named named = { .name = made ? made->name : NULL,
                                        .start = made ? made->start : lookup };

    if (n->symbols && native)
        symbols_find(n->symbols, lookup, answer, &q);
    else
        visit(visit_user, &named);
}

/* --- Segments ---------------------------------------------------------------------------------- */

static bool code_of(Elf *elf, uint64_t start, struct report_code *out)
{
    struct object_code_segment segment;
    uint64_t bias;

    if (!object_bias_of_start(elf, start, &bias) || !object_code_segment_of(&segment, elf))
        return false;
    *out = (struct report_code){ .start = segment.start + bias,
                                 .end = segment.end + bias,
                                 .offset = segment.offset };
    return true;
}

/* Without names only the path is asked, for a file with this build-id. */
static bool code_at_path(const char *path, const struct object_build_id *id, uint64_t start,
                         struct report_code *out)
{
    const struct object_wanted wanted = { .part = OBJECT_FILE, .id = *id };
    struct object_opened opened = { NULL, -1, NULL };
    struct object_trail trail = { .count = 0 };
    const bool good = path[0] == '/' && id->size > 0 &&
                      object_candidate_open(&opened, path, &wanted, &trail) &&
                      code_of(opened.elf, start, out);

    object_opened_close(&opened);
    object_trail_free(&trail);
    return good;
}

static bool code(void *user, const struct report_place *module, struct report_code *out)
{
    const struct report_symbol_names *n = user;
    struct object_module known = { .path = module->path };
    const struct module_file *file;

    if (!module->path)
        return false;
    object_build_id_set(&known.id, module->build_id, module->build_id_size);
    if (!n->symbols)
        return code_at_path(module->path, &known.id, module->start, out);
    file = symbols_module_file(n->symbols, &known);
    return file && file->files.file.elf && code_of(file->files.file.elf, module->start, out);
}

/* The part of a segment of code behind an address, as linked. */
static size_t code_bytes(Elf *elf, uint64_t address, uint8_t *out, size_t size)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        Elf_Data *data;
        uint64_t left;

        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
            address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
            continue;
        left = p.p_filesz - (address - p.p_vaddr);
        if (p.p_offset > INT64_MAX - (address - p.p_vaddr))
            return 0;
        data = elf_getdata_rawchunk(elf, (int64_t)(p.p_offset + (address - p.p_vaddr)),
                                    left < size ? (size_t)left : size, ELF_T_BYTE);
        if (!data || !data->d_buf)
            return 0;
        memcpy(out, data->d_buf, data->d_size);
        return data->d_size;
    }
    return 0;
}

static size_t bytes(void *user, const struct report_place *module, uint64_t address, uint8_t *out,
                    size_t size, uint16_t *machine)
{
    const struct report_symbol_names *n = user;
    struct object_module known = { .path = module->path };
    const struct module_file *file;
    uint64_t bias;
    GElf_Ehdr head;
    Elf *elf;

    if (!module->path || !n->symbols)
        return 0;
    object_build_id_set(&known.id, module->build_id, module->build_id_size);
    file = symbols_module_file(n->symbols, &known);
    elf = file ? file->files.file.elf : NULL;
    if (!elf || !gelf_getehdr(elf, &head) || !object_bias_of_start(elf, module->start, &bias))
        return 0;
    *machine = head.e_machine;
    return code_bytes(elf, address - bias, out, size);
}

/* --- Data -------------------------------------------------------------------------------------- */

static bool data(void *user, const char *path, uint64_t start, uint64_t address, char *out,
                 size_t room)
{
    const struct report_symbol_names *n = user;
    const struct loaded_module *module = module_at(n->modules, start);
    struct object_module known = { .path = path };
    const struct module_file *file;
    struct object_data object;
    uint64_t bias;
    char *name;

    if (!n->symbols || !module || module->start != start || strcmp(module->path, path) != 0)
        return false;
    object_build_id_set(&known.id, module->build_id, module->size);
    file = symbols_module_file(n->symbols, &known);
    if (!file || !module_file_bias(file, start, &bias) ||
        !module_file_data(file, start, address, &object))
        return false;
    address -= bias + object.start;
    name = object_demangle(object.name, n->style);
    if (address > 0)
        snprintf(out, room, "%s+0x%" PRIx64, name ? name : object.name, address);
    else
        snprintf(out, room, "%s", name ? name : object.name);
    free(name);
    return true;
}

struct report_namer report_symbol_names_namer(struct report_symbol_names *n)
{
    return (struct report_namer){ .user = n,
                                  .use = use,
                                  .place = place,
                                  .find = find,
                                  .code = code,
                                  .bytes = bytes,
                                  .data = data };
}

void report_symbol_names_close(struct report_symbol_names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->list_count; i++)
        image_modules_free(&n->lists[i]);
    for (size_t i = 0; i < n->process_count; i++)
        object_perf_map_free(&n->made[i].map);
    free(n->lists);
    free(n->made);
    free(n);
}
