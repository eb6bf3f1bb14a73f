/*
 * A program that records itself, again and again, while its threads work, begin and end: with the agent's timers and its
 * handler, and the thread that drains. Each recording is whole.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "race/check.h"
#include "sfb/recording.h"
#include "sframe_backtrace_record.h"

enum { THREADS = 3, RECORDINGS = 12, TURNS = 400, RATE_HZ = 5000 };

static atomic_bool done;
static atomic_uint begun;

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

/* Threads that end, one after the other. */
static void *rounds(void *with)
{
    while (!atomic_load(&done)) {
        pthread_t thread;

        begin_thread(&thread, turns, with);
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void look_at(int fd)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    struct sfb_recording_health health;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(sfb_recording_reader_open(&reader, path, NULL) == SFB_OK, "not readable");
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        CHECK(event.kind != SFB_EVENT_LOSSES || event.of.losses.reason != SFB_LOSS_BAD_RING, "%s",
              event.of.losses.text);
    sfb_recording_reader_health(reader, &health);
    CHECK(health.finished && health.bad_blocks == 0 && health.bad_records == 0, "it is not whole");
    sfb_recording_reader_close(reader);
}

static void record(void)
{
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;
    const unsigned before = atomic_load(&begun);
    enum sfb_status status;

    options.fd = memfd_create("recording", MFD_CLOEXEC);
    options.rate_hz = RATE_HZ;
    status = sframe_backtrace_record_start(&options);
    CHECK(status == SFB_OK, "%s", sfb_status_str(status));
    CHECK(sframe_backtrace_record_start(&options) == SFB_BAD_ARGUMENT, "two at once");
    while (atomic_load(&begun) - before < 2 * THREADS)
        turns(NULL);
    status = sframe_backtrace_record_stop();
    CHECK(status == SFB_OK, "%s", sfb_status_str(status));
    look_at(options.fd);
    close(options.fd);
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        begin_thread(&threads[i], rounds, NULL);
    for (int i = 0; i < RECORDINGS; i++)
        record();
    atomic_store(&done, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("record: %u threads\n", atomic_load(&begun));
    return 0;
}
