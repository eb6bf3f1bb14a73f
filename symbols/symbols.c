#include "symbols/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/image_modules.h"
#include "symbols/load_bias.h"
#include "symbols/perf_map.h"
#include "symbols/process.h"
#include "util/base_name.h"
#include "util/counted.h"
#include "util/input.h"

struct symbols {
    struct module_files files;
    struct object_process process; /* pid 0: a copy of its map, or none */
    struct module_file **opened;   /* of each module of it, when it is first asked for */
    struct object_perf_map perf;
    char perf_path[OBJECT_PROCESS_PATH];
    bool perf_asked, of_loaded, refused;
    void *vdso;                    /* its image */
    struct loaded_module *modules; /* of the current report */
    size_t module_count;
    struct loaded_modules map;   /* of them */
    struct image_modules images; /* of a process, from its image map */
};

/* A call that asks for the functions at an address. */
struct question {
    uint64_t address;
    void (*visit)(void *user, const struct symbols_function *function);
    void *user;
    const char *module;
    uint64_t bias; /* what to add to an address as linked */
};

struct symbols *symbols_open(const struct object_places *places, const struct reporter *reporter)
{
    struct symbols *s = calloc(1, sizeof *s);

    if (s) {
        s->files.places = *places;
        s->files.reporter = *reporter;
        s->process.memory = -1;
    }
    return s;
}

void symbols_close(struct symbols *s)
{
    if (!s)
        return;
    module_files_free(&s->files);
    object_process_close(&s->process);
    object_perf_map_free(&s->perf);
    loaded_modules_free(&s->map);
    image_modules_free(&s->images);
    free(s->opened);
    free(s->vdso);
    free(s);
}

/* @return false after a report */
static bool make_room(struct symbols *s, const struct reporter *reporter)
{
    s->opened = calloc(s->process.maps.module_count + 1, sizeof(struct module_file *));
    if (!s->opened)
        reporter_say(reporter, REPORTED_UNREADABLE, "%s", strerror(ENOMEM));
    return s->opened != NULL;
}

bool symbols_add_process(struct symbols *s, pid_t pid, const struct reporter *reporter)
{
    const char *cause;

    if (object_process_open(&s->process, pid, &cause))
        return make_room(s, reporter);
    s->process = (struct object_process){ .memory = -1 };
    reporter_say(reporter, REPORTED_UNREADABLE, "process %d: %s", (int)pid, cause);
    return false;
}

/* @return false after a report */
static bool add_image_map(struct symbols *s, const struct input *input,
                          const struct reporter *reporter)
{
    struct sfb_error error;
    const enum sfb_status status = image_modules_read(&s->images, input->data, input->size, &error);

    if (status == SFB_OK && symbols_use_process(s))
        return true;
    if (status == SFB_OK || status == SFB_NO_RESOURCE)
        reporter_say(reporter, REPORTED_UNREADABLE, "%s", strerror(ENOMEM));
    else
        reporter_say(reporter, REPORTED_BAD_DATA, "%s: byte %" PRIu64 ": %s: %s", input->name,
                     error.offset, error.field, sfb_status_str(error.status));
    return false;
}

/* @return false after a report */
static bool add_map_text(struct symbols *s, const struct input *input,
                         const struct reporter *reporter)
{
    size_t line;
    const char *cause =
        object_maps_read(&s->process.maps, (const char *)input->data, input->size, &line);

    if (cause && line > 0)
        reporter_say(reporter, REPORTED_BAD_DATA, "%s: line %zu: %s", input->name, line, cause);
    else if (cause)
        reporter_say(reporter, REPORTED_BAD_DATA, "%s: %s", input->name, cause);
    return !cause && make_room(s, reporter);
}

bool symbols_add_maps(struct symbols *s, const char *path, const struct reporter *reporter)
{
    struct input input;
    const char *cause = input_open(&input, path);
    bool good;

    if (cause) {
        reporter_say(reporter, REPORTED_UNREADABLE, "%s: %s", input.name, cause);
        return false;
    }
    good = image_modules_are_in(input.data, input.size) ? add_image_map(s, &input, reporter)
                                                        : add_map_text(s, &input, reporter);
    input_free(&input);
    return good;
}

bool symbols_have_process(const struct symbols *s)
{
    return s->opened || s->images.count > 0;
}

