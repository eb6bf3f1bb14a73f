#include "profiler/collector/live/heap_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/base_name.h"

static bool keep(struct heap_recording *r, enum sfb_status status)
{
    if (r->status == SFB_OK)
        r->status = status;
    return status == SFB_OK;
}

static bool open_writer(struct heap_recording *r, const uint64_t *numbers, const char *path)
{
    struct sfb_recording_writer_options how = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct utsname host;
    const struct sfb_recording_start start = {
        .monotonic = numbers[SFB_LIVE_BEGIN_MONOTONIC],
        .realtime = numbers[SFB_LIVE_BEGIN_REALTIME],
        .engine = SFB_ENGINE_NONE,
        .recorder_pid = (uint32_t)getpid(),
        .abi = (uint32_t)numbers[SFB_LIVE_BEGIN_ABI],
        .engine_text = "a dump of a live table",
        .version = "sfb ctl",
        .host = uname(&host) == 0 ? host.nodename : "",
        .command = path,
        .command_size = strlen(path) + 1,
    };

    how.packer = &sfb_recording_zstd;
    return keep(r, sfb_recording_writer_open(&r->writer, r->fd, &start, &how));
}

static bool begin(void *user, const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *text)
{
    struct heap_recording *r = user;
    const uint64_t level = numbers[SFB_LIVE_BEGIN_LEVEL_MOST];
    char path[SFB_LIVE_TEXT + 1];

    snprintf(path, sizeof path, "%.*s", (int)numbers[SFB_LIVE_BEGIN_PATH_SIZE], text);
    if (!r->writer && !open_writer(r, numbers, path))
        return false;
    if (r->time < numbers[SFB_LIVE_BEGIN_MONOTONIC])
        r->time = numbers[SFB_LIVE_BEGIN_MONOTONIC];
    r->process++;
    r->rate = level > 0 && level <= SFB_LIVE_LEVELS ? SFB_LIVE_RATE(level) : 0;
    {
        const struct sfb_recording_process process = {
            .id = r->process,
            .pid = (uint32_t)numbers[SFB_LIVE_BEGIN_PID],
            .how = SFB_PROCESS_STARTED,
            .time = r->time,
            .program = path,
            .arguments = "",
        };
        const struct sfb_recording_heap heap = { r->process, SFB_HEAP_LIVE, r->time, r->rate };
        const struct sfb_recording_thread thread = {
            .id = r->process,
            .process = r->process,
            .tid = process.pid,
            .engine = SFB_ENGINE_NONE,
            .time = r->time,
            .name = sfb_base_name(path),
        };

        return keep(r, sfb_recording_put_process(r->writer, &process)) &&
               keep(r, sfb_recording_put_heap(r->writer, &heap)) &&
               keep(r, sfb_recording_put_thread(r->writer, &thread));
    }
}

/* The same addresses may be other code by now. */
static bool list(void *user, uint64_t number, uint64_t time, const void *map, size_t size)
{
    struct heap_recording *r = user;
    const struct sfb_recording_modules modules = { r->process, ++r->time, map, size };

    (void)number;
    (void)time;
    sfb_recording_forget_stacks(r->writer, r->process);
    return size == 0 || keep(r, sfb_recording_put_modules(r->writer, &modules));
}

/* The table was full: sfb_live_visit() gives an empty backtrace for such blocks. */
static bool is_no_stack(const void *cbf, size_t size)
{
    static const uint8_t empty[] = { 0x02, 0x01 };

    return size == sizeof empty && memcmp(cbf, empty, size) == 0;
}

