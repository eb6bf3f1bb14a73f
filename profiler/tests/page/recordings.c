/*
 * Writes the recordings that the page is tested with: recordings KIND FILE.
 *
 *     old, new   two threads, a recursion, a stack that is cut off, what was never sampled; new differs from old
 *     hostile    names of functions and threads that would like to be HTML
 *     one        one sample
 *     waits      a thread that works and sleeps, one that waits for a lock; marks, and a pause
 *     big        100,000 stacks
 *     deep       stacks of 3,000 frames
 *     heap       a heap with its events; sums: the same without them
 *     memory     heaps of two processes, with what the allocator holds and what is resident
 *
 * Functions are code that the process made, so that their names are whatever is wanted.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "sfb/recording.h"

enum { FRAMES_MAX = 3000, FUNCTION_SIZE = 0x100, BIG_STACKS = 100000, BIG_FUNCTIONS = 4000 };

static struct sfb_recording_writer *writer;
static FILE *map; /* the names, as /tmp/perf-PID.map has them */
static char *map_text;
static size_t map_size;
static unsigned functions;

static void must(enum sfb_status status)
{
    if (status == SFB_OK)
        return;
    fprintf(stderr, "recordings: %s\n", sfb_status_str(status));
    exit(1);
}

/* @return its number */
static unsigned add_function(const char *name)
{
    fprintf(map, "%x %x %s\n", 0x100000 + functions * FUNCTION_SIZE, FUNCTION_SIZE, name);
    return functions++;
}

static uint64_t inside(unsigned function, unsigned where)
{
    return 0x100000 + (uint64_t)function * FUNCTION_SIZE + 1 + where;
}

/* @param path  functions, outermost first. @return its id */
static uint32_t put_stack(const unsigned *path, size_t count, bool truncated)
{
    static uint8_t cbf[16 * FRAMES_MAX + 64];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    must(sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64));
    for (size_t i = count; i-- > 0;)
        must(sfb_cbf_encoder_put(&encoder, i == count - 1 ? SFB_FRAME_PC : SFB_FRAME_RA,
                                 inside(path[i], 8)));
    must(sfb_recording_put_stack(writer, &id, 1, cbf, sfb_cbf_encoder_end(&encoder, truncated)));
    return id;
}

static void put_sample(uint32_t thread, uint32_t stack, uint64_t ms, uint64_t weight_ms)
{
    const struct sfb_recording_sample sample = {
        thread, stack, 1000000000 + ms * 1000000, weight_ms * 1000000, SFB_ENGINE_TIMER, SFB_END
    };

    must(sfb_recording_put_sample(writer, &sample));
}

static void put_thread(uint32_t id, const char *name)
{
    const struct sfb_recording_thread thread = { .id = id,
                                                 .process = 1,
                                                 .tid = 200 + id,
                                                 .engine = SFB_ENGINE_TIMER,
                                                 .time = 1000000000,
                                                 .name = name };

    must(sfb_recording_put_thread(writer, &thread));
}

/* --- Kinds ------------------------------------------------------------------------------------- */

static void write_small(bool newer)
{
    const struct sfb_recording_thread_end gone = { 2, 3000000000, 300000000, 20000000 };
    const struct sfb_recording_losses lost = { SFB_LOSS_RING_FULL, 1, 1, 7, "" };
    const unsigned run = add_function("main"), work = add_function("work(int; char)"),
                   fib = add_function("fib"), sort = add_function("sort<int>"),
                   read = add_function("read"), fresh = add_function("fresh");
    uint32_t first, second, third, cut;

    put_thread(1, "main");
    put_thread(2, "wörker");
    first = put_stack((unsigned[]){ run, work, sort }, 3, false);
    second = put_stack((unsigned[]){ run, work, fib, fib, fib }, 5, false);
    third = put_stack((unsigned[]){ run, newer ? fresh : read }, 2, false);
    cut = put_stack((unsigned[]){ sort }, 1, true);
    put_sample(1, first, 100, newer ? 40 : 60);
    put_sample(1, second, 200, 30);
    put_sample(2, third, 300, newer ? 50 : 20);
    put_sample(2, second, 400, 10);
    put_sample(2, cut, 500, 5);
    must(sfb_recording_put_losses(writer, &lost));
    must(sfb_recording_put_thread_end(writer, &gone));
}

static void write_one(void)
{
    const unsigned run = add_function("main"), work = add_function("work(int; char)");

    put_thread(1, "main");
    put_sample(1, put_stack((unsigned[]){ run, work }, 2, false), 100, 1);
}

