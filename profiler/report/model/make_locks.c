#include "profiler/report/model/make_locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/base_name.h"

enum { NAME = 512 };

bool report_locks_begin(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    if (!m->choice->awaited)
        return true;
    m->awaited = calloc(data->awaited.count + 1, sizeof *m->awaited);
    m->waits = calloc(data->threads.count + 1, sizeof *m->waits);
    return m->awaited && m->waits;
}

void report_locks_end(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    for (size_t i = 0; m->awaited && i < data->awaited.count; i++)
        free(m->awaited[i]);
    free(m->awaited);
    free(m->waits);
    m->awaited = NULL;
    m->waits = NULL;
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

/* @return index + 1; 0: no memory */
static uint32_t lock_of(struct report_maker *m, const char *name)
{
    struct report_model *model = m->model;
    struct report_lock *lock;
    uint32_t text, at;
    bool found;

    if (!report_strings_add(&model->strings, name, &text) ||
        !report_index_find(&m->locks, text, 0, (uint32_t)model->locks.count, &at, &found))
        return 0;
    if (found)
        return at + 1;
    lock = REPORT_NEXT(model->locks);
    if (!lock)
        return 0;
    lock->name = text;
    return at + 1;
}

/* @param holder  string; REPORT_NONE. @return false: no memory */
static bool add_part(struct report_maker *m, uint32_t lock, uint32_t holder, uint32_t stack,
                     uint64_t weight)
{
    struct report_model *model = m->model;
    struct report_lock_part *part;
    uint32_t at;
    bool found;

    if (!report_index_find(&m->lock_parts, (uint64_t)lock << 32 | holder, stack,
                           (uint32_t)model->lock_parts.count, &at, &found))
        return false;
    part = found ? &model->lock_parts.at[at] : REPORT_NEXT(model->lock_parts);
    if (!part)
        return false;
    if (!found)
        *part = (struct report_lock_part){ .lock = lock, .holder = holder, .stack = stack };
    part->total = report_saturated(part->total, weight);
    return true;
}

/* The parts of a wait follow each other. @param lock  index */
static void count(struct report_maker *m, uint32_t lock, const struct report_wait *w,
                  uint64_t weight)
{
    struct report_maker_wait *last = &m->waits[w->thread];
    struct report_lock *l = &m->model->locks.at[lock];

    if (w->since == 0 || last->lock != lock + 1 || last->since != w->since) {
        *last = (struct report_maker_wait){ .lock = lock + 1, .since = w->since };
        l->waits++;
    }
    last->sum = report_saturated(last->sum, weight);
    if (last->sum > l->longest)
        l->longest = last->sum;
    l->total = report_saturated(l->total, weight);
}

/* @return false: no memory */
static bool add_lock_wait(struct report_maker *m, uint32_t lock, const struct report_wait *w,
                          uint64_t weight)
{
    const uint32_t member = m->first_member + w->thread, holder = m->first_member + w->holder;
    struct report_model *model = m->model;
    struct report_lock_wait *wait;
    uint32_t at;
    bool found;

    if (!report_index_find(&m->lock_waits, (uint64_t)member << 32 | holder, lock,
                           (uint32_t)model->lock_waits.count, &at, &found))
        return false;
    wait = found ? &model->lock_waits.at[at] : REPORT_NEXT(model->lock_waits);
    if (!wait)
        return false;
    if (!found)
        *wait = (struct report_lock_wait){ .member = member, .holder = holder, .lock = lock };
    wait->total = report_saturated(wait->total, weight);
    return true;
}

static bool add_holder(struct report_maker *m, uint32_t lock, const struct report_wait *w,
                       uint64_t weight)
{
    const struct report_data *data = m->model->sources[m->source].data;
    uint32_t name, stack;

    m->model->locks.at[lock].held = true;
    return report_strings_add(&m->model->strings, data->threads.at[w->holder].name, &name) &&
           report_maker_stack(m, w->holder_stack, w->time, &stack) &&
           add_part(m, lock, name, stack, weight) && add_lock_wait(m, lock, w, weight);
}

bool report_lock_add(struct report_maker *m, const struct report_wait *w, const char *name,
                     uint64_t weight)
{
    const struct report_data *data = m->model->sources[m->source].data;
    uint32_t lock, stack;

    if (w->awaited == REPORT_NONE || data->awaited.at[w->awaited].kind != SFB_AWAITED_FUTEX)
        return true;
    lock = lock_of(m, name);
    if (lock-- == 0)
        return false;
    count(m, lock, w, weight);
    return report_maker_stack(m, w->stack, w->time, &stack) &&
           add_part(m, lock, REPORT_NONE, stack, weight) &&
           (w->holder == REPORT_NONE || add_holder(m, lock, w, weight));
}