/* Bytes that are no CBF are a fault of the table, not of the file: the site gets no stack. */
static bool stack(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    struct heap_recording *r = user;
    struct sfb_recording_heap_totals totals = {
        .time = r->time,
        .live = { numbers[SFB_LIVE_STACK_BLOCKS], numbers[SFB_LIVE_STACK_BYTES],
                  numbers[SFB_LIVE_STACK_SAMPLES] ? numbers[SFB_LIVE_STACK_SAMPLES]
                                                  : numbers[SFB_LIVE_STACK_BLOCKS],
                  numbers[SFB_LIVE_STACK_BLOCKS_VARIANCE], numbers[SFB_LIVE_STACK_BYTES_VARIANCE] },
        .overruns = numbers[SFB_LIVE_STACK_OVERRUNS],
        .overruns_freed = numbers[SFB_LIVE_STACK_OVERRUNS_FREED],
    };
    struct sfb_recording_heap_site site = { .thread = r->process, .kind = SFB_HEAP_MALLOC };
    const enum sfb_status status =
        sfb_recording_put_stack(r->writer, &site.stack, r->process, cbf, size);

    if (status == SFB_BAD_ARGUMENT || is_no_stack(cbf, size))
        site.stack = 0;
    else if (status != SFB_OK)
        return keep(r, status);
    site.id = totals.site = ++r->site;
    return keep(r, sfb_recording_put_heap_site(r->writer, &site)) &&
           keep(r, sfb_recording_put_heap_totals(r->writer, &totals));
}

static bool lose(struct heap_recording *r, uint32_t reason, uint64_t count, const char *text)
{
    const struct sfb_recording_losses losses = {
        .reason = reason, .process = r->process, .count = count, .text = text
    };

    return count == 0 || keep(r, sfb_recording_put_losses(r->writer, &losses));
}

static bool end(void *user, const uint64_t n[SFB_LIVE_END_NUMBERS])
{
    struct heap_recording *r = user;
    const struct sfb_recording_heap_state state = {
        .process = r->process,
        .time = r->time,
        .live = { n[SFB_LIVE_END_BLOCKS], n[SFB_LIVE_END_BYTES] },
        .allocated = { n[SFB_LIVE_END_BLOCKS], n[SFB_LIVE_END_BYTES] },
        .peak = { n[SFB_LIVE_END_BLOCKS], n[SFB_LIVE_END_BYTES] },
        .peak_time = r->time,
        .unknown_frees = n[SFB_LIVE_END_FOREIGN] + n[SFB_LIVE_END_UNIDENTIFIED],
        .conflicts = n[SFB_LIVE_END_BAD],
    };
    const struct sfb_recording_process_end process = { .id = r->process,
                                                       .end = SFB_PROCESS_LEFT,
                                                       .time = r->time };

    r->no_stack += n[SFB_LIVE_END_NO_STACK];
    return keep(r, sfb_recording_put_heap_state(r->writer, &state)) &&
           lose(r, SFB_LOSS_HEAP_EVENTS, n[SFB_LIVE_END_NO_SLOT],
                "the live table was full: a larger SFB_HEAP_LIVE helps") &&
           lose(r, SFB_LOSS_MODULES, n[SFB_LIVE_END_NO_LIST], "") &&
           lose(r, SFB_LOSS_HEAP_UNSEEN, n[SFB_LIVE_END_UNSEEN], "") &&
           keep(r, sfb_recording_put_process_end(r->writer, &process));
}

void heap_recording_begin(struct heap_recording *out, int fd, struct sfb_live_visitor *visitor)
{
    *out = (struct heap_recording){ .fd = fd, .status = SFB_OK };
    *visitor = (struct sfb_live_visitor){
        .user = out, .begin = begin, .list = list, .stack = stack, .end = end
    };
}

enum sfb_status heap_recording_end(struct heap_recording *r)
{
    char text[160] = "a dump of what lives";
    enum sfb_status status;

    if (!r->writer)
        return r->status == SFB_OK ? SFB_BAD_ARGUMENT : r->status;
    if (r->no_stack > 0)
        snprintf(text, sizeof text,
                 "a dump of what lives. The table of stacks was full: %" PRIu64
                 " blocks were recorded without a stack. A larger SFB_HEAP_LIVE helps",
                 r->no_stack);
    status = sfb_recording_writer_close(r->writer, r->time, text);
    r->writer = NULL;
    return r->status == SFB_OK ? status : r->status;
}
