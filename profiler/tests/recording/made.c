#include "profiler/tests/recording/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/format/format.h"
#include "profiler/format/packer.h"
#include "sfb/cbf.h"

struct sfb_recording_event made_events[128];
size_t made_event_count;

/* Not an assertion of the tests' framework: fuzz corpora are made with this, too. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void *no_state(void)
{
    return malloc(1);
}

static size_t do_not_pack(void *state, void *out, size_t room, const void *in, size_t size,
                          bool fast)
{
    (void)state, (void)out, (void)room, (void)in, (void)size, (void)fast;
    return 0;
}

const struct sfb_recording_packer made_unpacked = { RECORDING_ZSTD, no_state, free, do_not_pack };

static const struct sfb_recording_start start = {
    .monotonic = 1000000000000,
    .realtime = 1800000000000000000,
    .tick_ns = 4000000,
    .rate_hz = 997,
    .engine = SFB_ENGINE_TIMER,
    .recorder_pid = 4711,
    .abi = 3,
    .engine_text = "perf: refused (EACCES)",
    .version = "0.2.0",
    .host = "Linux test 6.18",
    .command = "prog\0-x\0with blank",
    .command_size = sizeof "prog\0-x\0with blank",
};

static struct sfb_recording_event *remember(uint32_t kind)
{
    MUST(made_event_count < sizeof made_events / sizeof *made_events);
    made_events[made_event_count].kind = kind;
    return &made_events[made_event_count++];
}

struct made made_read(int fd)
{
    struct made made = { 0 };
    struct stat about;

    MUST(fstat(fd, &about) == 0);
    made.size = (size_t)about.st_size;
    made.bytes = malloc(made.size + 1);
    MUST(made.bytes != NULL);
    MUST(pread(fd, made.bytes, made.size, 0) == (ssize_t)made.size);
    close(fd);
    return made;
}

struct sfb_recording_writer *made_open(int *fd, const struct sfb_recording_packer *packer,
                                       uint64_t max_size)
{
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recording_writer *writer = NULL;

    options.packer = packer;
    options.max_size = max_size;
    *fd = memfd_create("recording", 0);
    MUST(*fd >= 0);
    MUST(sfb_recording_writer_open(&writer, *fd, &start, &options) == SFB_OK);
    return writer;
}

size_t made_stack(uint8_t *out, size_t size, uint64_t inner, uint64_t path, unsigned frames)
{
    struct sfb_cbf_encoder encoder;

    MUST(sfb_cbf_encoder_init(&encoder, out, size, 64) == SFB_OK);
    MUST(sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, inner) == SFB_OK);
    for (unsigned i = 1; i < frames; i++)
        MUST(sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, 0x7f0000001000 + i * (path + i) * 0x35) ==
             SFB_OK);
    return sfb_cbf_encoder_end(&encoder, false);
}

static void put_process(struct sfb_recording_writer *w, struct sfb_recording_process e)
{
    remember(SFB_EVENT_PROCESS)->of.process = e;
    MUST(sfb_recording_put_process(w, &e) == SFB_OK);
}

static void put_thread(struct sfb_recording_writer *w, struct sfb_recording_thread e)
{
    remember(SFB_EVENT_THREAD)->of.thread = e;
    MUST(sfb_recording_put_thread(w, &e) == SFB_OK);
}

static void put_sample(struct sfb_recording_writer *w, struct sfb_recording_sample e)
{
    remember(SFB_EVENT_SAMPLE)->of.sample = e;
    MUST(sfb_recording_put_sample(w, &e) == SFB_OK);
}

/* Stacks that were had before are no events. */
static uint32_t put_stack(struct sfb_recording_writer *w, uint32_t process, const void *cbf,
                          size_t size)
{
    static uint32_t last;
    uint32_t id = 0;

    if (made_event_count == 4) /* the first one of a recording */
        last = 0;
    MUST(sfb_recording_put_stack(w, &id, process, cbf, size) == SFB_OK);
    if (id > last)
        remember(SFB_EVENT_STACK)->of.stack =
            (struct sfb_recording_stack){ id, process, cbf, size };
    last = id > last ? id : last;
    return id;
}

