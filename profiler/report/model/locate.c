/*
 * Two processes have a library at two addresses, and it is one place: locations are of modules. A module is known by name
 * and build-id, for the loader says /lib/libc.so.6 where the kernel says /usr/lib/libc.so.6; without a build-id by path. What
 * is in no module is known by its address, and is another place in each process and at each list.
 */
#include "profiler/report/model/locate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/base_name.h"
#include "util/hex_text.h"

void report_locator_begin(struct report_locator *l, struct report_model *model, bool no_inlines)
{
    *l = (struct report_locator){ .model = model,
                                  .no_inlines = no_inlines,
                                  .source = REPORT_NONE,
                                  .process = REPORT_NONE,
                                  .list = REPORT_NONE };
}

void report_locator_end(struct report_locator *l)
{
    report_index_free(&l->addresses);
    report_index_free(&l->places);
    report_index_free(&l->modules);
    report_index_free(&l->functions);
    report_index_free(&l->by_start);
    report_index_free(&l->by_file);
    report_index_free(&l->waits);
    report_strings_free(&l->build_ids);
    free(l->found);
}

static bool add_text(struct report_locator *l, const char *text, uint32_t *out)
{
    return report_strings_add(&l->model->strings, text, out);
}

/* --- Modules ----------------------------------------------------------------------------------- */

/* @return false: no memory. Equal build-ids have equal numbers */
static bool id_of(struct report_locator *l, const struct report_place *place, uint32_t *out)
{
    enum { MOST = sizeof((struct report_module *)NULL)->build_id };
    char text[2 * MOST + 1];

    sfb_hex_text(text, place->build_id, place->build_id_size < MOST ? place->build_id_size : MOST);
    return report_strings_add(&l->build_ids, text, out);
}

/* @return false: no memory */
static bool module_of(struct report_locator *l, const struct report_place *place, uint32_t *out)
{
    const char *path = place->path ? place->path : "";
    struct report_module *module;
    uint32_t text, name, id;
    bool found;

    if (place->path && place->path == l->last_path && place->build_id == l->last_id) {
        *out = l->last_module;
        return true;
    }
    if (!add_text(l, path, &text) || !add_text(l, sfb_base_name(path), &name) ||
        !id_of(l, place, &id) ||
        !report_index_find(&l->modules, place->build_id_size > 0 ? name : text, id,
                           (uint32_t)l->model->modules.count, out, &found))
        return false;
    l->last_path = place->path;
    l->last_id = place->build_id;
    l->last_module = *out;
    if (found)
        return true;
    module = REPORT_NEXT(l->model->modules);
    if (!module)
        return false;
    module->path = text;
    module->name = name;
    module->start = place->start;
    module->end = place->end;
    module->source = l->source;
    module->process = l->process;
    module->list = l->list;
    module->build_id_size = place->build_id_size < sizeof module->build_id
                                ? (uint32_t)place->build_id_size
                                : (uint32_t)sizeof module->build_id;
    if (module->build_id_size > 0)
        memcpy(module->build_id, place->build_id, module->build_id_size);
    return true;
}

/* --- Functions --------------------------------------------------------------------------------- */

/*
 * A static function of a header has a copy in each file that includes it; one that includes text, as a parser of yacc
 * does, has lines of two files; what was inlined has no start. So functions of one name are one if they begin at one
 * place, or else if their lines are of one file, or of none that is known.
 *
 * @param head  the first one of its name
 * @return whether it is there; then `out` is written
 */
static bool find_same(const struct report_locator *l, uint32_t head, uint64_t start, uint32_t file,
                      uint32_t *out)
{
    if (start != 0 && report_index_has(&l->by_start, head, start, out))
        return true;
    if (report_index_has(&l->by_file, head, file, out))
        return true;
    *out = head;
    return !report_text(l->model, file)[0] ||
           !report_text(l->model, l->model->functions.at[head].file)[0];
}

