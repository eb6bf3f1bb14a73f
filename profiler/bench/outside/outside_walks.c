/*
 * What a sample costs the collector, with warm caches: the stacks of a file of `perf record --call-graph dwarf` are walked
 * again and again, and written into a recording: outside_walks PERF.DATA [TIMES].
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/outside.h"
#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/outside/perf_file.h"
#include "util/input.h"

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* @return samples */
static uint64_t take_all(const struct perf_file *file, struct outside *outside, bool all)
{
    uint64_t samples = 0;

    for (size_t i = 0; i < file->entries.count; i++) {
        const struct perf_record record = perf_file_record(file, &file->entries.at[i]);
        struct perf_sample sample;
        struct perf_ids ids;
        const struct perf_file_event *event = perf_file_event_of(file, &record, &ids);

        if (record.type == PERF_RECORD_SAMPLE &&
            perf_sample_read(&sample, &event->layout, &record)) {
            outside_take_sample(outside, &event->layout, &sample, 1);
            samples++;
        } else if (all && record.type != PERF_RECORD_EXIT) {
            outside_take(outside, &record, &ids);
        }
    }
    return samples;
}

int main(int argc, char **argv)
{
    const unsigned times = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 20;
    const struct sfb_recording_start start = { .engine = SFB_ENGINE_OUTSIDE };
    struct outside_options how = { .engine = SFB_ENGINE_OUTSIDE };
    const struct outside_totals *totals;
    struct outside *outside;
    struct perf_file file;
    struct input input;
    uint64_t samples = 0;
    double first, rest;

    if (argc < 2 || input_open(&input, argv[1]) != NULL ||
        perf_file_read(&file, input.data, input.size) != NULL ||
        sfb_recording_writer_open(&how.writer, memfd_create("bench", 0), &start, NULL) != SFB_OK)
        return 2;
    outside = outside_open(&how);
    first = cpu_us();
    take_all(&file, outside, true);
    first = cpu_us() - first;
    rest = cpu_us();
    for (unsigned i = 0; i < times; i++)
        samples += take_all(&file, outside, false);
    rest = cpu_us() - rest;
    totals = outside_totals(outside);
    printf("%" PRIu64 " samples: the first time %.2f us each, then %.2f us; %.1f %% complete\n",
           samples / times, first * times / (double)samples, rest / (double)samples,
           100.0 * (double)totals->complete / (double)totals->samples);
    return 0;
}
