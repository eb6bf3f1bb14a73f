#include "profiler/report/model/make_locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/report/model/make_causes.h"
#include "util/base_name.h"

enum { NAME = 512 };

bool report_locks_begin(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    m->awaited = calloc(data->awaited.count + 1, sizeof *m->awaited);
    return m->awaited != NULL;
}

void report_locks_end(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    for (size_t i = 0; m->awaited && i < data->awaited.count; i++)
        free(m->awaited[i]);
    free(m->awaited);
    m->awaited = NULL;
}

/* --- Names ------------------------------------------------------------------------------------- */

/* @return false: no memory */
static bool object_of(struct report_maker *m, const struct report_awaited *a, uint64_t time,
                      char *out, size_t room)
{
    const struct report_source *s = &m->model->sources[m->source];

    out[0] = '\0';
    if (!s->namer.data || a->name[0] != '/')
        return true;
    if (!s->namer.use(s->namer.user, s->data, a->process,
                      report_data_list(s->data, a->process, time)))
        return false;
    m->locator.process = REPORT_NONE; /* it used another list */
    if (!s->namer.data(s->namer.user, a->name, a->start, a->address, out, room))
        out[0] = '\0';
    return true;
}

/* A futex in memory of its own has no better name than its address. @return false: no memory */
static bool futex_name(struct report_maker *m, const struct report_awaited *a, uint64_t time,
                       char **out)
{
    const char *place = sfb_base_name(a->name);
    const uint64_t offset = a->address - a->start;
    char object[NAME];
    int made;

    if (!object_of(m, a, time, object, sizeof object))
        return false;
    if (object[0])
        made = asprintf(out, "%s (%s)", object, place);
    else if (a->address == 0) /* of a merged recording */
        made = asprintf(out, "%s", a->name[0] ? a->name : "[memory]");
    else if (a->name[0] == '/')
        made = asprintf(out, "%s+0x%" PRIx64, place, offset);
    else if (a->name[0])
        made = asprintf(out, "0x%" PRIx64 " (%s+0x%" PRIx64 ")", a->address, place, offset);
    else
        made = asprintf(out, "0x%" PRIx64, a->address);
    return made >= 0;
}

bool report_awaited_name(struct report_maker *m, const struct report_wait *w, const char **out)
{
    const struct report_data *data = m->model->sources[m->source].data;
    const struct report_awaited *a;

    *out = "";
    if (w->awaited == REPORT_NONE)
        return true;
    a = &data->awaited.at[w->awaited];
    *out = a->name;
    if (a->kind != SFB_AWAITED_FUTEX)
        return true;
    if (!m->awaited[w->awaited] && !futex_name(m, a, w->time, &m->awaited[w->awaited])) {
        m->awaited[w->awaited] = NULL;
        return false;
    }
    *out = m->awaited[w->awaited];
    return true;
}

/* --- Locks ------------------------------------------------------------------------------------- */

/* @return false: no memory */
static bool add_holder(const struct report_causes_maker *to, uint32_t lock,
                       const struct report_wait *w, uint64_t weight)
{
    struct report_maker *m = to->maker;
    const struct report_data *data = m->model->sources[m->source].data;
    const struct report_cause_share share = { .member = m->first_member + w->thread,
                                              .other = m->first_member + w->holder,
                                              .cause = lock,
                                              .total = weight };
    struct report_cause_part part = { .cause = lock, .wait = REPORT_NONE, .total = weight };

    return report_strings_add(&m->model->strings, data->threads.at[w->holder].name, &part.thread) &&
           report_maker_stack(m, w->holder_stack, w->time, &part.stack) &&
           report_cause_part_add(to, &part) && report_cause_share_add(to, &share);
}

bool report_lock_add(struct report_maker *m, const struct report_wait *w, const char *name,
                     uint64_t weight)
{
    const struct report_causes_maker to = report_locks_of(m);
    const struct report_data *data = m->model->sources[m->source].data;
    struct report_cause_part part = { .thread = REPORT_NONE, .wait = REPORT_NONE, .total = weight };

    if (w->awaited == REPORT_NONE || data->awaited.at[w->awaited].kind != SFB_AWAITED_FUTEX)
        return true;
    return report_cause_add(&to, name, false, w, weight, &part.cause) &&
           report_maker_stack(m, w->stack, w->time, &part.stack) &&
           report_cause_part_add(&to, &part) &&
           (w->holder == REPORT_NONE || add_holder(&to, part.cause, w, weight));
}
