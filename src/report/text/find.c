#include "report/text/find.h"

#include <stdlib.h>
#include <string.h>

enum how { EXACT, WITHOUT_ARGUMENTS, EXPRESSION, HOWS };

struct wanted {
    const char *text;
    size_t size;
    const regex_t *expression;
};

static bool is_meant(const struct wanted *w, const char *name, enum how how)
{
    switch (how) {
    case EXACT: return strcmp(name, w->text) == 0;
    case WITHOUT_ARGUMENTS:
        return strncmp(name, w->text, w->size) == 0 &&
               (name[w->size] == '(' || name[w->size] == '<');
    case EXPRESSION: return regexec(w->expression, name, 0, NULL, 0) == 0;
    case HOWS: break;
    }
    return false;
}

size_t report_find_functions(const struct report_model *model, const char *text,
                             const regex_t *expression, bool **out)
{
    const struct wanted w = { text, strlen(text), expression };
    size_t count = 0;

    *out = calloc(model->functions.count + 1, sizeof **out);
    for (int how = EXACT; *out && count == 0 && how < HOWS; how++)
        for (size_t i = 0; i < model->functions.count; i++) {
            const struct report_function *f = &model->functions.at[i];

            (*out)[i] = is_meant(&w, report_text(model, f->name), (enum how)how) ||
                        is_meant(&w, report_text(model, f->system_name), (enum how)how);
            count += (*out)[i];
        }
    return count;
}