static void put_beginning(struct sfb_recording_writer *w)
{
    static const struct sfb_recording_modules modules = { 1, 1000000000100, "\x02\x05Linux\x80\x80",
                                                          9 };

    put_process(w, (struct sfb_recording_process){ 1, 0, 100, 99, SFB_PROCESS_STARTED,
                                                   1000000000001, 5, "/usr/bin/prog", "prog\0-x",
                                                   sizeof "prog\0-x" });
    put_thread(
        w, (struct sfb_recording_thread){ 1, 1, 100, SFB_ENGINE_TIMER, 1000000000002, "prog", 0 });
    remember(SFB_EVENT_MODULES)->of.modules = modules;
    MUST(sfb_recording_put_modules(w, &modules) == SFB_OK);
}

static void put_samples(struct sfb_recording_writer *w)
{
    static uint8_t cbf[6][256];
    static const uint8_t not_as_encoded[] = { 2, 0x1f, 0, 0, 0, 0, 0, 0, 0, 5, 1 };
    static const uint8_t absolute[] = {
        2, 0x19, 0x10, 0, 0x29, 0x11, 0, 0
    }; /* as long as relative */
    static const uint8_t repeated[] = { 2, 0x1a, 1, 2, 3, 0x86, 0x21, 1, 2, 0x44, 0 };
    uint64_t time = 1000000001000;

    for (size_t i = 0; i < 5; i++) {
        const size_t size = made_stack(cbf[i], sizeof cbf[i], 0x401000 + i, i / 3, 3 + i % 2);

        time += 1003009 + i;
        put_sample(w, (struct sfb_recording_sample){ 1, put_stack(w, 1, cbf[i], size), time,
                                                     1003009 + i / 2, SFB_ENGINE_TIMER, SFB_END });
    }
    put_sample(w, (struct sfb_recording_sample){ 1, put_stack(w, 1, not_as_encoded, 11), time + 5,
                                                 1, SFB_ENGINE_PERF, SFB_BUFFER_FULL });
    put_sample(w, (struct sfb_recording_sample){ 1, put_stack(w, 1, absolute, 8), time + 6, 2,
                                                 SFB_ENGINE_PERF, SFB_END });
    put_sample(w, (struct sfb_recording_sample){ 1, put_stack(w, 1, repeated, 11), time - 5, 0,
                                                 SFB_ENGINE_PERF, SFB_ZERO_RA });
    put_sample(w, (struct sfb_recording_sample){
                      1, put_stack(w, 1, cbf[1], made_stack(cbf[5], 256, 0x401001, 0, 4)), time + 9,
                      3, SFB_ENGINE_PERF, SFB_END });
    put_sample(w, (struct sfb_recording_sample){ 1, 0, time, UINT64_MAX / 4, SFB_ENGINE_SAMPLER,
                                                 SFB_CBF_TRAILING_DATA });
}

