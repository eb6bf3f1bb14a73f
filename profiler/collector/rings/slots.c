#include "profiler/collector/rings/slots.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* Two different clocks are compared: CPU time is the scheduler's. */
static const uint64_t slack_ns = 1000000000;

/* Asks the file which pages exist. */
uint32_t sfb_recorder_slot_written(const struct sfb_recorder_drain *d, size_t first, size_t stride,
                                   uint32_t from, uint32_t count)
{
    off_t at;

    if (d->fd < 0 || from >= count)
        return from;
    at = lseek(d->fd, (off_t)(first + from * stride), SEEK_DATA);
    if (at < 0)
        return errno == ENXIO ? count : from;
    from = (uint32_t)(((size_t)at - first) / stride);
    return from < count ? from : count;
}

uint64_t sfb_recorder_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t sfb_recorder_time(const struct sfb_recorder_drain *d, uint32_t slot, uint64_t time)
{
    return time - (uint64_t)d->process[slot].clock_ahead;
}

bool sfb_recorder_put(struct sfb_recorder_drain *d, enum sfb_status status)
{
    if (status == SFB_NO_RESOURCE && !d->failed) {
        d->failed = true;
        __atomic_store_n(&d->shared->ended, 1, __ATOMIC_RELEASE);
    }
    return status == SFB_OK;
}

static uint64_t most_cpu(const struct sfb_recorder_drain *d)
{
    const uint64_t passed = d->now - d->begun;

    return passed + passed / 64 + slack_ns;
}

bool sfb_recorder_is_cpu(const struct sfb_recorder_drain *d, uint64_t cpu_ns)
{
    return cpu_ns <= most_cpu(d);
}

bool sfb_recorder_is_process_cpu(const struct sfb_recorder_drain *d, uint64_t cpu_ns)
{
    return cpu_ns / d->processors <= most_cpu(d);
}

void sfb_recorder_lost(struct sfb_recorder_drain *d, uint32_t process, uint32_t thread,
                       enum sfb_recording_loss reason, uint64_t count, const char *text)
{
    const struct sfb_recording_losses losses = {
        .reason = reason, .process = process, .thread = thread, .count = count, .text = text
    };

    d->totals.lost[reason] += count;
    sfb_recorder_put(d, sfb_recording_put_losses(d->writer, &losses));
}

/* At most what all processors could lose if they did nothing else: a sample costs a signal, a list a system call. */
static bool is_loss(const struct sfb_recorder_drain *d, unsigned reason, uint64_t count)
{
    const bool in_malloc = reason == SFB_LOSS_HEAP_EVENTS || reason == SFB_LOSS_HEAP_WAITS,
               sample = reason == SFB_LOSS_RING_FULL || reason == SFB_LOSS_NESTED;
    const uint64_t least_ns = in_malloc ? 2 : sample ? 100 : 1000;

    return count <= UINT64_MAX / least_ns && sfb_recorder_is_process_cpu(d, count * least_ns);
}

void sfb_recorder_losses(struct sfb_recorder_drain *d, const uint64_t *shared, uint64_t *counted,
                         uint32_t process, uint32_t thread)
{
    for (unsigned reason = 0; reason < SFB_LOSS_COUNT; reason++) {
        const uint64_t count = __atomic_load_n(&shared[reason], __ATOMIC_RELAXED);
        const uint64_t before = counted[reason];

        if (count == before)
            continue;
        counted[reason] = count;
        if (count < before || !is_loss(d, reason, count))
            sfb_recorder_lost(d, process, thread, SFB_LOSS_BAD_RING, 1,
                              "a count of losses was overwritten");
        else if (reason != SFB_LOSS_FILTER || !d->elsewhere)
            sfb_recorder_lost(d, process, thread, (enum sfb_recording_loss)reason, count - before,
                              "");
    }
}

void sfb_recorder_put_thread(struct sfb_recorder_drain *d, uint32_t slot, uint64_t time,
                             const char *name)
{
    const struct sfb_recorder_ring *own = &d->ring[slot];
    const struct sfb_recording_thread thread = { .id = own->id,
                                                 .process = d->process[own->process].id,
                                                 .tid = own->tid,
                                                 .engine = own->engine,
                                                 .time = time,
                                                 .name = name };

    sfb_recorder_put(d, sfb_recording_put_thread(d->writer, &thread));
}