/* @param waker  thread; 0: it is none. @param waker_name  what it is then; "": not known */
static void put_ended_wait(uint32_t thread, uint32_t stack, uint64_t ms, uint64_t weight_ms,
                           uint32_t state, const char *call, uint32_t waker, const char *waker_name)
{
    const struct sfb_recording_wait wait = { .thread = thread,
                                             .stack = stack,
                                             .time = 1000000000 + ms * 1000000,
                                             .weight = weight_ms * 1000000,
                                             .state = state,
                                             .end = SFB_END,
                                             .call = call,
                                             .waker = waker,
                                             .waker_name = waker_name };

    must(sfb_recording_put_wait(writer, &wait));
}

static void put_wait(uint32_t thread, uint32_t stack, uint64_t ms, uint64_t weight_ms,
                     uint32_t state, const char *call)
{
    put_ended_wait(thread, stack, ms, weight_ms, state, call, 0, "");
}

static void put_mark(uint64_t ms, const char *name)
{
    const struct sfb_recording_mark mark = { 1000000000 + ms * 1000000, name };

    must(sfb_recording_put_mark(writer, &mark));
}

/* Thread 1 runs, sleeps, and waits for a disk; thread 2 waits for a lock, until thread 1 ends that. From 400 to 600 ms nothing is recorded. */
static void write_waits(void)
{
    static const struct sfb_recording_pause pauses[] = { { 1400000000, 1, 0 },
                                                         { 1600000000, 0, 0 } };
    const unsigned run = add_function("main"), work = add_function("work(int; char)");
    const uint32_t stack = put_stack((unsigned[]){ run, work }, 2, false);

    put_thread(1, "main");
    put_thread(2, "worker");
    for (uint64_t ms = 1; ms <= 100; ms++)
        put_sample(1, stack, ms, 1);
    put_ended_wait(1, stack, 400, 300, SFB_STATE_ASLEEP, "clock_nanosleep", 0, "interrupt");
    put_ended_wait(2, stack, 400, 400, SFB_STATE_ASLEEP, "futex", 1, "");
    must(sfb_recording_put_pause(writer, &pauses[0]));
    must(sfb_recording_put_pause(writer, &pauses[1]));
    put_wait(1, stack, 700, 100, SFB_STATE_DISK, "read");
    put_wait(1, stack, 1000, 300, SFB_STATE_RUNNABLE, "");
    put_ended_wait(2, stack, 1000, 400, SFB_STATE_ASLEEP, "epoll_wait", 0,
                   "<img src=x onerror=\"window.hacked = 4\">");
    put_mark(200, "order sent");
    put_mark(800, "<img src=x onerror=\"window.hacked = 3\">");
}

/* As bytes: no editor shows them the other way round. */
static const char right_to_left[] = { '\xe2', '\x80', '\xae', 'l', 't', 'r', '\0' };
static const char hebrew[] = { '\xd7', '\xa9', '\xd7', '\x9c', '\0' };

static void write_hostile(void)
{
    static const char *const names[] = {
        "</script><script>window.hacked = 1</script>",
        "<img src=x onerror=\"window.hacked = 2\">",
        "<!--<script>",
        right_to_left,
        "desrever", /* from right to left */
        hebrew,
        "\"quotes\" \\ and ' & ]]>",
        "bad \xff\xfe utf-8",
        "\x1b[2J\x07",
        "__proto__",
        "constructor",
    };
    const size_t count = sizeof names / sizeof *names;
    unsigned path[16];
    static char longest[10001];

    put_thread(1, "<script>window.hacked = 3</script>");
    for (size_t i = 0; i < count; i++)
        path[i] = add_function(names[i]);
    memset(longest, 'x', sizeof longest - 1);
    path[count] = add_function(longest);
    for (size_t i = 1; i <= count + 1; i++)
        put_sample(1, put_stack(path, i, false), 100 * i, 10);
}

/* A sequence that is the same everywhere. */
static uint32_t next_random(uint32_t below)
{
    static uint64_t state = 42;

    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % below;
}

