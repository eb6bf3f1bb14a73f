#include "profiler/agent/cpu/cpu_sample.h"

#include <string.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/ring_writer.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/cpu/timer.h"
#include "profiler/agent/cpu/weight.h"
#include "profiler/agent/known.h"
#include "profiler/agent/modules.h"
#include "profiler/agent/python/python_calls.h"

enum {
    NAME_EVERY = 64,
    NEW_FUNCTIONS = 32 /* of Python that a sample sends */
};

/* Takes eight bytes at a time; CBF of equal stacks is equal. */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size, word;

    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, bytes, size);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

static uint32_t frames_wanted(void)
{
    const uint32_t asked = __atomic_load_n(&sfb_agent.shared->max_frames, __ATOMIC_RELAXED);

    return asked >= SFB_SHARED_FRAMES_LEAST && asked <= SFB_SHARED_FRAMES_MOST
               ? asked
               : SFB_SHARED_MAX_FRAMES;
}

/*
 * Walks a stack deeper than max_frames again, and keeps its outermost frames too: an `omit` stands for the frames
 * between. The time grows with the depth, so such walks take at most a fifth of the thread's time.
 */
static ssize_t walk_deep(struct sfb_thread *t, struct sframe_backtrace_options *options,
                         struct sframe_backtrace_info *info, ssize_t size, uint64_t cpu)
{
    enum { OUTERMOST_PART = 8, PAUSE = 4 };
    uint64_t passed;

    if ((info->end != SFB_FRAME_LIMIT && info->end != SFB_BUFFER_FULL) || cpu < t->deep_after)
        return size;
    options->outermost = options->max_frames / OUTERMOST_PART;
    size = sframe_backtrace_cbf(t->cbf, sizeof t->cbf, options, info);
    passed = sfb_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    t->deep_after = cpu + passed + PAUSE * passed;
    return size;
}

static uint8_t *reserve_code(void *thread, size_t size)
{
    return sfb_ring_begin_code(thread, size);
}

static void publish_code(void *thread, struct sfb_shared_code *code, size_t size)
{
    sfb_ring_put_code(thread, code, size);
}

/* Behind an `omit` frames have no index of their own. */
static __attribute__((noinline)) void take_calls(struct sfb_thread *t,
                                                 const struct sframe_backtrace_options *options,
                                                 const struct sframe_backtrace_info *info,
                                                 struct sfb_shared_sample *sample)
{
    const uint32_t inner =
        info->omitted > 0 ? options->max_frames - options->outermost : info->frames;

    const struct sfb_python_sink sink = { t, reserve_code, publish_code, NEW_FUNCTIONS, true };
    struct sfb_python_runs *runs = &t->python_runs;

    const bool has_calls = sfb_python_read(&t->python, runs, &sink, (uint64_t)t->tid) != 0;

    sample->gil = (uint8_t)t->python.gil;
    sample->hash += t->python.gil * UINT64_C(0x9e3779b97f4a7c15);
    if (!has_calls)
        return;
    sfb_marks_place(options->context, options->flags, runs->marks, runs->count, inner);
    sample->calls = (uint16_t)sfb_python_place(&t->python, runs);
    if (sample->calls > 0)
        sample->hash ^=
            hash_of((const uint8_t *)t->python.calls, sample->calls * sizeof *t->python.calls);
}

/*
 * Walks the stack. Most stacks of CPU samples are new, so CBF is written at once. Tried and dropped: addresses first,
 * then CBF for new stacks only; most stacks were walked twice. Without libunwind, which takes a lock.
 *
 * @return bytes of CBF; 0: the stack is known, or could not be walked
 */
static size_t walk(struct sfb_thread *t, const void *context, uint64_t cpu,
                   struct sfb_shared_sample *sample)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    ssize_t size;

    options.context = context;
    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.max_frames = frames_wanted();
    options.memo = t->memo;
    options.memo_size = sizeof t->memo;
    size = sframe_backtrace_cbf(t->cbf, sizeof t->cbf, &options, &info);
    if (size > 0)
        size = walk_deep(t, &options, &info, size, cpu);
    if (size <= 0) {
        sample->end = SFB_NO_RESOURCE;
        return 0;
    }
    sample->end = info.end;
    sample->hash = hash_of(t->cbf, (size_t)size);
    if (__builtin_expect(sfb_python_is_linked(), 0) && sfb_python_is_read())
        take_calls(t, &options, &info, sample);
    sample->hash += sample->hash == 0; /* 0 means: no stack */
    return sfb_known_has(sample->hash) ? 0 : (size_t)size;
}

