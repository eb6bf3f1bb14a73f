#include "profiler/report/text/find.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/text/find_python.h"
#include "symbols/bare_name.h"
#include "util/nearest.h"

/* How a name is meant by a text; the first way that finds one is taken. */
enum how { EXACT, PYTHON, QUALIFIED, PART, EXPRESSION, HOWS };

struct wanted {
    const char *text, *arguments; /* arguments: what the text has behind its bare name, or "" */
    char *bare;
    const regex_t *expression;
};

static char *bare_of(const char *name)
{
    char *bare = strdup(name);

    if (bare)
        object_bare_name(bare);
    return bare;
}

/* Whether a name begins with a text, spaces aside: "> >" is ">>". */
static bool begins_with(const char *name, const char *part)
{
    for (;; name++, part++) {
        while (isspace((unsigned char)*name))
            name++;
        while (isspace((unsigned char)*part))
            part++;
        if (*part == '\0' || *name != *part)
            return *part == '\0';
    }
}

static bool has_part(const char *name, const char *part)
{
    while (*name && !begins_with(name, part))
        name++;
    return begins_with(name, part);
}

/* "std::sort" ends in "sort". */
static bool ends_in(const char *bare, const char *part)
{
    const size_t size = strlen(bare), part_size = strlen(part);

    return size > part_size + 2 && strcmp(bare + size - part_size, part) == 0 &&
           strncmp(bare + size - part_size - 2, "::", 2) == 0;
}

/* Brackets of "operator()" and brackets inside template arguments do not count. */
static bool has_parameters(const char *name)
{
    static const char call[] = "operator()";
    const size_t size = sizeof call - 1;
    const char *last = strrchr(name, ')');

    if (!last || strchr(last, '>'))
        return false;
    return (size_t)(last - name) + 1 < size || memcmp(last + 1 - size, call, size) != 0;
}

/*
 * Whether all that is known of a function is its last name: debug information of a function that was only ever inlined
 * may have no more (clang -gmlt), neither namespaces nor parameters.
 */
static bool is_last_name(const char *name, const char *bare, bool inlined)
{
    return inlined && !has_parameters(name) && object_last_name(bare) == bare;
}

static bool is_meant_bare(const struct wanted *w, const char *name, const char *bare, bool inlined,
                          enum how how)
{
    if (*bare == '\0' || !has_part(name, w->arguments))
        return false;
    if (!is_last_name(name, bare, inlined))
        return how == QUALIFIED ? strcmp(bare, w->bare) == 0 : ends_in(bare, w->bare);
    /* It may be in the namespace that was typed; a template's arguments make that likely. */
    if (strchr(name, '<') && ends_in(w->bare, bare))
        return true;
    return how == PART && (strcmp(bare, w->bare) == 0 || ends_in(w->bare, bare));
}

/* @return 1: it is; 0: it is not; -1: no memory */
static int is_meant(const struct wanted *w, const char *name, bool inlined, enum how how)
{
    char *bare;
    bool meant;

    if (how == EXACT)
        return strcmp(name, w->text) == 0;
    if (how == EXPRESSION)
        return regexec(w->expression, name, 0, NULL, 0) == 0;
    bare = bare_of(name);
    if (!bare)
        return -1;
    meant = is_meant_bare(w, name, bare, inlined, how);
    free(bare);
    return meant;
}

/* --- Of a model --------------------------------------------------------------------------------- */

/* @return whether each function was inlined somewhere; NULL: no memory */
static bool *find_inlined(const struct report_model *model)
{
    bool *inlined = calloc(model->functions.count + 1, sizeof *inlined);

    for (size_t i = 0; inlined && i < model->lines.count; i++)
        if (model->lines.at[i].inlined)
            inlined[model->lines.at[i].function] = true;
    return inlined;
}

static bool is_python_meant(const struct report_model *model, const struct report_function *f,
                            const char *text)
{
    const struct report_module *module =
        f->module < model->modules.count ? &model->modules.at[f->module] : NULL;

    return module && strcmp(report_text(model, module->path), REPORT_PYTHON_MODULE) == 0 &&
           report_python_is_meant(text, report_text(model, f->name), report_text(model, f->file));
}

/* @return how many are meant in this way; SIZE_MAX: no memory */
static size_t mark(const struct report_model *model, const struct wanted *w, const bool *inlined,
                   enum how how, bool *out)
{
    size_t count = 0;

    for (size_t i = 0; i < model->functions.count; i++) {
        const struct report_function *f = &model->functions.at[i];
        int meant = how == PYTHON ? is_python_meant(model, f, w->text)
                                  : is_meant(w, report_text(model, f->name), inlined[i], how);

        /* As linked it is one word, and has no parts. */
        if (meant == 0 && (how == EXACT || how == EXPRESSION))
            meant = is_meant(w, report_text(model, f->system_name), inlined[i], how);
        if (meant < 0)
            return SIZE_MAX;
        out[i] = meant > 0;
        count += out[i];
    }
    return count;
}

size_t report_find_functions(const struct report_model *model, const char *text,
                             const regex_t *expression, bool **out)
{
    struct wanted w = { text, "", bare_of(text), expression };
    bool *inlined = find_inlined(model);
    size_t count = w.bare && inlined ? 0 : SIZE_MAX;

    *out = calloc(model->functions.count + 1, sizeof **out);
    /* Arguments between two names, "A<int>::f", are looked for with all that is there. */
    if (w.bare)
        w.arguments = strncmp(text, w.bare, strlen(w.bare)) == 0 ? text + strlen(w.bare) : text;
    for (int how = EXACT; *out && count == 0 && how < HOWS; how++)
        count = mark(model, &w, inlined, (enum how)how, *out);
    free(w.bare);
    free(inlined);
    if (count != SIZE_MAX)
        return count;
    free(*out);
    *out = NULL;
    return 0;
}

/* --- None is meant ------------------------------------------------------------------------------ */

/* @return "'std::sort', 'std::stable_sort'" */
static char *list(const struct nearest *nearest)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    for (size_t i = 0; to && i < nearest->count; i++)
        fprintf(to, "%s'%s'", i > 0 ? ", " : "", nearest->names[i].name);
    if (to && fclose(to) == 0 && size > 0)
        return text;
    free(text);
    return NULL;
}

/* Compares last parts where only those were typed, else whole names. */
static void find_nearest(struct nearest *out, const char *typed, char *const *names, size_t count,
                         bool last)
{
    nearest_begin(out, typed, strlen(typed));
    for (size_t i = 0; i < count; i++)
        if (names[i])
            nearest_add(out, last ? object_last_name(names[i]) : names[i], names[i]);
    nearest_end(out);
}

char *report_nearest_functions(const struct report_model *model, const char *text)
{
    const size_t count = model->functions.count;
    char **names = calloc(count + 1, sizeof *names), *typed = bare_of(text), *listed = NULL;
    struct nearest nearest;

    for (size_t i = 0; names && i < count; i++)
        if (model->functions.at[i].known)
            names[i] = bare_of(report_text(model, model->functions.at[i].name));
    if (names && typed && *typed) {
        const char *last = object_last_name(typed);

        find_nearest(&nearest, typed, names, count, last == typed);
        if (nearest.count == 0)
            find_nearest(&nearest, last, names, count, true);
        listed = list(&nearest);
    }
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
    free(typed);
    return listed;
}