/* Most samples are where others are, as in programs: a stack leaves the one before it at some depth. */
static void write_big(void)
{
    unsigned path[48], first = functions;
    char name[64];

    put_thread(1, "main");
    for (unsigned i = 0; i < BIG_FUNCTIONS; i++) {
        snprintf(name, sizeof name, "library_%u::function_%u(int, char const*)", i % 17, i);
        add_function(name);
    }
    for (size_t i = 0; i < 48; i++)
        path[i] = first + next_random(BIG_FUNCTIONS);
    for (uint32_t i = 0; i < BIG_STACKS; i++) {
        const uint32_t from = 44 - next_random(next_random(4) == 0 ? 40 : 4);
        const uint32_t depth = from + 1 + next_random(4);

        for (uint32_t k = from; k < 48; k++)
            path[k] = first + next_random(k < 20 ? 60 : BIG_FUNCTIONS);
        put_sample(1, put_stack(path, depth, false), i / 4, 1 + next_random(5));
    }
}

static void write_deep(void)
{
    static unsigned path[FRAMES_MAX];
    char name[64];

    put_thread(1, "main");
    for (unsigned i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "recursive_%u", i);
        add_function(name);
    }
    for (unsigned s = 0; s < 400; s++) {
        const unsigned depth = FRAMES_MAX - s % 7 * 300;

        for (unsigned i = 0; i < depth; i++)
            path[i] = i < depth - 40 ? i % 20 : next_random(50);
        put_sample(1, put_stack(path, depth, false), s * 5, 5);
    }
}

/* --- A heap ------------------------------------------------------------------------------------ */

static struct sfb_recording_heap_sum live, allocated, most;
static uint64_t most_ms;

static void put_events(uint32_t site, uint64_t ms, uint64_t size, size_t count, bool freed,
                       bool told)
{
    const struct sfb_recording_heap_event event = { 1, site, 1000000000 + ms * 1000000, size,
                                                    freed };
    struct sfb_recording_heap_state state = { .process = 1, .time = event.time };

    for (size_t i = 0; i < count; i++) {
        if (told)
            must(sfb_recording_put_heap_event(writer, &event));
        live.blocks += freed ? (uint64_t)-1 : 1;
        live.bytes += freed ? 0 - size : size;
        allocated.blocks += !freed;
        allocated.bytes += freed ? 0 : size;
        if (live.bytes > most.bytes) {
            most = live;
            most_ms = ms;
        }
    }
    state.live = live;
    state.allocated = allocated;
    state.peak = most;
    state.peak_time = 1000000000 + most_ms * 1000000;
    must(sfb_recording_put_heap_state(writer, &state));
}

static struct sfb_recording_heap_amount amount(uint64_t blocks, uint64_t bytes)
{
    return (
        struct sfb_recording_heap_amount){ .blocks = blocks, .bytes = bytes, .samples = blocks };
}

/* Three sites; the peak is at 0.3 s; a temporary block at 1.5 s. */
static void write_heap(bool events)
{
    const unsigned run = add_function("main"), work = add_function("work(int; char)"),
                   sort = add_function("sort<int>"), read = add_function("read");
    const struct sfb_recording_heap heap = { 1, events ? 0 : SFB_HEAP_AGGREGATE, 1000000000, 0 };
    const struct sfb_recording_heap_totals totals[] = {
        { .site = 1,
          .time = 3000000000,
          .allocated = amount(11, 1100),
          .live = amount(10, 1000),
          .peak = amount(10, 1000),
          .temporary = amount(1, 100) },
        { .site = 2,
          .time = 3000000000,
          .allocated = amount(5, 5000),
          .live = amount(2, 2000),
          .peak = amount(5, 5000) },
        { .site = 3, .time = 3000000000, .allocated = amount(4, 1600), .live = amount(4, 1600) },
    };

    put_thread(1, "main");
    put_thread(2, "wörker");
    must(sfb_recording_put_heap(writer, &heap));
    for (uint32_t i = 1; i <= 3; i++) {
        const struct sfb_recording_heap_site site = {
            i, i == 2 ? 2 : 1,
            put_stack((unsigned[]){ run, work, i == 1 ? sort : read }, i == 3 ? 2 : 3, false),
            SFB_HEAP_MALLOC
        };

        must(sfb_recording_put_heap_site(writer, &site));
    }
    put_events(1, 100, 100, 10, false, events);
    put_events(2, 300, 1000, 5, false, events);
    put_events(2, 1000, 1000, 3, true, events);
    put_events(1, 1500, 100, 1, false, events);
    put_events(1, 1500, 100, 1, true, events);
    put_events(3, 1800, 400, 4, false, events);
    for (size_t i = 0; i < 3; i++)
        must(sfb_recording_put_heap_totals(writer, &totals[i]));
}

