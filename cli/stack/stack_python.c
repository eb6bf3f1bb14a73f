#include "cli/stack/stack_python.h"

#include <stdio.h>
#include <string.h>

#include "util/foreign.h"

bool stack_python_of(struct stack_python *python, const struct sfb_remote_thread *t, size_t frame)
{
    python->first = python->end;
    while (python->end < t->python_count && t->python[python->end].frame == frame)
        python->end++;
    return python->end > python->first;
}

bool stack_python_shows_native(enum stack_languages languages, const struct stack_python *python)
{
    switch (languages) {
    case STACK_NATIVE: return true;
    case STACK_PYTHON: return false;
    case STACK_MIXED: break;
    }
    return python->end == python->first;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

void stack_python_print(const struct sfb_remote_thread *t, const struct stack_python *python)
{
    for (size_t i = python->first; i < python->end; i++) {
        const struct sfb_remote_python *f = &t->python[i];

        printf("#%zu ", f->frame);
        if (!f->name) {
            printf("... Python functions that could not be read\n");
            continue;
        }
        if (f->file[0] == '\0' && strcmp(f->name, "[await]") == 0) {
            printf("... awaited by\n");
            continue;
        }
        foreign_print(stdout, f->name[0] ? f->name : "?");
        if (f->file[0] == '\0') { /* a task's name */
            printf(" in Python\n");
            continue;
        }
        printf(" (");
        foreign_print(stdout, base_name(f->file));
        if (f->line > 0)
            printf(":%u", f->line);
        printf(") in Python\n");
    }
}

void stack_python_print_why(const struct sfb_remote *remote)
{
    const char *why, *what = sfb_remote_interpreter(remote, &why);

    if (what && why[0])
        printf("%s: its functions are not shown: %s\n", what, why);
}

static int compare(const struct sfb_remote_python *x, const struct sfb_remote_python *y)
{
    int order;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (!x->name || !y->name)
        return (x->name == NULL) - (y->name == NULL);
    order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->file, y->file);
}

int stack_python_compare(const struct sfb_remote_thread *a, const struct sfb_remote_thread *b)
{
    int order = 0;

    if (a->python_count != b->python_count)
        return a->python_count < b->python_count ? -1 : 1;
    for (size_t i = 0; order == 0 && i < a->python_count; i++)
        order = compare(&a->python[i], &b->python[i]);
    return order;
}
