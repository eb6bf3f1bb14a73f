#include "report/text/nameless.h"

#include <stdlib.h>

#include "object/foreign.h"
#include "report/text/columns.h"

enum { MODULES_MAX = 6 };

struct nameless {
    uint32_t module;
    uint64_t self;
};

static int compare_nameless(const void *a, const void *b)
{
    const struct nameless *x = a, *y = b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return (x->module > y->module) - (x->module < y->module);
}

static void write_module(FILE *to, const struct report_model *model, const struct nameless *n,
                         uint64_t all)
{
    const char *name = report_text(model, model->modules.at[n->module].name);

    foreign_print(to, name[0] ? name : "code in no module");
    fprintf(to, " %.2f %%", report_share(n->self, all));
}

bool report_nameless_write(FILE *to, const struct report_model *model, uint64_t all)
{
    struct nameless *modules = calloc(model->modules.count + 1, sizeof *modules);
    uint64_t others = 0;
    size_t count = 0;

    if (!modules)
        return false;
    for (size_t i = 0; i < model->modules.count; i++)
        modules[i].module = (uint32_t)i;
    for (size_t i = 0; i < model->rows.count; i++) {
        struct report_steps steps = report_steps_of(model, model->rows.at[i].stack);
        struct report_step leaf;

        if (!report_steps_next(&steps, &leaf) || !leaf.line)
            continue;
        const struct report_function *f = &model->functions.at[leaf.line->function];

        if (!f->known)
            modules[f->module].self += report_weight(model, &model->rows.at[i]);
    }
    qsort(modules, model->modules.count, sizeof *modules, compare_nameless);
    for (; count < model->modules.count && modules[count].self > 0; count++) {
        if (count >= MODULES_MAX) {
            others += modules[count].self;
            continue;
        }
        fputs(count == 0 ? "  without names: " : ", ", to);
        write_module(to, model, &modules[count], all);
    }
    if (others > 0)
        fprintf(to, ", %zu more modules %.2f %%", count - MODULES_MAX, report_share(others, all));
    if (count > 0)
        fputc('\n', to);
    free(modules);
    return true;
}
