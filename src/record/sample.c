#include "record/sample.h"

#include <string.h>

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

/* Eight bytes at a time: equal stacks have equal bytes. */
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

/*
 * Walks the stack. Most stacks of CPU samples are new, so CBF is written at once: addresses first, and CBF for new
 * stacks only, was a second walk for most. libunwind takes a lock: without it.
 *
 * @return bytes of CBF; 0: the stack is known, or there is none
 */
static size_t walk(struct sfb_thread *t, const void *context, struct sfb_shared_sample *sample)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    ssize_t size;

    options.context = context;
    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.max_frames = SFB_THREAD_FRAMES;
    options.memo = t->memo;
    options.memo_size = sizeof t->memo;
    size = sframe_backtrace_cbf(t->cbf, sizeof t->cbf, &options, &info);
    if (size <= 0) {
        sample->end = SFB_NO_RESOURCE;
        return 0;
    }
    sample->end = info.end;
    sample->hash = hash_of(t->cbf, (size_t)size);
    sample->hash += sample->hash == 0; /* 0 stands for none */
    return is_known(sample->hash) ? 0 : (size_t)size;
}

static bool take(struct sfb_thread *t, enum sfb_recording_engine engine, const void *context)
{
    uint64_t cpu = sfb_clock(CLOCK_THREAD_CPUTIME_ID);
    struct sfb_shared_sample sample = { .engine = engine, .time = sfb_now() };
    size_t cbf_size;

    if (cpu <= t->sampled)
        return true;
    sample.weight = cpu - t->sampled;
    sfb_modules_look(sample.time);
    sample.modules = sfb_modules_written();
    cbf_size = walk(t, context, &sample);
    if (!sfb_ring_put_sample(t, &sample, cbf_size > 0 ? t->cbf : NULL, cbf_size)) {
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
