#include "profiler/report/text/ways.h"

#include <stdlib.h>
#include <string.h>

#include "util/base_name.h"
#include "util/counted.h"
#include "util/foreign.h"

enum { SHOWN = 6 };

/* A program: what of it came from outside. */
struct program {
    const char *name;
    uint64_t outside, inside;
};

struct programs {
    REPORT_ARRAY(struct program) all;
};

static bool is_of_agents(const struct report_model *model, const struct report_member *member)
{
    return model->sources[member->source].data->start.engine < SFB_ENGINE_OUTSIDE;
}

static struct program *program_of(struct programs *p, const char *name)
{
    struct program *next;

    for (size_t i = 0; i < p->all.count; i++)
        if (strcmp(p->all.at[i].name, name) == 0)
            return &p->all.at[i];
    next = REPORT_NEXT(p->all);
    if (next)
        next->name = name;
    return next;
}

/* @return false: no memory */
static bool add_all(struct programs *out, const struct report_model *model)
{
    for (size_t i = 0; i < model->members.count; i++) {
        const struct report_member *member = &model->members.at[i];
        struct program *program;

        if (member->ways[0] + member->ways[1] == 0 || !is_of_agents(model, member))
            continue;
        program = program_of(out, sfb_base_name(member->process->program));
        if (!program)
            return false;
        program->inside += member->ways[0];
        program->outside += member->ways[1];
    }
    return true;
}

static int by_outside(const void *a, const void *b)
{
    const struct program *x = a, *y = b;

    if (x->outside != y->outside)
        return x->outside > y->outside ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void write_program(FILE *to, const struct program *p, const char *before)
{
    fprintf(to, "%s%s", before, p->inside > 0 ? "part of " : "");
    foreign_print(to, p->name);
    fprintf(to, " %.3f s", (double)p->outside / 1e9);
}

static void write_line(FILE *to, struct programs *p)
{
    uint64_t rest = 0;
    size_t more = 0;

    qsort(p->all.at, p->all.count, sizeof *p->all.at, by_outside);
    fputs("  from outside, without an agent:", to);
    for (size_t i = 0; i < p->all.count && p->all.at[i].outside > 0; i++) {
        if (i < SHOWN) {
            write_program(to, &p->all.at[i], i > 0 ? ", " : " ");
        } else {
            rest += p->all.at[i].outside;
            more++;
        }
    }
    if (more > 0)
        fprintf(to, ", %s %.3f s", counted(more, "more programs").text, (double)rest / 1e9);
    putc('\n', to);
}

bool report_ways_write(FILE *to, const struct report_model *model, enum report_detail detail)
{
    struct programs programs = { .all.count = 0 };
    const bool good = add_all(&programs, model);
    uint64_t outside = 0, all = 0;

    for (size_t i = 0; i < programs.all.count; i++) {
        outside += programs.all.at[i].outside;
        all += programs.all.at[i].outside + programs.all.at[i].inside;
    }
    if (good && report_detail_has(detail, outside, all))
        write_line(to, &programs);
    free(programs.all.at);
    return good;
}
