/*
 * When waits ended, by a recording: stamps_sum FILE. It prints how many have records of their own, and of these how many have a time that is more than
 * 10 ms behind their beginning and what they lasted.
 */
#include <stdint.h>
#include <stdio.h>

#include "sfb/recording.h"

enum { THREADS = 4096 };

static const uint64_t late_ns = 10000000;

static struct {
    uint64_t since, ns;
} threads[THREADS];

int main(int argc, char **argv)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    unsigned count = 0, late = 0;

    if (argc != 2 || sfb_recording_reader_open(&reader, argv[1], NULL) != SFB_OK)
        return 2;
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        const struct sfb_recording_wait *w = &event.of.wait;

        if (event.kind != SFB_EVENT_WAIT || w->thread >= THREADS || w->since == 0)
            continue;
        if (threads[w->thread].since != w->since) {
            threads[w->thread].since = w->since;
            threads[w->thread].ns = 0;
        }
        threads[w->thread].ns += w->weight;
        count++;
        late += w->time > w->since + threads[w->thread].ns + late_ns;
    }
    sfb_recording_reader_close(reader);
    printf("%u %u\n", count, late);
    return 0;
}