static void put_memory(uint32_t process, uint64_t ms, const uint64_t kib[4])
{
    const struct sfb_recording_heap_state state = { .process = process,
                                                    .time = 1000000000 + ms * 1000000,
                                                    .live = { 1, kib[0] << 10 },
                                                    .allocated = { 9, 9 << 20 },
                                                    .peak = { 1, 3 << 20 },
                                                    .peak_time = 2000000000,
                                                    .allocator_used = kib[1] << 10,
                                                    .allocator_held = kib[2] << 10,
                                                    .resident = kib[3] << 10 };

    must(sfb_recording_put_heap_state(writer, &state));
}

/* The second process lives from 5 to 10 s, and its allocator says nothing. The recording ends at 29 s. */
static void write_memory(void)
{
    const struct sfb_recording_heap heaps[] = { { 1, 0, 1000000000, 0 }, { 2, 0, 6000000000, 0 } };
    const struct sfb_recording_process second = { .id = 2,
                                                  .pid = 102,
                                                  .time = 6000000000,
                                                  .program = "/bin/program",
                                                  .arguments = "program",
                                                  .arguments_size = 8 };
    const struct sfb_recording_process_end end = { .id = 2, .time = 11000000000 };
    const struct sfb_recording_heap_site site = {
        1, 1, put_stack((unsigned[]){ add_function("main") }, 1, false), SFB_HEAP_MALLOC
    };
    const struct sfb_recording_heap_totals totals = { .site = 1,
                                                      .time = 30000000000,
                                                      .allocated = amount(9, 9 << 20),
                                                      .live = amount(1, 1 << 19),
                                                      .peak = amount(1, 3 << 20) };

    put_thread(1, "main");
    must(sfb_recording_put_heap(writer, &heaps[0]));
    must(sfb_recording_put_heap_site(writer, &site));
    put_memory(1, 500, (uint64_t[]){ 1024, 0, 0, 4096 });
    put_memory(1, 1000, (uint64_t[]){ 3072, 3584, 4096, 6144 });
    put_memory(1, 2000, (uint64_t[]){ 512, 768, 4096, 6144 });
    must(sfb_recording_put_process(writer, &second));
    must(sfb_recording_put_heap(writer, &heaps[1]));
    put_memory(2, 5500, (uint64_t[]){ 1024, 0, 0, 2048 });
    must(sfb_recording_put_process_end(writer, &end));
    put_memory(1, 20000, (uint64_t[]){ 512, 640, 1024, 5120 });
    must(sfb_recording_put_heap_totals(writer, &totals));
}

int main(int argc, char **argv)
{
    const struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    const struct sfb_recording_start start = { .monotonic = 1000000000,
                                               .realtime = 1700000000000000000,
                                               .tick_ns = 4000000,
                                               .rate_hz = 997,
                                               .engine = SFB_ENGINE_TIMER,
                                               .recorder_pid = 7,
                                               .abi = SFB_ABI_AMD64_LE,
                                               .engine_text = "",
                                               .version = "test",
                                               .host = "host",
                                               .command = "./program\0<b>argument</b>",
                                               .command_size = 25 };
    const struct sfb_recording_process process = { .id = 1,
                                                   .pid = 101,
                                                   .time = 1000000000,
                                                   .program = "/bin/program",
                                                   .arguments = "program",
                                                   .arguments_size = 8 };
    const char *kind = argc == 3 ? argv[1] : "";
    const int fd = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;

    map = open_memstream(&map_text, &map_size);
    if (fd < 0 || !map) {
        perror(argc == 3 ? argv[2] : "recordings KIND FILE");
        return 2;
    }
    must(sfb_recording_writer_open(&writer, fd, &start, &options));
    must(sfb_recording_put_process(writer, &process));
    if (strcmp(kind, "waits") == 0)
        write_waits();
    else if (strcmp(kind, "hostile") == 0)
        write_hostile();
    else if (strcmp(kind, "one") == 0)
        write_one();
    else if (strcmp(kind, "big") == 0)
        write_big();
    else if (strcmp(kind, "deep") == 0)
        write_deep();
    else if (strcmp(kind, "heap") == 0 || strcmp(kind, "sums") == 0)
        write_heap(strcmp(kind, "heap") == 0);
    else if (strcmp(kind, "memory") == 0)
        write_memory();
    else
        write_small(strcmp(kind, "new") == 0);
    fclose(map);
    must(sfb_recording_put_file(
        writer, &(struct sfb_recording_file){ 1, "perf-101.map", map_text, map_size }));
    must(sfb_recording_writer_close(writer, 30000000000, "the program ended"));
    free(map_text);
    return close(fd) == 0 ? 0 : 1;
}
