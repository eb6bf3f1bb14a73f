#include "record/sample.h"

#include "record/clocks.h"
#include "record/modules.h"
#include "record/ring.h"
#include "record/thread_life.h"
#include "record/timer.h"

enum { KNOWN_STEPS = 8, NAME_EVERY = 64 };

static uint64_t *known_at(uint64_t hash, unsigned step)
{
    return &sfb_agent.process->known[(hash + step) % SFB_SHARED_KNOWN];
}

static bool is_known(uint64_t hash)
{
    for (unsigned i = 0; i < KNOWN_STEPS; i++) {
        uint64_t found = __atomic_load_n(known_at(hash, i), __ATOMIC_ACQUIRE);

        if (found == hash || found == 0)
            return found == hash;
    }
    return false;
}

/* Where there is no place for it, the stack is written again each time. */
static void remember(uint64_t hash)
{
    for (unsigned i = 0; i < KNOWN_STEPS; i++) {
        uint64_t expected = 0;

        if (__atomic_compare_exchange_n(known_at(hash, i), &expected, hash, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED) ||
            expected == hash)
            return;
    }
}

/*
 * Walks the stack, and once more, as CBF, if no thread of the process has written it: addresses cost least, and
 * their hash tells. libunwind takes a lock: without it.
 *
 * @return bytes of CBF; none: the stack is known, or there is none
 */
static ssize_t walk(struct sfb_thread *t, const void *context, struct sfb_shared_sample *sample)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    ssize_t size;

    options.context = context;
    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.max_frames = SFB_THREAD_FRAMES;
    options.memo = t->memo;
    options.memo_size = sizeof t->memo;
    options.hash = &sample->hash;
    if (sframe_backtrace_addresses(t->frames, SFB_THREAD_FRAMES, &options, &info) <= 0) {
        sample->hash = 0;
        sample->end = SFB_NO_RESOURCE;
        return 0;
    }
    sample->end = info.end;
    sample->hash += sample->hash == 0; /* 0 stands for none */
    if (is_known(sample->hash))
        return 0;
    options.memo = t->cbf_memo;
    options.memo_size = sizeof t->cbf_memo;
    options.hash = NULL;
    size = sframe_backtrace_cbf(t->cbf, sizeof t->cbf, &options, &info);
    if (size <= 0)
        sample->hash = 0; /* nobody has named it */
    return size;
}

static bool take(struct sfb_thread *t, enum sfb_recording_engine engine, const void *context)
{
    uint64_t cpu = sfb_clock(CLOCK_THREAD_CPUTIME_ID);
    struct sfb_shared_sample sample = { .engine = engine, .time = sfb_now() };
    ssize_t cbf_size;

    if (cpu <= t->sampled)
        return true;
    sample.weight = cpu - t->sampled;
    sfb_modules_look(sample.time);
    sample.modules = sfb_modules_written();
    cbf_size = walk(t, context, &sample);
    if (!sfb_ring_put_sample(t, &sample, cbf_size > 0 ? t->cbf : NULL,
                             cbf_size > 0 ? (size_t)cbf_size : 0)) {
        if (sfb_ring_is_abandoned(t, sample.time))
            sfb_timer_disarm(t);
        return false;
    }
    /* The CPU time of what is lost goes into the weight of the next sample. */
    t->sampled = t->ring->cpu_sampled = cpu;
    if (cbf_size > 0)
        remember(sample.hash);
    return true;
}

void sfb_sample_take(struct sfb_thread *t, enum sfb_recording_engine engine, const void *context)
{
    if (sfb_agent_is_over() ||
        (engine == SFB_ENGINE_TIMER && __atomic_load_n(&t->ring->event, __ATOMIC_RELAXED) == 1))
        sfb_timer_disarm(t);
    if (sfb_agent_is_over() || __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != SFB_THREAD_LIVE)
        return;
    if (take(t, engine, context) && ++t->samples % NAME_EVERY == 0)
        sfb_thread_look_at_name(t);
}
