#include "profiler/report/text/entity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/base_name.h"

static const char *const words[] = {
    [REPORT_BY_FUNCTION] = "function", [REPORT_BY_FILE] = "file",
    [REPORT_BY_LINE] = "line",         [REPORT_BY_MODULE] = "module",
    [REPORT_BY_THREAD] = "thread",     [REPORT_BY_PROCESS] = "process",
    [REPORT_BY_CALL] = "call",         [REPORT_BY_LOCK] = "lock",
    [REPORT_BY_WAKER] = "waker"
};

bool report_by_parse(const char *text, enum report_by *out)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum report_by)i;
            return true;
        }
    return false;
}

const char *report_by_heading(enum report_by by)
{
    switch (by) {
    case REPORT_BY_FUNCTION: return "function (module)";
    case REPORT_BY_PROCESS: return "process (pid)";
    case REPORT_BY_CALL: return "state and call";
    case REPORT_BY_LOCK: return "lock";
    case REPORT_BY_WAKER: return "waker";
    case REPORT_BY_FILE:
    case REPORT_BY_LINE:
    case REPORT_BY_MODULE:
    case REPORT_BY_THREAD: break;
    }
    return words[by];
}

/*
 * Finds an entity, or makes it.
 *
 * @param a, b  its key among entities of the same kind
 * @return whether it was made or found; false: no memory
 */
static bool find(struct report_entities *e, uint64_t a, uint64_t b, const char *name,
                 const char *module, uint32_t *out)
{
    struct report_entity *entity;
    bool found;

    if (!report_index_find(&e->index, a, b, (uint32_t)e->all.count, out, &found))
        return false;
    if (found)
        return true;
    entity = REPORT_NEXT(e->all);
    if (!entity)
        return false;
    *entity = (struct report_entity){ name, module };
    return true;
}

/* By name alone, whichever recording has it. @return false: no memory */
static bool find_named(struct report_entities *e, const char *name, uint32_t *out)
{
    uint32_t text;

    return report_strings_add(&e->own, name, &text) &&
           find(e, text, UINT64_MAX, e->own.all.at[text], "", out);
}

static bool find_process(struct report_entities *e, const struct report_process *p, uint32_t *out)
{
    char *name;
    bool good;

    /* Two recordings have no process in common: compared are programs. */
    if (e->comparison)
        return find_named(e, sfb_base_name(p->program), out);
    if (asprintf(&name, "%s (%" PRIu32 ")", sfb_base_name(p->program), p->pid) < 0)
        return false;
    good = find_named(e, name, out);
    free(name);
    return good;
}

bool report_entity_of_process(struct report_entities *e, const struct report_process *p,
                              uint32_t *out)
{
    if (e->by == REPORT_BY_PROCESS)
        return find_process(e, p, out);
    *out = e->by == REPORT_BY_THREAD ? e->no_thread : REPORT_ENTITY_UNSAMPLED;
    return true;
}

/* What the debug information does not say is known by its module. */
static bool find_file(struct report_entities *e, const struct report_line *line, uint32_t *out)
{
    const struct report_model *model = e->model;
    const char *file = report_text(model, line->file);
    const uint32_t module = model->functions.at[line->function].module;
    const char *module_name = report_text(model, model->modules.at[module].name);
    uint32_t text;
    char *name;
    bool good;

    if (!file[0])
        return find(e, module, UINT64_MAX - 1, e->by == REPORT_BY_LINE ? "[no line]" : "[no file]",
                    module_name, out);
    if (e->by == REPORT_BY_FILE)
        return find(e, line->file, UINT64_MAX - 2, file, "", out);
    if (line->line == 0)
        good = asprintf(&name, "%s:?", file) >= 0;
    else
        good = asprintf(&name, "%s:%" PRIu32, file, line->line) >= 0;
    if (!good)
        return false;
    good = report_strings_add(&e->own, name, &text) &&
           find(e, line->file, line->line, e->own.all.at[text], "", out);
    free(name);
    return good;
}

/* Notes of each function whether another one of its module has the name. @return false: no memory */
static bool find_namesakes(struct report_entities *e)
{
    const struct report_model *model = e->model;

    e->ambiguous = calloc(model->functions.count + 1, sizeof *e->ambiguous);
    for (size_t i = 0; e->ambiguous && i < model->functions.count; i++) {
        const struct report_function *f = &model->functions.at[i];
        uint32_t first;
        bool found;

        if (!report_index_find(&e->namesakes, f->name, (uint64_t)f->system_name << 32 | f->module,
                               (uint32_t)i, &first, &found))
            return false;
        e->ambiguous[i] = found;
        e->ambiguous[first] |= found;
    }
    return e->ambiguous != NULL;
}

/* "module, file.c". @return NULL: no memory */
static const char *module_and_file(struct report_entities *e, const char *module, const char *file)
{
    char *both;
    uint32_t text;
    bool good;

    if (asprintf(&both, "%s, %s", module, sfb_base_name(file)) < 0)
        return NULL;
    good = report_strings_add(&e->own, both, &text);
    free(both);
    return good ? e->own.all.at[text] : NULL;
}

/*
 * A function is known by its name in a module of this name: two builds of a program have it both. Where it has
 * namesakes, its file says which one it is; where it has no name, the build.
 */
