#include "profiler/report/model/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/pattern.h"
#include "symbols/bare_name.h"
#include "util/index.h"

/* cmake/bytes.cmake makes the file, of usual.fold. */
const char report_fold_usual[] = {
#include "profiler/report/model/usual_fold.inc"
};

/* --- The list ---------------------------------------------------------------------------------- */

bool report_fold_read(struct report_fold *out, const char *text, size_t *line)
{
    struct report_pattern_lines lines = { .text = text };
    struct report_pattern_line next;

    *out = (struct report_fold){ .all = { .count = 0 } };
    while (report_pattern_next(&lines, &next)) {
        char *function = report_pattern_of(&next, "function:"),
             *pattern = function || errno != 0 ? function : report_pattern_of(&next, "module:");
        struct report_fold_pattern *added = pattern ? REPORT_NEXT(out->all) : NULL;

        if (!added) {
            *line = !pattern && errno == 0 ? lines.line : 0;
            free(pattern);
            return false;
        }
        *added = (struct report_fold_pattern){ pattern, !function };
    }
    return true;
}

bool report_fold_read_file(struct report_fold *out, const char *path, size_t *line)
{
    char *text = report_pattern_file(path);
    const bool good = text && report_fold_read(out, text, line);

    if (!text)
        *line = 0;
    free(text);
    return good;
}

void report_fold_free(struct report_fold *fold)
{
    for (size_t i = 0; i < fold->all.count; i++)
        free(fold->all.at[i].pattern);
    free(fold->all.at);
    *fold = (struct report_fold){ .all = { .count = 0 } };
}

/* --- Functions --------------------------------------------------------------------------------- */

static bool is_in_list(const struct report_fold *fold, bool of_modules, const char *text)
{
    for (size_t i = 0; i < fold->all.count; i++)
        if (fold->all.at[i].of_modules == of_modules &&
            report_pattern_is_in(fold->all.at[i].pattern, text))
            return true;
    return false;
}

/* @return 1: the function is folded; 0: it is not; -1: no memory */
static int judge(const struct report_model *model, const struct report_fold *fold,
                 const struct report_function *f)
{
    char *bare;
    bool folded;

    if (is_in_list(fold, true, report_text(model, model->modules.at[f->module].path)))
        return 1;
    if (!f->known)
        return 0;
    bare = strdup(report_text(model, f->name));
    if (!bare)
        return -1;
    object_bare_name(bare);
    folded = is_in_list(fold, false, bare) ||
             is_in_list(fold, false, report_text(model, f->system_name));
    free(bare);
    return folded;
}

/* @return whether each function is folded; NULL: no memory */
static bool *judge_all(const struct report_model *model, const struct report_fold *fold)
{
    bool *folded = calloc(model->functions.count + 1, sizeof *folded);

    for (size_t i = 0; folded && i < model->functions.count; i++) {
        const int judgement = judge(model, fold, &model->functions.at[i]);

        folded[i] = judgement == 1;
        if (judgement < 0) {
            free(folded);
            return NULL;
        }
    }
    return folded;
}

/* --- Stacks ------------------------------------------------------------------------------------ */

/*
 * The step that allocates has no name, and the next one is folded, in the same module: a static function of an allocator,
 * in a file without its symbols.
 *
 * @return the function; REPORT_NONE: none
 */
static uint32_t nameless_leaf(const struct report_model *model, const bool *folded, uint32_t number)
{
    struct report_steps steps = report_steps_whole(model, number);
    struct report_step leaf, next;
    const struct report_function *f, *g;

    if (!report_steps_next(&steps, &leaf) || !leaf.line || !report_steps_next(&steps, &next) ||
        !next.line)
        return REPORT_NONE;
    f = &model->functions.at[leaf.line->function];
    g = &model->functions.at[next.line->function];
    return !f->known && f->module == g->module && folded[next.line->function] ? leaf.line->function
                                                                              : REPORT_NONE;
}

/* Where a stack begins, which is whole so far. */
static void fold_stack(const struct report_model *model, const bool *folded, uint32_t stack_number,
                       struct report_stack *stack)
{
    const uint32_t leaf = nameless_leaf(model, folded, stack_number);

    for (uint32_t frame = 0; frame < stack->count; frame++) {
        const uint32_t number = model->frames.at[stack->at + frame];
        const struct report_location *location;

        if (number >= model->locations.count)
            return; /* a mark: what is behind it is unknown */
        location = &model->locations.at[number];
        for (uint32_t line = 0; line < location->count; line++) {
            const uint32_t function = model->lines.at[location->at + line].function;

            if (!folded[function] && (frame > 0 || function != leaf)) {
                stack->first_frame = frame;
                stack->first_line = line;
                return;
            }
        }
    }
}

/* Finds the first stack that looks the same: two hashes of the frames that are shown. @return false: no memory */
static bool find_same(const struct report_model *model, struct report_index *index, uint32_t number,
                      uint32_t *out)
{
    const struct report_stack *stack = &model->stacks.at[number];
    uint64_t a = stack->first_line + 1, b = ~(uint64_t)stack->first_line;
    bool found;

    for (uint32_t i = stack->first_frame; i < stack->count; i++) {
        a = (a ^ model->frames.at[stack->at + i]) * UINT64_C(0x9e3779b97f4a7c15);
        b = (b ^ model->frames.at[stack->at + i]) * UINT64_C(0xbf58476d1ce4e5b9);
        a ^= a >> 29;
        b ^= b >> 31;
    }
    return report_index_find(index, a, b, number, out, &found);
}

bool report_fold_apply(struct report_model *model, const struct report_fold *fold)
{
    bool *folded = judge_all(model, fold), good = folded != NULL;
    struct report_index index = { .count = 0 };

    for (size_t i = 0; good && i < model->stacks.count; i++) {
        fold_stack(model, folded, (uint32_t)i, &model->stacks.at[i]);
        good = find_same(model, &index, (uint32_t)i, &model->stacks.at[i].shown_as);
    }
    report_index_free(&index);
    free(folded);
    return good;
}