bool symbols_use_modules(struct symbols *s, struct loaded_module *modules, size_t count)
{
    loaded_modules_free(&s->map);
    s->of_loaded = true;
    s->modules = modules;
    s->module_count = count;
    return loaded_modules_make(&s->map, modules, count);
}

bool symbols_use_process(struct symbols *s)
{
    if (s->images.count > 0)
        return symbols_use_modules(s, s->images.modules, s->images.count);
    s->of_loaded = false;
    return true;
}

static const char *base_name(const char *path)
{
    return path ? sfb_base_name(path) : NULL;
}

static void tell_nothing(const struct question *q)
{
    const struct symbols_function unknown = { .module = q->module };

    q->visit(q->user, &unknown);
}

static void answer(void *user, const struct object_name *name)
{
    const struct question *q = user;
    const struct symbols_function function = { .name = name->name,
                                               .start = name->start ? name->start + q->bias : 0,
                                               .file = base_name(name->file),
                                               .path = name->file,
                                               .line = name->line,
                                               .column = name->column,
                                               .module = q->module,
                                               .inlined = name->inlined };

    q->visit(q->user, &function);
}

static void ask_file(const struct symbols *s, const struct module_file *file, struct question *q)
{
    if (!object_names_find(file->names, q->address - q->bias, answer, q))
        reporter_say(&s->files.reporter, REPORTED_UNREADABLE, "%s: %s", file->path,
                     strerror(ENOMEM));
}

/* --- addresses of a process -------------------------------------------------------------------- */

/* Memory that only looks like a file: a JIT compiler maps its code twice by it. */
static bool is_memory(const char *path)
{
    return strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/dev/", 5) == 0 ||
           strncmp(path, "/SYSV", 5) == 0;
}

/* @return NULL: no memory, after a report */
static struct module_file *file_of_process(struct symbols *s, size_t index)
{
    const struct object_mapped *mapped = &s->process.maps.modules[index];
    struct object_process_module known;

    if (s->opened[index])
        return s->opened[index];
    object_process_module(&known, &s->process, index);
    s->opened[index] = module_files_find(&s->files, &known.module, !is_memory(mapped->path));
    if (!s->opened[index])
        reporter_say(&s->files.reporter, REPORTED_UNREADABLE, "%s: %s", mapped->path,
                     strerror(ENOMEM));
    s->refused |= !s->opened[index] || s->opened[index]->refused;
    if (known.image && !s->vdso)
        s->vdso = known.image; /* the files borrow it */
    else
        object_process_module_free(&known);
    return s->opened[index];
}

static bool bias_of(const struct symbols *s, const struct module_file *file,
                    const struct object_mapping *m, uint64_t *bias)
{
    const struct object_maps *maps = &s->process.maps;

    if (file->files.file.elf)
        return object_bias_of_mapping(file->files.file.elf, m->start, m->offset, m->executable,
                                      bias);
    return module_file_bias(file, maps->mappings[maps->modules[m->module].first].start, bias);
}

static bool ask_mapping(struct symbols *s, const struct object_mapping *m, struct question *q)
{
    struct module_file *file = file_of_process(s, m->module);

    q->module = base_name(s->process.maps.modules[m->module].path);
    if (!file || !file->names || !bias_of(s, file, m, &q->bias))
        return false;
    ask_file(s, file, q);
    return true;
}

static void open_perf_map(struct symbols *s)
{
    const char *cause;
    int found;

    s->perf_asked = true;
    if (s->process.pid == 0)
        return;
    found = object_perf_map_open(&s->perf, &s->process, s->perf_path, &cause);
    if (found < 0)
        reporter_say(&s->files.reporter, REPORTED_NOTE, "%s: not used: %s", s->perf_path, cause);
    else if (found > 0 && s->perf.bad_lines > 0)
        reporter_say(&s->files.reporter, REPORTED_NOTE, "%s: %s not used, the first is line %zu",
                     s->perf_path, counted(s->perf.bad_lines, "lines").text, s->perf.first_bad);
}

static bool ask_perf_map(struct symbols *s, struct question *q)
{
    const struct object_perf_symbol *symbol;
    struct symbols_function function = { .name = NULL };

    if (!s->perf_asked)
        open_perf_map(s);
    symbol = object_perf_map_find(&s->perf, q->address);
    if (!symbol)
        return false;
    function.name = symbol->name;
    function.start = symbol->start;
    function.module = base_name(s->perf_path);
    q->visit(q->user, &function);
    return true;
}