/* Stacks of one CBF with other calls are others; of the same calls one. */
static void put_codes(struct sfb_recording_writer *w)
{
    static uint8_t cbf[256];
    static const struct sfb_recording_code codes[] = { { 1, 1, 17, "Shop.cart", "/srv/shop.py" },
                                                       { 2, 1, 0,
                                                         "gr\xc3\xb6\xc3\x9f"
                                                         "e",
                                                         "" } };
    static const struct sfb_recording_code_frame frames[] = {
        { 0, 1, 18 }, { 0, 2, 0 }, { 2, 1, 70000 }, { 70000, 0, 0 }
    };
    const size_t size = made_stack(cbf, sizeof cbf, 0x401001, 0, 4);
    uint32_t first = 0, id;

    for (size_t i = 0; i < 2; i++) {
        remember(SFB_EVENT_CODE)->of.code = codes[i];
        MUST(sfb_recording_put_code(w, &codes[i]) == SFB_OK);
    }
    for (size_t count = 4; count > 2; count--) {
        const struct sfb_recording_code_frames calls = { 0, frames, count, (uint32_t)count % 4 };

        MUST(sfb_recording_put_stack_of_code(w, &id, 1, cbf, size, &calls) == SFB_OK);
        MUST(id > first);
        first = id;
        remember(SFB_EVENT_STACK)->of.stack = (struct sfb_recording_stack){ id, 1, cbf, size };
        remember(SFB_EVENT_CODE_FRAMES)->of.code_frames = calls;
        made_events[made_event_count - 1].of.code_frames.stack = id;
        MUST(sfb_recording_put_stack_of_code(w, &id, 1, cbf, size, &calls) == SFB_OK);
        MUST(id == first);
    }
    /* Of the GIL alone, too; one that is not known is no other stack. */
    for (uint32_t gil = SFB_GIL_HELD; gil <= SFB_GIL_RELEASED; gil++) {
        const struct sfb_recording_code_frames calls = { 0, NULL, 0, gil };

        MUST(sfb_recording_put_stack_of_code(w, &id, 1, cbf, size, &calls) == SFB_OK);
        MUST(id > first);
        first = id;
        remember(SFB_EVENT_STACK)->of.stack = (struct sfb_recording_stack){ id, 1, cbf, size };
        remember(SFB_EVENT_CODE_FRAMES)->of.code_frames = calls;
        made_events[made_event_count - 1].of.code_frames.stack = id;
    }
    MUST(sfb_recording_put_stack_of_code(w, &id, 1, cbf, size,
                                         &(struct sfb_recording_code_frames){ 0, NULL, 0, 4 }) ==
         SFB_BAD_ARGUMENT);
}

static void put_children(struct sfb_recording_writer *w)
{
    static uint8_t cbf[256];
    static const struct sfb_recording_losses losses[] = {
        { SFB_LOSS_RING_FULL, 2, 2, 17, "" },
        { SFB_LOSS_NOT_FOLLOWED, 0, 0, 1, "static: link the agent in" },
    };
    static const struct sfb_recording_mark mark = { 1000000002600, "slow \x1b" };
    static const struct sfb_recording_awaited awaited[] = {
        { 1, 2, SFB_AWAITED_FUTEX, 0x7f0000001040, 0x7f0000000000, "/lib/lib\xff.so" },
        { 2, 2, SFB_AWAITED_SOCKET, 0, 0, "tcp 127.0.0.1:5432" },
    };
    static const struct sfb_recording_pause pauses[] = { { 1000000002610, 1, 0 },
                                                         { 1000000002620, 0, 7 } };
    uint32_t stack;

    put_process(w, (struct sfb_recording_process){ 2, 1, 101, 100, SFB_PROCESS_FORKED,
                                                   1000000001001, 0, "", "", 0 });
    put_thread(
        w, (struct sfb_recording_thread){ 2, 2, 101, SFB_ENGINE_PERF, 1000000001002, "child", 0 });
    put_thread(w, (struct sfb_recording_thread){ 1, 1, 100, SFB_ENGINE_PERF, 1000000001003,
                                                 "renamed \xff", 3 });
    stack = put_stack(w, 2, cbf, made_stack(cbf, sizeof cbf, 0x401001, 0, 4));
    put_sample(
        w, (struct sfb_recording_sample){ 2, stack, 1000000002000, 77, SFB_ENGINE_PERF, SFB_END });
    for (size_t i = 0; i < 2; i++) {
        remember(SFB_EVENT_AWAITED)->of.awaited = awaited[i];
        MUST(sfb_recording_put_awaited(w, &awaited[i]) == SFB_OK);
    }
    for (size_t i = 0; i < 4; i++) {
        const struct sfb_recording_wait wait = {
            .thread = 2,
            .stack = i == 0 ? 0 : stack,
            .time = 1000000002500 + i,
            .weight = i == 0 ? UINT64_MAX : 10000000,
            .state = i == 0 ? SFB_STATE_UNKNOWN : SFB_STATE_ASLEEP,
            .end = SFB_END,
            .call = i == 0 ? "" : "futex",
            .awaited = i < 2 ? 0 : (uint32_t)i - 1,
            .since = i == 2 ? 1000000002400 : 0,
            .holder = i == 2 ? 2 : 0,
            .holder_stack = i == 2 ? stack : 0,
            .waker = i == 2 ? 2 : 0,
            .waker_stack = i == 2 ? stack : 0,
            .waker_name = i == 3 ? "nginx (pid 4711)" : "",
        };

        remember(SFB_EVENT_WAIT)->of.wait = wait;
        MUST(sfb_recording_put_wait(w, &wait) == SFB_OK);
    }
    remember(SFB_EVENT_MARK)->of.mark = mark;
    MUST(sfb_recording_put_mark(w, &mark) == SFB_OK);
    for (size_t i = 0; i < 2; i++) {
        remember(SFB_EVENT_PAUSE)->of.pause = pauses[i];
        MUST(sfb_recording_put_pause(w, &pauses[i]) == SFB_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        remember(SFB_EVENT_LOSSES)->of.losses = losses[i];
        MUST(sfb_recording_put_losses(w, &losses[i]) == SFB_OK);
    }
}

static void put_end(struct sfb_recording_writer *w)
{
    static const struct sfb_recording_thread_end thread = { 2, 1000000003000, 5000, 4923 };
    static const struct sfb_recording_process_end process = { 2,    SFB_PROCESS_KILLED,
                                                              9,    1000000003001,
                                                              6000, 1000 };
    static const struct sfb_recording_file file = { 1, "perf-100.map", "401000 10 jit\n", 14 };

    remember(SFB_EVENT_THREAD_END)->of.thread_end = thread;
    MUST(sfb_recording_put_thread_end(w, &thread) == SFB_OK);
    remember(SFB_EVENT_PROCESS_END)->of.process_end = process;
    MUST(sfb_recording_put_process_end(w, &process) == SFB_OK);
    remember(SFB_EVENT_FILE)->of.file = file;
    MUST(sfb_recording_put_file(w, &file) == SFB_OK);
}

struct made made_all_kinds(const struct sfb_recording_packer *packer, int flush_each)
{
    static void (*const parts[])(struct sfb_recording_writer *) = { put_beginning, put_samples,
                                                                    put_codes, put_children,
                                                                    put_end };
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, packer, 0);
    struct sfb_recording_finish *finish;
    uint64_t samples = 0, weight = 0;

    made_event_count = 0;
    remember(SFB_EVENT_START)->of.start = start;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](w);
        if (flush_each)
            MUST(sfb_recording_writer_flush(w) == SFB_OK);
    }
    for (size_t i = 0; i < made_event_count; i++) {
        if (made_events[i].kind == SFB_EVENT_SAMPLE) {
            samples++;
            weight += made_events[i].of.sample.weight;
        }
    }
    finish = &remember(SFB_EVENT_FINISH)->of.finish;
    *finish = (struct sfb_recording_finish){ 1000000004000, samples, weight, "the program ended" };
    MUST(sfb_recording_writer_close(w, finish->time, finish->reason) == SFB_OK);
    return made_read(fd);
}

