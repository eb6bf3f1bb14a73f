/*
 * What ended the waits of a recording: wakers_sum FILE. A line `WAITING WAKER NS COUNT` for each pair of names; a waker that is no thread of it
 * by the words there, without a number. A wait of several parts has the waker of its last one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/recording.h"

enum { THREADS = 4096, PAIRS = 4096, NAME = 64 };

struct thread {
    char name[NAME];
    uint64_t since, ns; /* of the wait whose waker is not known yet */
};

struct pair {
    char waiting[NAME], waker[NAME];
    uint64_t ns;
    unsigned count;
};

static struct thread threads[THREADS];
static struct pair pairs[PAIRS];
static size_t pair_count;

static void add(const char *waiting, const char *waker, uint64_t ns)
{
    size_t i = 0;

    while (i < pair_count &&
           (strcmp(pairs[i].waiting, waiting) != 0 || strcmp(pairs[i].waker, waker) != 0))
        i++;
    if (i == PAIRS)
        exit(2);
    if (i == pair_count) {
        pair_count++;
        snprintf(pairs[i].waiting, sizeof pairs[i].waiting, "%s", waiting);
        snprintf(pairs[i].waker, sizeof pairs[i].waker, "%s", waker);
    }
    pairs[i].ns += ns;
    pairs[i].count++;
}

static void take(const struct sfb_recording_wait *w)
{
    struct thread *t = &threads[w->thread];
    char waker[NAME];

    if (w->state == SFB_STATE_RUNNABLE)
        return;
    if (w->since == 0 || w->since != t->since) {
        if (t->ns > 0)
            add(t->name, "unknown", t->ns);
        t->ns = 0;
        t->since = w->since;
    }
    t->ns += w->weight;
    if (w->waker == 0 && w->waker_name[0] == '\0')
        return;
    snprintf(waker, sizeof waker, "%s", w->waker != 0 ? threads[w->waker].name : w->waker_name);
    waker[strcspn(waker, " ")] = '\0';
    add(t->name, waker, t->ns);
    t->ns = 0;
}

int main(int argc, char **argv)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;

    if (argc != 2 || sfb_recording_reader_open(&reader, argv[1], NULL) != SFB_OK)
        return 2;
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind == SFB_EVENT_THREAD && event.of.thread.id < THREADS)
            snprintf(threads[event.of.thread.id].name, NAME, "%s", event.of.thread.name);
        if (event.kind == SFB_EVENT_WAIT && event.of.wait.thread < THREADS &&
            event.of.wait.waker < THREADS)
            take(&event.of.wait);
    }
    sfb_recording_reader_close(reader);
    for (size_t i = 0; i < THREADS; i++)
        if (threads[i].ns > 0)
            add(threads[i].name, "unknown", threads[i].ns);
    for (size_t i = 0; i < pair_count; i++)
        printf("%s %s %" PRIu64 " %u\n", pairs[i].waiting, pairs[i].waker, pairs[i].ns,
               pairs[i].count);
    return 0;
}
