/*
 * A program that records itself, again and again, while its threads work, begin and end: with the agent's timers, then with
 * its thread that samples where no timers are to be had; its handler, and the thread that drains. Each recording is whole.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "race/check.h"
#include "sfb/recording.h"
#include "sframe_backtrace_record.h"

enum {
    THREADS = 3,
    RECORDINGS = 5, /* at least, with each engine */
    SAMPLES = 100,  /* at least, with each engine, however coarse the kernel's clock is */
    CPU_MS = 20,    /* of the main thread, in each recording */
    TURNS = 400,
    RATE_HZ = 5000
};

static atomic_bool done;
static atomic_uint begun;
static unsigned samples[SFB_ENGINE_SAMPLER + 1]; /* by engine */

static __attribute__((noinline)) unsigned work(unsigned depth)
{
    volatile unsigned sum = 0;

    if (depth > 0)
        return work(depth - 1) + sum;
    for (unsigned i = 0; i < 2000; i++)
        sum += i;
    return sum;
}

static void *turns(void *with)
{
    (void)with;
    atomic_fetch_add(&begun, 1);
    for (unsigned i = 0; i < TURNS; i++) {
        work(i % 30);
        free(malloc(i)); /* where the thread sanitizer delivers what came */
    }
    return NULL;
}

/* Threads that end, one after the other, and work between. */
static void *rounds(void *with)
{
    while (!atomic_load(&done)) {
        pthread_t thread;

        begin_thread(&thread, turns, with);
        pthread_join(thread, NULL);
        turns(with);
    }
    return NULL;
}

static uint64_t cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void look_at(int fd)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    struct sfb_recording_health health;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(sfb_recording_reader_open(&reader, path, NULL) == SFB_OK, "not readable");
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        CHECK(event.kind != SFB_EVENT_LOSSES || event.of.losses.reason != SFB_LOSS_BAD_RING, "%s",
              event.of.losses.text);
        if (event.kind == SFB_EVENT_SAMPLE && event.of.sample.engine <= SFB_ENGINE_SAMPLER)
            samples[event.of.sample.engine]++;
    }
    sfb_recording_reader_health(reader, &health);
    CHECK(health.finished && health.bad_blocks == 0 && health.bad_records == 0, "it is not whole");
    sfb_recording_reader_close(reader);
}

static void record(void)
{
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;
    const unsigned before = atomic_load(&begun);
    const uint64_t end = cpu_ms() + CPU_MS;
    enum sfb_status status;

    options.fd = memfd_create("recording", MFD_CLOEXEC);
    options.rate_hz = RATE_HZ;
    status = sframe_backtrace_record_start(&options);
    CHECK(status == SFB_OK, "%s", sfb_status_str(status));
    CHECK(sframe_backtrace_record_start(&options) == SFB_BAD_ARGUMENT, "two at once");
    while (atomic_load(&begun) - before < 2 * THREADS || cpu_ms() < end)
        turns(NULL);
    status = sframe_backtrace_record_stop();
    CHECK(status == SFB_OK, "%s", sfb_status_str(status));
    look_at(options.fd);
    close(options.fd);
}

static void record_all(enum sfb_recording_engine engine)
{
    for (int i = 0; i < RECORDINGS || samples[engine] < SAMPLES; i++)
        record();
}

int main(void)
{
    const struct rlimit none = { 0, 0 };
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        begin_thread(&threads[i], rounds, NULL);
    record_all(SFB_ENGINE_TIMER);
    CHECK(setrlimit(RLIMIT_SIGPENDING, &none) == 0, "no limit"); /* of timers, too */
    record_all(SFB_ENGINE_SAMPLER);
    atomic_store(&done, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("record: %u threads, %u samples by timers, %u by the thread\n", atomic_load(&begun),
           samples[SFB_ENGINE_TIMER], samples[SFB_ENGINE_SAMPLER]);
    return 0;
}