static void put_heap_site(struct sfb_recording_writer *w, struct sfb_recording_heap_site e)
{
    remember(SFB_EVENT_HEAP_SITE)->of.heap_site = e;
    MUST(sfb_recording_put_heap_site(w, &e) == SFB_OK);
}

static void put_heap_event(struct sfb_recording_writer *w, struct sfb_recording_heap_event e,
                           uint64_t shown)
{
    MUST(sfb_recording_put_heap_event(w, &e) == SFB_OK);
    e.time = shown; /* of the first event in its step */
    remember(SFB_EVENT_HEAP_EVENT)->of.heap_event = e;
}

static void put_heaps(struct sfb_recording_writer *w)
{
    static uint8_t cbf[64];
    uint32_t stack;

    put_beginning(w);
    put_process(w, (struct sfb_recording_process){ 2, 1, 101, 100, SFB_PROCESS_FORKED,
                                                   1000000001001, 0, "", "", 0 });
    put_thread(
        w, (struct sfb_recording_thread){ 2, 2, 101, SFB_ENGINE_NONE, 1000000001002, "child", 0 });
    for (uint32_t i = 1; i <= 2; i++) {
        const struct sfb_recording_heap heap = { i, i == 1 ? SFB_HEAP_MMAP : SFB_HEAP_AGGREGATE,
                                                 1000000001000 + i, i == 1 ? 0 : 524288 };

        remember(SFB_EVENT_HEAP)->of.heap = heap;
        MUST(sfb_recording_put_heap(w, &heap) == SFB_OK);
    }
    MUST(sfb_recording_put_stack(w, &stack, 1, cbf, made_stack(cbf, sizeof cbf, 0x401000, 1, 4)) ==
         SFB_OK);
    remember(SFB_EVENT_STACK)->of.stack =
        (struct sfb_recording_stack){ stack, 1, cbf, made_stack(cbf, sizeof cbf, 0x401000, 1, 4) };
    put_heap_site(w, (struct sfb_recording_heap_site){ 1, 1, stack, SFB_HEAP_MALLOC });
    put_heap_site(w, (struct sfb_recording_heap_site){ 2, 1, 0, SFB_HEAP_MAPPED });
    put_heap_site(w, (struct sfb_recording_heap_site){ 5, 2, 0, SFB_HEAP_MALLOC });
}

