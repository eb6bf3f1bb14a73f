#include "record_engine.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "recorder/tasks.h"
#include "sfb/recording.h"

static const struct {
    const char *name;
    uint32_t engine;
} names[] = { { "perf", SFB_ENGINE_PERF },
              { "perf-user", SFB_ENGINE_PERF_USER },
              { "timer", SFB_ENGINE_TIMER },
              { "sampler", SFB_ENGINE_SAMPLER } };

bool record_engine_parse(const char *name, uint32_t *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0) {
            *out = names[i].engine;
            return true;
        }
    return false;
}

/* A signal is sent only to threads that /proc shows to be the program's. */
static const char *try_perf(struct record_engine *e)
{
    e->events.limit = sfb_recorder_events_limit();
    return sfb_recorder_tasks_known() ? sfb_recorder_events_try(&e->events)
                                      : "/proc is not there, and threads cannot be checked";
}

bool record_engine_choose(struct record_engine *out, const struct record_request *request)
{
    const uint32_t asked = request->engine;
    const char *why = NULL;

    *out = (struct record_engine){
        .engine = asked,
        .agents = 1U << SFB_ENGINE_TIMER | 1U << SFB_ENGINE_SAMPLER,
        .events = { .period = 1000000000 / request->rate_hz,
                    .user_only = asked == SFB_ENGINE_PERF_USER,
                    .signal = SIGPROF },
    };
    if (asked == SFB_ENGINE_TIMER || asked == SFB_ENGINE_SAMPLER) {
        out->agents = 1U << asked;
        snprintf(out->text, sizeof out->text, "asked for");
        return true;
    }
    why = try_perf(out);
    out->perf = why == NULL;
    if (why && asked != SFB_ENGINE_NONE) {
        tool_complain(TOOL_FAILED, "record: --engine: %s", why);
        return false;
    }
    if (asked != SFB_ENGINE_NONE)
        snprintf(out->text, sizeof out->text, "asked for");
    else if (why)
        snprintf(out->text, sizeof out->text, "perf: %s", why);
    if (asked == SFB_ENGINE_NONE)
        out->engine = why ? SFB_ENGINE_TIMER : SFB_ENGINE_PERF;
    /* Until its event is there, a thread has a timer. */
    if (out->perf)
        out->agents |= 1U << out->engine;
    return true;
}