/*
 * The recording is or was paused: the CPU time up to then is in no sample, and is no loss. What is owed, and what found no
 * room in the ring, is of the time before: it stays in the rest of the thread, which no sample has.
 */
static void pass_over(struct sfb_thread *t, uint64_t cpu)
{
    const uint64_t passed = cpu > t->sampled ? cpu - t->sampled : 0;

    __atomic_store_n(&t->ring->cpu_paused, t->ring->cpu_paused + passed,
                     __ATOMIC_RELAXED); /* the only writer is this thread */
    __atomic_store_n(&t->sampled, t->sampled + passed, __ATOMIC_RELAXED);
    t->owed = t->lost = 0;
    t->ring->cpu_sampled = t->sampled;
}

static void pass_pause(struct sfb_thread *t, uint64_t cpu)
{
    const uint64_t resumed = __atomic_load_n(&t->ring->cpu_resumed, __ATOMIC_RELAXED);

    if (resumed > t->sampled && resumed <= cpu)
        pass_over(t, resumed);
}

static bool take(struct sfb_thread *t, enum sfb_recording_engine engine, const void *context,
                 uint64_t cpu)
{
    struct sfb_shared_sample sample = { .time = sfb_now() };
    struct sfb_weight weight;
    size_t cbf_size;

    pass_pause(t, cpu);
    weight = sfb_weight_of(t, engine, context, cpu);
    sample.engine = weight.engine;
    if (sfb_agent_paused() != SFB_SHARED_RUNS) {
        pass_over(t, cpu);
        return false;
    }
    /* Atomic: read by the sampler, and by the thread that stops the recording. */
    __atomic_store_n(&t->sampled, weight.sampled, __ATOMIC_RELAXED);
    t->owed = weight.owed;
    if (weight.late)
        __atomic_fetch_add(&t->ring->lost[SFB_LOSS_LATE], 1, __ATOMIC_RELAXED);
    if (weight.ns == 0)
        return false;
    sample.weight = weight.ns + t->lost;
    sfb_modules_look(sample.time);
    sample.modules = sfb_modules_written();
    cbf_size = walk(t, context, cpu, &sample);
    if (!sfb_ring_put_sample(t, &sample, cbf_size > 0 ? t->cbf : NULL, cbf_size)) {
        t->lost = sample.weight; /* added to the weight of the next sample */
        return false;
    }
    t->lost = 0;
    t->ring->cpu_sampled = t->sampled;
    if (cbf_size > 0)
        sfb_known_add(sample.hash);
    return true;
}

/*
 * Moving average over about eight calls. A much longer call (a list of modules, a new page) is clamped. The recorder
 * lowers the rate if the cost is too high.
 */
static void note_cost(struct sfb_thread *t, uint64_t ns)
{
    static const uint32_t step = 20000, largest = 100000000;
    const uint32_t said = t->ring->cost_ns, before = said < largest ? said : largest,
                   most = 4 * before + step, now = ns < most ? (uint32_t)ns : most;

    __atomic_store_n(&t->ring->cost_ns, before - before / 8 + now / 8, __ATOMIC_RELAXED);
}

void sfb_sample_take(struct sfb_thread *t, enum sfb_recording_engine engine, const void *context)
{
    /* First: state LIVE publishes the thread's ring and timer. */
    const bool lives = __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == SFB_THREAD_LIVE;
    /* Of a thread that does not live, another recording may be beginning: its parts are not read. */
    const bool event = lives && sfb_weight_has_event(t),
               user_only = lives && !sfb_agent_may_use(SFB_ENGINE_PERF);
    const bool first = lives && !t->has_event;
    uint64_t cpu;

    if (sfb_agent_is_over() || (engine == SFB_ENGINE_TIMER && event && user_only))
        sfb_timer_disarm(t);
    if (sfb_agent_is_over() || !lives || (engine == SFB_ENGINE_TIMER && event && user_only))
        return;
    cpu = sfb_clock(CLOCK_THREAD_CPUTIME_ID);
    if (take(t, engine, context, cpu) && ++t->samples % NAME_EVERY == 0)
        sfb_thread_look_at_name(t);
    if (first && t->has_event) {
        __atomic_store_n(&t->ring->event_came, 1, __ATOMIC_RELEASE);
        sfb_agent_wake_recorder();
    }
    if (event && engine == SFB_ENGINE_PERF)
        sfb_timer_look_for_kernel(t, t->owed > 0, sfb_weight_period());
    note_cost(t, sfb_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);
}