static void put_heap_events(struct sfb_recording_writer *w)
{
    const uint64_t t = 1000000010000;

    put_heap_event(w, (struct sfb_recording_heap_event){ 1, 2, t, 4096, false }, t);
    put_heap_event(w, (struct sfb_recording_heap_event){ 1, 1, t + 9999999, 0, false }, t);
    put_heap_event(w, (struct sfb_recording_heap_event){ 1, 1, t + 5, UINT64_MAX, false }, t);
    put_heap_event(w, (struct sfb_recording_heap_event){ 1, 1, t + 10000000, 0, true },
                   t + 10000000);
    put_heap_event(w, (struct sfb_recording_heap_event){ 1, 2, t + 9000000000, 4096, true },
                   t + 9000000000);
    put_heap_event(w, (struct sfb_recording_heap_event){ 1, 1, t + 8000000000, 77, true },
                   t + 9000000000);
    put_heap_event(w, (struct sfb_recording_heap_event){ 2, 5, t + 1, 16, false }, t + 1);
    put_heap_event(w, (struct sfb_recording_heap_event){ 2, 5, t + 2, 16, true }, t + 1);
}

static void put_heap_sums(struct sfb_recording_writer *w)
{
    static const struct sfb_recording_heap_totals totals[] = {
        { .site = 1,
          .time = 1000000020000,
          .allocated = { 2, UINT64_MAX, 2, 0, 0 },
          .live = { 1, 2, 3, 4, 5 },
          .peak = { 6, 7, 8, 9, 10 },
          .temporary = { 11, 12, 13, 14, 15 },
          .reallocated = 16,
          .longest_chain = 17,
          .freed_elsewhere = 18,
          .slack_bytes = 19,
          .live_slack_bytes = 20,
          .sizes = { [0] = 1, [SFB_HEAP_CLASSES - 1] = UINT64_MAX },
          .lifetimes = { [3] = 7 } },
        { .site = 5, .time = 1000000020001 },
    };
    static const struct sfb_recording_heap_state state = {
        1, 1000000020000, { 1, 2 }, { 3, 4 }, { 5, 6 }, 1000000010007, 8192, 7, 8, 9, 10
    };

    for (size_t i = 0; i < 2; i++) {
        remember(SFB_EVENT_HEAP_TOTALS)->of.heap_totals = totals[i];
        MUST(sfb_recording_put_heap_totals(w, &totals[i]) == SFB_OK);
    }
    remember(SFB_EVENT_HEAP_STATE)->of.heap_state = state;
    MUST(sfb_recording_put_heap_state(w, &state) == SFB_OK);
}

struct made made_heap(const struct sfb_recording_packer *packer)
{
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, packer, 0);
    static const struct sfb_recording_finish finish = { 1000000030000, 0, 0, "x" };

    made_event_count = 0;
    remember(SFB_EVENT_START)->of.start = start;
    put_heaps(w);
    put_heap_events(w);
    MUST(sfb_recording_writer_flush(w) == SFB_OK);
    put_heap_sums(w);
    remember(SFB_EVENT_FINISH)->of.finish = finish;
    MUST(sfb_recording_writer_close(w, finish.time, finish.reason) == SFB_OK);
    return made_read(fd);
}