static bool find_function(struct report_entities *e, uint32_t number, uint32_t *out)
{
    const struct report_model *model = e->model;
    const struct report_function *f = &model->functions.at[number];
    const struct report_module *module = &model->modules.at[f->module];
    const char *where = report_text(model, module->name);
    const uint64_t name = (uint64_t)f->system_name << 32 | f->name;

    if (!f->known)
        return find(e, name, UINT64_MAX - 3 - f->module, report_text(model, f->name), where, out);
    if (!e->ambiguous[number])
        return find(e, name, (uint64_t)module->name << 32, report_text(model, f->name), where, out);
    where = module_and_file(e, where, report_text(model, f->file));
    return where && find(e, name, (uint64_t)module->name << 32 | f->file,
                         report_text(model, f->name), where, out);
}

static bool find_line(struct report_entities *e, const struct report_line *line, uint32_t *out)
{
    const struct report_model *model = e->model;
    const uint32_t number = model->functions.at[line->function].module;
    const struct report_module *module = &model->modules.at[number];
    const char *path = report_text(model, module->path);

    switch (e->by) {
    case REPORT_BY_FUNCTION: return find_function(e, line->function, out);
    case REPORT_BY_MODULE:
        return find(e, module->path, UINT64_MAX - 3, path[0] ? path : "[no module]", "", out);
    case REPORT_BY_FILE:
    case REPORT_BY_LINE: return find_file(e, line, out);
    case REPORT_BY_THREAD:
    case REPORT_BY_PROCESS:
    case REPORT_BY_CALL:
    case REPORT_BY_LOCK:
    case REPORT_BY_WAKER: break;
    }
    return false;
}

static bool add_lines(struct report_entities *e)
{
    bool good = e->by != REPORT_BY_FUNCTION || find_namesakes(e);

    e->of_line = calloc(e->model->lines.count + 1, sizeof *e->of_line);
    for (size_t i = 0; (good = good && e->of_line) && i < e->model->lines.count; i++)
        good = find_line(e, &e->model->lines.at[i], &e->of_line[i]);
    return good;
}

static bool add_members(struct report_entities *e)
{
    bool good = true;

    e->of_member = calloc(e->model->members.count + 1, sizeof *e->of_member);
    for (size_t i = 0; (good = good && e->of_member) && i < e->model->members.count; i++) {
        const struct report_member *m = &e->model->members.at[i];

        good = e->by == REPORT_BY_THREAD ? find_named(e, m->thread->name, &e->of_member[i])
                                         : find_process(e, m->process, &e->of_member[i]);
    }
    return good;
}

static bool add_stacks(struct report_entities *e)
{
    const struct report_model *model = e->model;
    bool good = find_named(e, "[running]", &e->running);

    e->of_stack = calloc(model->stacks.count + 1, sizeof *e->of_stack);
    e->of_member = calloc(model->members.count + 1, sizeof *e->of_member);
    for (size_t i = 0; (good = good && e->of_stack && e->of_member) && i < model->stacks.count;
         i++) {
        const char *name = report_waits_in(model, (uint32_t)i);

        e->of_stack[i] = e->running;
        good = !name || find_named(e, name, &e->of_stack[i]);
    }
    return good;
}

bool report_entities_make(struct report_entities *out, const struct report_model *model,
                          enum report_by by)
{
    static const char *const marks[] = { [REPORT_ENTITY_UNSAMPLED] = "[unsampled]",
                                         [REPORT_ENTITY_NO_STACK] = "[no stack]",
                                         [REPORT_ENTITY_OMITTED] = "[omitted]",
                                         [REPORT_ENTITY_TRUNCATED] = "[truncated]",
                                         [REPORT_ENTITY_AWAIT] = "[await]" };

    *out = (struct report_entities){ .model = model, .by = by };
    for (size_t i = 0; i < model->source_count; i++)
        out->comparison |= model->sources[i].group > 0;
    for (size_t i = 0; i < REPORT_ENTITY_MARKS; i++) {
        struct report_entity *mark = REPORT_NEXT(out->all);

        if (!mark)
            return false;
        *mark = (struct report_entity){ marks[i], "" };
    }
    if (by == REPORT_BY_THREAD && !find(out, 0, 0, "[no thread]", "", &out->no_thread))
        return false;
    if (by == REPORT_BY_CALL)
        return add_stacks(out);
    return report_by_is_called(by) ? add_lines(out) : add_members(out);
}

uint32_t report_entity_of_step(const struct report_entities *e, const struct report_step *step)
{
    if (step->line)
        return e->of_line[step->line - e->model->lines.at];
    switch (step->mark[1]) {
    case 'o': return REPORT_ENTITY_OMITTED;
    case 't': return REPORT_ENTITY_TRUNCATED;
    case 'a': return REPORT_ENTITY_AWAIT;
    default: return REPORT_ENTITY_NO_STACK;
    }
}

void report_entities_free(struct report_entities *e)
{
    free(e->all.at);
    free(e->of_line);
    free(e->of_member);
    free(e->of_stack);
    free(e->ambiguous);
    report_index_free(&e->namesakes);
    report_strings_free(&e->own);
    report_index_free(&e->index);
}