/* @return false: no memory */
static bool note_same(struct report_locator *l, uint32_t head, uint64_t start, uint32_t file,
                      uint32_t function)
{
    uint32_t number;
    bool found;

    return report_index_find(&l->by_file, head, file, function, &number, &found) &&
           (start == 0 || report_index_find(&l->by_start, head, start, function, &number, &found));
}

/* @return false: no memory */
static bool function_of(struct report_locator *l, const struct report_named *named, uint32_t module,
                        uint32_t file, uint32_t *out)
{
    struct report_model *model = l->model;
    const uint64_t offset = named->start - l->base;
    const uint64_t start = named->inlined ? 0 : offset;
    struct report_function function = { .file = file,
                                        .module = module,
                                        .known = named->name != NULL };
    struct report_function *next;
    uint32_t head;
    char unnamed[32];
    bool found;

    snprintf(unnamed, sizeof unnamed, "[0x%" PRIx64 "]", offset);
    if (!add_text(l, named->name ? named->name : unnamed, &function.name) ||
        !add_text(l, named->system_name, &function.system_name) ||
        !report_index_find(&l->functions, function.name,
                           (uint64_t)function.system_name << 32 | module,
                           (uint32_t)model->functions.count, &head, &found))
        return false;
    if (!found || !find_same(l, head, start, file, out)) {
        *out = (uint32_t)model->functions.count;
        next = REPORT_NEXT(model->functions);
        if (!next)
            return false;
        *next = function;
    }
    return note_same(l, head, start, file, *out);
}

/* --- Locations --------------------------------------------------------------------------------- */

static void add_line(void *user, const struct report_named *named)
{
    struct report_locator *l = user;
    struct report_location *location = &l->model->locations.at[l->at];
    const uint32_t module = location->module;
    struct report_module *m = &l->model->modules.at[module];
    struct report_line *line;
    uint32_t function, file;

    /* The one that contains them all comes last. */
    if (l->no_inlines && named->inlined)
        return;
    if (l->failed || !add_text(l, named->file, &file) ||
        !function_of(l, named, module, file, &function) || !(line = REPORT_NEXT(l->model->lines))) {
        l->failed = true;
        return;
    }
    *line = (struct report_line){ .function = function,
                                  .file = file,
                                  .line = named->line,
                                  .column = named->column,
                                  .inlined = named->inlined };
    location->count++;
    m->has_functions |= named->name != NULL;
    m->has_files |= named->file != NULL;
    m->has_lines |= named->line != 0;
    m->has_inlines |= named->inlined;
}

/* @return false: no memory */
static bool add_location(struct report_locator *l, const struct report_place *place,
                         uint64_t lookup, uint32_t *out)
{
    const struct report_namer *namer = &l->model->sources[l->source].namer;
    const uint64_t scope = (uint64_t)l->source << 48 ^ (uint64_t)l->process << 24 ^ l->list;
    struct report_location *location;
    uint32_t module;
    uint64_t offset;
    bool found;

    if (!module_of(l, place, &module))
        return false;
    l->base = place->kind == REPORT_NATIVE ? place->start : 0;
    offset = lookup - l->base;
    if (!report_index_find(&l->places, offset, place->kind == REPORT_NATIVE ? module : ~scope,
                           (uint32_t)l->model->locations.count, out, &found))
        return false;
    if (found)
        return true;
    location = REPORT_NEXT(l->model->locations);
    if (!location)
        return false;
    *location = (struct report_location){ .module = module,
                                          .kind = place->kind,
                                          .offset = offset,
                                          .at = (uint32_t)l->model->lines.count };
    l->at = *out;
    namer->find(namer->user, lookup, add_line, l);
    return !l->failed;
}

/* From now on addresses are of this process, with these modules. @return false: no memory */
static bool use(struct report_locator *l, uint32_t source, uint32_t process, uint32_t list)
{
    const struct report_source *s = &l->model->sources[source];

    if (l->source == source && l->process == process && l->list == list)
        return true;
    if (l->source != source) {
        report_index_clear(&l->addresses);
        memset(l->recent, 0, sizeof l->recent);
        l->found_count = 0;
    }
    l->source = source;
    l->process = process;
    l->list = list;
    l->last_path = NULL;
    return s->namer.use(s->namer.user, s->data, process, list);
}