/* Between two mappings of one file: it is that file's if both say so. */
static bool ask_between(struct symbols *s, struct question *q)
{
    const struct object_mapping *m = object_maps_between(&s->process.maps, q->address);
    struct module_file *file = m ? file_of_process(s, m->module) : NULL;
    uint64_t before, after;

    if (!file || !file->names || !bias_of(s, file, m, &before) ||
        !bias_of(s, file, m + 1, &after) || before != after)
        return false;
    return ask_mapping(s, m, q);
}

static bool find_in_process(struct symbols *s, struct question *q)
{
    const struct object_mapping *m = object_maps_find(&s->process.maps, q->address);
    const bool memory = m && is_memory(s->process.maps.modules[m->module].path);

    if (m && !memory && ask_mapping(s, m, q))
        return true;
    if (ask_perf_map(s, q))
        return true;
    return m ? memory && ask_mapping(s, m, q) : ask_between(s, q);
}

/* --- addresses of a report --------------------------------------------------------------------- */

/* @return NULL: no memory, after a report */
static struct module_file *file_of_loaded(struct symbols *s, struct loaded_module *module)
{
    const struct object_module known = loaded_module_facts(module);
    struct module_file *file;

    file = module_files_find(&s->files, &known, true);
    if (!file)
        reporter_say(&s->files.reporter, REPORTED_UNREADABLE, "%s: %s", module->path,
                     strerror(ENOMEM));
    module->refused |= !file || file->refused;
    return file;
}

static bool find_in_loaded(struct symbols *s, struct question *q)
{
    struct loaded_module *module = loaded_modules_find(&s->map, q->address);
    struct module_file *file = module ? file_of_loaded(s, module) : NULL;

    if (module)
        q->module = base_name(module->name ? module->name : module->path);
    if (!file || !file->names || !module_file_bias(file, module->start, &q->bias))
        return false;
    ask_file(s, file, q);
    return true;
}

void symbols_find(struct symbols *s, uint64_t address,
                  void (*visit)(void *user, const struct symbols_function *function), void *user)
{
    struct question q = { .address = address, .visit = visit, .user = user };

    if (!(s->of_loaded ? find_in_loaded(s, &q) : find_in_process(s, &q)))
        tell_nothing(&q);
}

/* --- all of them ------------------------------------------------------------------------------- */

/* Data is mapped, too: fonts, caches, tables of locales. */
static bool has_code(const struct object_maps *maps, size_t index)
{
    size_t i = maps->modules[index].first;

    while (i < maps->mapping_count && maps->mappings[i].module == index)
        if (maps->mappings[i++].executable)
            return true;
    return false;
}

static size_t each_of_process(struct symbols *s,
                              bool (*is_wanted)(void *user, const struct object_module *module),
                              void (*visit)(void *user, struct module_file *file), void *user)
{
    size_t count = 0;

    for (size_t i = 0; i < s->process.maps.module_count; i++) {
        struct object_process_module known;
        struct module_file *file = NULL;
        bool wanted;

        if (!has_code(&s->process.maps, i))
            continue;
        object_process_module(&known, &s->process, i);
        wanted = is_wanted(user, &known.module);
        object_process_module_free(&known);
        if (!wanted || s->opened[i] || !(file = file_of_process(s, i)))
            continue;
        visit(user, file);
        count++;
    }
    return count;
}

size_t symbols_each_module(struct symbols *s,
                           bool (*is_wanted)(void *user, const struct object_module *module),
                           void (*visit)(void *user, struct module_file *file), void *user)
{
    size_t count = 0;

    if (!s->of_loaded)
        return each_of_process(s, is_wanted, visit, user);
    for (size_t i = 0; i < s->module_count; i++) {
        const struct object_module known = loaded_module_facts(&s->modules[i]);
        struct module_file *file = NULL;

        if (!is_wanted(user, &known) || !(file = file_of_loaded(s, &s->modules[i])))
            continue;
        visit(user, file);
        count++;
    }
    return count;
}

struct module_file *symbols_module_file(struct symbols *s, const struct object_module *module)
{
    return module_files_find(&s->files, module, true);
}

bool symbols_refused(const struct symbols *s)
{
    return s->refused;
}
