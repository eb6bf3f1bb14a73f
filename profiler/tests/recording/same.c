#include "profiler/tests/recording/same.h"

#include <string.h>

#define SAME(member)      (x->member == y->member)
#define SAME_TEXT(member) (strcmp(x->member, y->member) == 0)
#define SAME_BYTES(member, size)                                                                   \
    (x->size == y->size && (x->size == 0 || memcmp(x->member, y->member, x->size) == 0))

#define EVENTS(name) const struct sfb_recording_##name *x = &a->of.name, *y = &b->of.name

static bool same_start(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(start);
    return SAME(monotonic) && SAME(realtime) && SAME(tick_ns) && SAME(rate_hz) && SAME(engine) &&
           SAME(recorder_pid) && SAME(abi) && SAME_TEXT(engine_text) && SAME_TEXT(version) &&
           SAME_TEXT(host) && SAME_BYTES(command, command_size);
}

static bool same_process(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(process);
    return SAME(id) && SAME(parent) && SAME(pid) && SAME(parent_pid) && SAME(how) && SAME(time) &&
           SAME(cpu_ns) && SAME_TEXT(program) && SAME_BYTES(arguments, arguments_size);
}

static bool same_process_end(const struct sfb_recording_event *a,
                             const struct sfb_recording_event *b)
{
    EVENTS(process_end);
    return SAME(id) && SAME(end) && SAME(status) && SAME(time) && SAME(cpu_ns) &&
           SAME(unsampled_ns);
}

static bool same_thread(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(thread);
    return SAME(id) && SAME(process) && SAME(tid) && SAME(engine) && SAME(time) &&
           SAME_TEXT(name) && SAME(idle);
}

static bool same_thread_end(const struct sfb_recording_event *a,
                            const struct sfb_recording_event *b)
{
    EVENTS(thread_end);
    return SAME(id) && SAME(time) && SAME(cpu_ns) && SAME(unsampled_ns);
}

static bool same_modules(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(modules);
    return SAME(process) && SAME(time) && SAME_BYTES(map, size);
}

static bool same_stack(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(stack);
    return SAME(id) && SAME(process) && SAME_BYTES(cbf, size);
}

static bool same_sample(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(sample);
    return SAME(thread) && SAME(stack) && SAME(time) && SAME(weight) && SAME(engine) && SAME(end);
}

static bool same_wait(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(wait);
    return SAME(thread) && SAME(stack) && SAME(time) && SAME(weight) && SAME(state) && SAME(end) &&
           SAME_TEXT(call) && SAME(awaited) && SAME(since) && SAME(holder) && SAME(holder_stack) &&
           SAME(waker) && SAME(waker_stack) && SAME_TEXT(waker_name);
}

static bool same_awaited(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(awaited);
    return SAME(id) && SAME(process) && SAME(kind) && SAME(address) && SAME(start) &&
           SAME_TEXT(name);
}

static bool same_mark(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(mark);
    return SAME(time) && SAME_TEXT(name);
}

static bool same_losses(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(losses);
    return SAME(reason) && SAME(process) && SAME(thread) && SAME(count) && SAME_TEXT(text);
}

static bool same_file(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(file);
    return SAME(process) && SAME_TEXT(name) && SAME_BYTES(bytes, size);
}

static bool same_finish(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(finish);
    return SAME(time) && SAME(samples) && SAME(weight) && SAME_TEXT(reason);
}

static bool same_heap(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(heap);
    return SAME(process) && SAME(flags) && SAME(time) && SAME(rate);
}

static bool same_heap_site(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(heap_site);
    return SAME(id) && SAME(thread) && SAME(stack) && SAME(kind);
}

/* Of numbers of 64 bits alone, but for the first. */
static bool same_heap_totals(const struct sfb_recording_event *a,
                             const struct sfb_recording_event *b)
{
    EVENTS(heap_totals);
    return SAME(site) && memcmp(&x->time, &y->time, sizeof *x - sizeof x->time) == 0;
}

static bool same_heap_state(const struct sfb_recording_event *a,
                            const struct sfb_recording_event *b)
{
    EVENTS(heap_state);
    return SAME(process) && memcmp(&x->time, &y->time, sizeof *x - sizeof x->time) == 0;
}

static bool same_heap_event(const struct sfb_recording_event *a,
                            const struct sfb_recording_event *b)
{
    EVENTS(heap_event);
    return SAME(process) && SAME(site) && SAME(time) && SAME(size) && SAME(freed);
}

static bool same_code(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(code);
    return SAME(id) && SAME(process) && SAME(first_line) && SAME_TEXT(name) && SAME_TEXT(file);
}

static bool same_code_frames(const struct sfb_recording_event *a,
                             const struct sfb_recording_event *b)
{
    EVENTS(code_frames);
    return SAME(stack) && SAME(count) && SAME(gil) &&
           (x->count == 0 || memcmp(x->frames, y->frames, x->count * sizeof *x->frames) == 0);
}

static bool same_pause(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    EVENTS(pause);
    return SAME(time) && SAME(paused) && SAME(part);
}

bool same_event(const struct sfb_recording_event *a, const struct sfb_recording_event *b)
{
    static bool (*const same[])(const struct sfb_recording_event *,
                                const struct sfb_recording_event *) = {
        [SFB_EVENT_START] = same_start,
        [SFB_EVENT_PROCESS] = same_process,
        [SFB_EVENT_PROCESS_END] = same_process_end,
        [SFB_EVENT_THREAD] = same_thread,
        [SFB_EVENT_THREAD_END] = same_thread_end,
        [SFB_EVENT_MODULES] = same_modules,
        [SFB_EVENT_STACK] = same_stack,
        [SFB_EVENT_SAMPLE] = same_sample,
        [SFB_EVENT_LOSSES] = same_losses,
        [SFB_EVENT_FILE] = same_file,
        [SFB_EVENT_FINISH] = same_finish,
        [SFB_EVENT_HEAP] = same_heap,
        [SFB_EVENT_HEAP_SITE] = same_heap_site,
        [SFB_EVENT_HEAP_TOTALS] = same_heap_totals,
        [SFB_EVENT_HEAP_STATE] = same_heap_state,
        [SFB_EVENT_HEAP_EVENT] = same_heap_event,
        [SFB_EVENT_WAIT] = same_wait,
        [SFB_EVENT_CODE] = same_code,
        [SFB_EVENT_CODE_FRAMES] = same_code_frames,
        [SFB_EVENT_AWAITED] = same_awaited,
        [SFB_EVENT_MARK] = same_mark,
        [SFB_EVENT_PAUSE] = same_pause,
    };

    return a->kind == b->kind && a->kind >= SFB_EVENT_START && a->kind <= SFB_EVENT_PAUSE &&
           same[a->kind](a, b);
}
