/* Reads a recording, and prints the CPU time and the samples of each thread. */
#include <inttypes.h>
#include <sfb/recording.h>
#include <stdio.h>

enum { THREADS_MAX = 1024 };

static struct thread {
    char name[32];
    uint64_t cpu_ns;
    unsigned samples;
} threads[THREADS_MAX];

static void add(const struct sfb_recording_event *event)
{
    const struct sfb_recording_thread *thread = &event->of.thread;
    const struct sfb_recording_sample *sample = &event->of.sample;

    if (event->kind == SFB_EVENT_THREAD && thread->id < THREADS_MAX)
        snprintf(threads[thread->id].name, sizeof threads->name, "%s", thread->name);
    if (event->kind != SFB_EVENT_SAMPLE || sample->thread >= THREADS_MAX)
        return;
    threads[sample->thread].cpu_ns += sample->weight;
    threads[sample->thread].samples++;
}

int main(int argc, char **argv)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    enum sfb_status status;

    if (argc != 2 || sfb_recording_reader_open(&reader, argv[1], NULL) != SFB_OK)
        return 2;
    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
        add(&event);
    for (int i = 1; i < THREADS_MAX; i++)
        if (threads[i].samples > 0)
            printf("%s: %.3f s in samples\n", threads[i].name, (double)threads[i].cpu_ns / 1e9);
    sfb_recording_reader_health(reader, &health);
    printf("%s, %" PRIu64 " bad blocks\n", health.finished ? "whole" : "not finished",
           health.bad_blocks);
    sfb_recording_reader_close(reader);
    return status == SFB_END ? 0 : 1;
}
