/*
 * How fast the recorder pairs, sums and writes events: those of a recording, again and again, one thread each.
 *
 *     heap-drain-speed FILE.sfbr [ROUNDS]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/heap/heap_replay.h"
#include "profiler/collector/heap/heap_thread.h"

enum { EVENTS_MAX = 1 << 23, SITES_MAX = 1 << 20, PAIRS = 1 << 20 };

static struct {
    uint64_t pointer, size, time;
    uint32_t site;
    bool freed;
} events[EVENTS_MAX];
static size_t count;
static uint32_t thread_of[SITES_MAX];

/* Blocks of a pair that live, as a list through their addresses; and those that are free. */
static struct {
    uint64_t size;
    uint32_t site, first;
} pairs[PAIRS];
static uint32_t next[EVENTS_MAX], spare, blocks;

static size_t pair_of(uint32_t site, uint64_t size)
{
    size_t at = (size_t)((size * 31 + site) * UINT64_C(0x9e3779b97f4a7c15) >> 44);

    while (pairs[at].site != 0 && (pairs[at].site != site || pairs[at].size != size))
        at = (at + 1) % PAIRS;
    pairs[at].site = site;
    pairs[at].size = size;
    return at;
}

/* Pointers are not in the file: the block that was given back last is given out again. */
static void add(const struct sfb_recording_heap_event *e)
{
    const size_t pair = pair_of(e->site, e->size);
    uint32_t block;

    if (count == EVENTS_MAX)
        return;
    if (e->freed) {
        block = pairs[pair].first;
        if (block == 0)
            return;
        pairs[pair].first = next[block];
        next[block] = spare;
        spare = block;
    } else {
        block = spare != 0 ? spare : ++blocks;
        if (spare != 0)
            spare = next[spare];
        next[block] = pairs[pair].first;
        pairs[pair].first = block;
    }
    events[count].pointer = 0x7f0000000000 + 48 * (uint64_t)block;
    events[count].size = e->size;
    events[count].time = e->time;
    events[count].site = e->site;
    events[count++].freed = e->freed;
}

static bool load(const char *path)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;

    if (sfb_recording_reader_open(&reader, path, NULL) != SFB_OK)
        return false;
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind == SFB_EVENT_HEAP_SITE && event.of.heap_site.id < SITES_MAX)
            thread_of[event.of.heap_site.id] = event.of.heap_site.thread;
        if (event.kind == SFB_EVENT_HEAP_EVENT && event.of.heap_event.process == 1)
            add(&event.of.heap_event);
    }
    sfb_recording_reader_close(reader);
    return count > 0;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void replay(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t later)
{
    for (size_t i = 0; i < count; i++) {
        const struct sfb_heap_allocation a = { .time = events[i].time + later,
                                               .pointer = events[i].pointer,
                                               .size = events[i].size,
                                               .hash = events[i].site };

        if (events[i].freed)
            sfb_heap_thread_freed(p, t, a.time, a.pointer);
        else
            sfb_heap_thread_allocated(p, t, &a);
    }
}

static void measure(unsigned rounds, uint32_t flags, const char *what)
{
    static const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_heap heap = { .flags = flags, .temporary_within = 8, .blocks_max = EVENTS_MAX };
    const int fd = memfd_create("recording", 0);
    struct sfb_heap_process *p;
    struct sfb_heap_thread t = { .id = 1 };
    uint64_t cpu, before, size;

    options.packer = &sfb_recording_zstd;
    if (fd < 0 || sfb_recording_writer_open(&heap.writer, fd, &start, &options) != SFB_OK)
        return;
    sfb_heap_clock_open(&heap.clock, false, 0);
    sfb_recording_put_process(heap.writer, &(struct sfb_recording_process){ .id = 1 });
    sfb_recording_put_thread(heap.writer, &(struct sfb_recording_thread){ .id = 1, .process = 1 });
    p = sfb_heap_process_open(&heap, 1, 0);
    before = sfb_recording_writer_size(heap.writer);
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < rounds; i++)
        replay(p, &t, i * (events[count - 1].time - events[0].time));
    sfb_recording_writer_flush(heap.writer);
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    size = sfb_recording_writer_size(heap.writer) - before;
    printf("%s: %.1f ns an event, %.1f million events a second; %.4f bytes a pair\n", what,
           (double)cpu / (double)(rounds * count), 1e3 * (double)(rounds * count) / (double)cpu,
           2 * (double)size / (double)(rounds * count));
    sfb_heap_process_close(p);
    sfb_recording_writer_close(heap.writer, 0, "x");
    close(fd);
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;

    if (argc < 2 || !load(argv[1]) || rounds == 0) {
        fprintf(stderr, "usage: heap-drain-speed FILE.sfbr [ROUNDS]\n");
        return 2;
    }
    printf("%zu events\n", count);
    measure(rounds, 0, "with events");
    measure(rounds, SFB_HEAP_AGGREGATE, "sums alone");
    return 0;
}
