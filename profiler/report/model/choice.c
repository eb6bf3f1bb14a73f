#include "profiler/report/model/choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/base_name.h"

static bool is_number(const char *text, uint32_t number)
{
    char own[16];

    snprintf(own, sizeof own, "%" PRIu32, number);
    return strcmp(own, text) == 0;
}

/* Of a program that was started by a link, its first argument is the name that users know. */
static bool is_called(const struct report_process *p, const char *name)
{
    const size_t size = strnlen(p->arguments ? p->arguments : "", p->arguments_size);
    const char *first = size > 0 && size < p->arguments_size ? sfb_base_name(p->arguments) : "";

    return strcmp(name, p->program) == 0 || strcmp(name, sfb_base_name(p->program)) == 0 ||
           (first[0] && strcmp(name, first) == 0);
}

bool report_choice_has_process(const struct report_choice *c, const struct report_process *p)
{
    return !c->process || is_number(c->process, p->pid) || is_called(p, c->process);
}

bool report_choice_has_thread(const struct report_choice *c, const struct report_thread *t)
{
    return !c->thread || is_number(c->thread, t->tid) || strcmp(c->thread, t->name) == 0;
}

void report_choice_use_marks(struct report_choice *c, const struct report_data *data)
{
    if (c->from_mark)
        report_data_mark(data, c->from_mark, &c->from);
    if (c->to_mark)
        report_data_mark(data, c->to_mark, &c->to);
}

bool report_choice_has_time(const struct report_choice *c, uint64_t time)
{
    return time >= c->from && (c->to == 0 || time < c->to);
}

bool report_time_value_parse(const char *text, enum report_time_value *out)
{
    static const char *const words[] = { [REPORT_TIME_CPU] = "cpu",
                                         [REPORT_TIME_WALL] = "wall",
                                         [REPORT_TIME_OFFCPU] = "offcpu",
                                         [REPORT_TIME_RUNNABLE] = "runnable",
                                         [REPORT_TIME_BLOCKED] = "blocked" };

    for (size_t i = REPORT_TIME_CPU; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum report_time_value)i;
            return true;
        }
    return false;
}

const char *report_time_value_name(enum report_time_value value)
{
    static const char *const names[] = { "CPU time",     "CPU time",      "wall time",
                                         "time off CPU", "runnable time", "blocked time",
                                         "calls" };

    return names[value];
}

bool report_time_has_wait(enum report_time_value value, uint32_t state)
{
    switch (value) {
    case REPORT_TIME_USUAL:
    case REPORT_TIME_CPU:
    case REPORT_TIME_CALLS: return false;
    case REPORT_TIME_WALL:
    case REPORT_TIME_OFFCPU: return true;
    case REPORT_TIME_RUNNABLE: return state == SFB_STATE_RUNNABLE;
    case REPORT_TIME_BLOCKED: return state != SFB_STATE_RUNNABLE;
    }
    return false;
}

bool report_choice_has_unsampled(const struct report_choice *c)
{
    return report_time_has_cpu(c->time_value) && c->from == 0 && c->to == 0 && !c->function &&
           c->gil == SFB_GIL_UNKNOWN;
}

bool report_choice_has_stack(const struct report_choice *c, const struct report_data *data,
                             uint32_t stack)
{
    const struct report_code_frames *calls;

    if (c->gil == SFB_GIL_UNKNOWN)
        return true;
    if (stack == REPORT_NONE)
        return false;
    calls = report_data_code_frames(data, data->stacks.at[stack].id);
    return calls && calls->gil == c->gil;
}

bool report_gil_parse(const char *text, uint32_t *out)
{
    static const char *const words[] = {
        [SFB_GIL_HELD] = "held", [SFB_GIL_WAITED] = "waited", [SFB_GIL_RELEASED] = "released"
    };

    for (uint32_t i = SFB_GIL_HELD; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

bool report_heap_value_parse(const char *text, enum report_heap_value *out)
{
    static const char *const words[] = { [REPORT_HEAP_ALLOCATED] = "allocated",
                                         [REPORT_HEAP_LIVE] = "live",
                                         [REPORT_HEAP_PEAK] = "peak",
                                         [REPORT_HEAP_TEMPORARY] = "temporary" };

    for (size_t i = REPORT_HEAP_ALLOCATED; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum report_heap_value)i;
            return true;
        }
    return false;
}
