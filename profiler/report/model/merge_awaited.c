#include "profiler/report/model/merge_awaited.h"

/* @return false: the merge failed */
static bool place(struct merge_stacks *s, const struct report_wait *w,
                  const struct report_awaited *a, struct sfb_recording_awaited *out)
{
    uint64_t base = 0;

    if (a->kind == SFB_AWAITED_FUTEX && a->name[0] == '/' &&
        !merge_stacks_module(s, a->process, w->time, a->start, &base))
        return false;
    if (base != 0) {
        out->start = base;
        out->address = base + (a->address - a->start);
    }
    return true;
}

bool merge_awaited_find(struct merge_stacks *s, const struct report_wait *w, uint32_t *id)
{
    const struct report_awaited *a =
        w->awaited == REPORT_NONE ? NULL : &s->data->awaited.at[w->awaited];
    struct sfb_recording_awaited event = { .address = 0 };
    struct report_merge *m = s->merge;
    uint32_t text, at;
    bool found;

    *id = 0;
    /* Of a later version, or damaged. */
    if (!a || a->process != s->data->threads.at[w->thread].process || a->kind >= SFB_AWAITED_COUNT)
        return true;
    if (!place(s, w, a, &event))
        return false;
    event.process = s->processes[a->process] + 1;
    event.kind = a->kind;
    event.name = a->name;
    if (!report_strings_add(&m->texts, a->name, &text) ||
        !report_index_find(&m->awaited_index, (uint64_t)event.process << 32 | text,
                           event.address << 3 | event.kind, m->awaited_count, &at, &found))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    *id = event.id = at + 1;
    if (found)
        return true;
    m->awaited_count++;
    return report_merge_check(m, sfb_recording_put_awaited(m->writer, &event));
}