bool report_locate(struct report_locator *l, uint32_t source, uint32_t process, uint32_t list,
                   uint64_t lookup, uint32_t *out)
{
    const struct report_namer *namer = &l->model->sources[source].namer;
    struct report_place place;
    uint32_t number, *slot;
    bool found;

    if (l->source != source && !use(l, source, process, list))
        return false;
    if (report_locate_recent(l, source, process, list, lookup, out))
        return true;
    if (!report_index_find(&l->addresses, lookup, (uint64_t)process << 32 | list,
                           (uint32_t)l->found_count, &number, &found))
        return false;
    if (found) {
        *out = l->found[number];
        l->recent[report_recent_slot(lookup)] =
            (struct report_recent){ lookup, process, list, *out, true };
        return true;
    }
    slot = report_array_next((void **)&l->found, &l->found_count, &l->found_room, sizeof *slot);
    if (!slot || !use(l, source, process, list))
        return false;
    namer->place(namer->user, lookup, &place);
    if (!add_location(l, &place, lookup, out))
        return false;
    *slot = *out;
    return true;
}

bool report_locate_wait(struct report_locator *l, const char *name, uint32_t *out)
{
    const struct report_place place = { .kind = REPORT_MADE, .path = REPORT_WAITING };
    const struct report_named named = { .name = name };
    struct report_location *location;
    uint32_t module, text;
    bool found;

    if (!add_text(l, name, &text) || !module_of(l, &place, &module) ||
        !report_index_find(&l->waits, text, 0, (uint32_t)l->model->locations.count, out, &found))
        return false;
    if (found)
        return true;
    location = REPORT_NEXT(l->model->locations);
    if (!location)
        return false;
    *location = (struct report_location){
        .module = module, .kind = place.kind, .offset = text, .at = (uint32_t)l->model->lines.count
    };
    l->at = *out;
    l->base = 0;
    add_line(l, &named);
    return !l->failed;
}

/* --- Functions of interpreters ----------------------------------------------------------------- */

bool report_locate_code(struct report_locator *l, uint32_t source, uint32_t code, uint32_t line,
                        uint32_t *out)
{
    static const struct report_place place = { .kind = REPORT_CODE, .path = REPORT_PYTHON_MODULE };
    static const struct report_script unknown = { .name = (char *)(uintptr_t) "[unknown]",
                                                  .file = (char *)(uintptr_t) "" };
    const struct report_data *data = l->model->sources[source].data;
    const struct report_script *c = code == REPORT_NONE ? &unknown : &data->codes.at[code];
    const struct report_named named = {
        .name = c->name, .file = c->file, .line = line, .inlined = true /* it has no start */
    };
    struct report_location *location;
    struct report_line *at_line;
    uint32_t module, file, function;
    bool found;

    l->last_path = NULL;
    if (!module_of(l, &place, &module) || !add_text(l, c->file, &file) ||
        !function_of(l, &named, module, file, &function))
        return false;
    l->last_path = NULL;
    if (!report_index_find(&l->places, (uint64_t)function << 32 | line, module,
                           (uint32_t)l->model->locations.count, out, &found))
        return false;
    if (found)
        return true;
    location = REPORT_NEXT(l->model->locations);
    at_line = location ? REPORT_NEXT(l->model->lines) : NULL;
    if (!at_line)
        return false;
    *location = (struct report_location){ .module = module,
                                          .kind = REPORT_CODE,
                                          .offset = (uint64_t)function << 32 | line,
                                          .at = (uint32_t)l->model->lines.count - 1,
                                          .count = 1 };
    *at_line = (struct report_line){ .function = function, .file = file, .line = line };
    l->model->modules.at[module].has_functions = true;
    l->model->modules.at[module].has_files = true;
    l->model->modules.at[module].has_lines = true;
    return true;
}
