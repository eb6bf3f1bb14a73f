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

bool report_choice_has_process(const struct report_choice *c, const struct report_process *p)
{
    return !c->process || is_number(c->process, p->pid) || strcmp(c->process, p->program) == 0 ||
           strcmp(c->process, sfb_base_name(p->program)) == 0;
}

bool report_choice_has_thread(const struct report_choice *c, const struct report_thread *t)
{
    return !c->thread || is_number(c->thread, t->tid) || strcmp(c->thread, t->name) == 0;
}

bool report_choice_has_time(const struct report_choice *c, uint64_t time)
{
    return time >= c->from && (c->to == 0 || time < c->to);
}

bool report_choice_has_unsampled(const struct report_choice *c)
{
    return c->from == 0 && c->to == 0 && !c->function;
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
