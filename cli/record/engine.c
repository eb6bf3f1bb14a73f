#include "cli/record/engine.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/collector/processes/tasks.h"
#include "sfb/recording.h"
#include "util/counted.h"

static const struct {
    const char *name;
    uint32_t engine;
} names[] = { { "perf", SFB_ENGINE_PERF },
              { "perf-user", SFB_ENGINE_PERF_USER },
              { "timer", SFB_ENGINE_TIMER },
              { "sampler", SFB_ENGINE_SAMPLER },
              { "looks", SFB_ENGINE_LOOKS } };

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

/* @return kernel.perf_event_paranoid; -2: not known */
static int paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    char text[16] = "";
    int level = -2;

    if (!file)
        return level;
    if (fgets(text, sizeof text, file))
        level = (int)strtol(text, NULL, 10);
    fclose(file);
    return level;
}

static uint32_t timers_hz(void)
{
    struct timespec tick = { 0, 0 };

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return tick.tv_sec == 0 && tick.tv_nsec > 0 ? (uint32_t)(1000000000 / tick.tv_nsec) : 0;
}

/* Why perf is not used, and what would help. */
static void explain_refusal(struct record_engine *e, const char *why)
{
    const int level = paranoid(), most = 2;
    size_t size;

    snprintf(e->text, sizeof e->text, "perf: %s", why);
    size = strlen(e->text);
    if (!sfb_recorder_tasks_known())
        return;
    if (level > most)
        snprintf(e->text + size, sizeof e->text - size,
                 "; kernel.perf_event_paranoid is %d: sysctl kernel.perf_event_paranoid=2, or "
                 "CAP_PERFMON, allows it",
                 level);
    else
        snprintf(e->text + size, sizeof e->text - size,
                 "; a filter of system calls, as of a container: docker run --cap-add PERFMON "
                 "allows it");
}

/* Where timers are all there is: the recording has it, too. */
static void add_rate_of_timers(struct record_engine *e, const struct record_request *request)
{
    const uint32_t reached = record_engine_reached(e, request);
    const size_t size = strlen(e->text);

    if (reached > 0)
        snprintf(e->text + size, sizeof e->text - size,
                 "; timers of this kernel reach %" PRIu32 " Hz", reached);
}

/* The same of events. */
static void explain_slow(struct record_engine *e, const struct record_request *request)
{
    const uint32_t reached = record_engine_reached(e, request);
    const size_t size = strlen(e->text);

    if (reached > 0)
        snprintf(e->text + size, sizeof e->text - size,
                 "%s%" PRIu32 " Hz: more would cost it more than half of its CPU time",
                 size > 0 ? "; " : "", reached);
}

/* A little less is no news. */
static bool is_less(uint32_t reached, uint32_t asked)
{
    return reached > 0 && (uint64_t)reached * 10 < (uint64_t)asked * 9;
}

uint32_t record_engine_reached(const struct record_engine *e, const struct record_request *request)
{
    enum { SAMPLER_HZ = 1000 };
    const uint32_t reached = e->perf ? (uint32_t)(1000000000 / e->events.period)
                             : e->engine == SFB_ENGINE_SAMPLER ? SAMPLER_HZ
                                                               : timers_hz();

    return is_less(reached, request->rate_hz) ? reached : 0;
}

void record_engine_tell(const struct record_engine *e, const struct record_request *request)
{
    const uint32_t reached = record_engine_reached(e, request);

    if (reached > 0)
        fprintf(stderr, "sfb: %" PRIu32 " of %s a second were reached: %s\n", reached,
                counted(request->rate_hz, "samples").text,
                e->perf ? "more would cost it more than half of its CPU time" : e->text);
}

bool record_engine_choose(struct record_engine *out, const struct record_request *request)
{
    const uint32_t asked = request->engine;
    const char *why = NULL;

    *out = (struct record_engine){
        .engine = asked,
        .agents = 1U << SFB_ENGINE_TIMER | 1U << SFB_ENGINE_SAMPLER,
        .events = { .period = 1000000000 / request->rate_hz, .signal = SIGPROF },
    };
    if (asked == SFB_ENGINE_TIMER || asked == SFB_ENGINE_SAMPLER) {
        out->agents = 1U << asked;
        snprintf(out->text, sizeof out->text, "asked for");
        add_rate_of_timers(out, request);
        return true;
    }
    why = try_perf(out);
    out->perf = why == NULL;
    if (out->perf)
        sfb_recorder_events_measure(&out->events);
    if (out->perf)
        sfb_recorder_events_slow(&out->events, 0);
    if (why && asked != SFB_ENGINE_NONE) {
        explain_refusal(out, why);
        tool_complain(TOOL_FAILED, "record: --engine: %s", out->text);
        return false;
    }
    if (asked != SFB_ENGINE_NONE)
        snprintf(out->text, sizeof out->text, "asked for%s",
                 asked == SFB_ENGINE_PERF_USER ? "; the kernel's time is never sampled" : "");
    else if (why)
        explain_refusal(out, why);
    if (asked == SFB_ENGINE_NONE)
        out->engine = why ? SFB_ENGINE_TIMER : SFB_ENGINE_PERF;
    if (why)
        add_rate_of_timers(out, request);
    if (out->perf)
        explain_slow(out, request);
    /* Until its event is there, a thread has a timer. */
    if (out->perf)
        out->agents |= 1U << out->engine;
    return true;
}
