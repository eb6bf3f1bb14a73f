/*
 * A file as the live table of a process, written as lines of a log, and these read back; and any bytes as such a log. Nothing
 * of either is believed, and what was written is what is read.
 */
#include "fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/live/heap_log.h"
#include "profiler/collector/live/heap_recording.h"
#include "profiler/collector/live/live_map.h"
#include "profiler/protocol/live_write.h"

struct text {
    char *at;
    size_t size, room;
};

static bool put(void *user, const char *lines, size_t size)
{
    struct text *t = user;

    if (t->room - t->size < size) {
        t->room = 2 * (t->room + size);
        t->at = realloc(t->at, t->room);
        FUZZ_CHECK(t->at);
    }
    memcpy(t->at + t->size, lines, size);
    t->size += size;
    return true;
}

static void take_report(void *user, enum reported kind, const char *line)
{
    (void)user;
    FUZZ_CHECK(kind == REPORTED_BAD_DATA && strlen(line) < REPORTER_LINE);
}

/* What a log has is a recording that can be written, whatever it says. */
static void read_log(const void *text, size_t size)
{
    struct input input = { .name = "log", .size = size };
    const struct reporter reporter = { .take = take_report };
    struct heap_recording recording;
    struct sfb_live_visitor visitor;
    struct heap_log *log;

    input.data = malloc(size > 0 ? size : 1);
    FUZZ_CHECK(input.data);
    memcpy(input.data, text, size);
    if (heap_log_is_in(&input)) {
        const int fd = memfd_create("recording", MFD_CLOEXEC);

        log = heap_log_read(&input, &reporter);
        FUZZ_CHECK(log && fd >= 0);
        heap_recording_begin(&recording, fd, &visitor);
        heap_log_visit(log, &visitor);
        heap_recording_end(&recording);
        heap_log_free(log);
        close(fd);
    }
    free(input.data);
}

struct told {
    uint64_t stacks, blocks;
};

static bool count(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    struct told *t = user;

    FUZZ_CHECK(size > 0 && size <= SFB_LIVE_CBF_MAX && cbf);
    t->stacks++;
    t->blocks += numbers[SFB_LIVE_STACK_BLOCKS];
    return true;
}

static bool compare(void *user, const uint64_t numbers[SFB_LIVE_END_NUMBERS])
{
    const struct told *t = user;

    FUZZ_CHECK(numbers[SFB_LIVE_END_STACKS] == t->stacks);
    return true;
}

static void read_map(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("map", MFD_CLOEXEC);
    struct live_map map;
    char path[32];

    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (live_map_open(&map, path) == NULL) {
        if (live_map_read(&map) == NULL) {
            static struct sfb_live_write writer;
            struct told told = { 0, 0 };
            struct text text = { NULL, 0, 0 };
            struct sfb_live_visitor visitor = { .user = &told, .stack = count, .end = compare };

            FUZZ_CHECK(sfb_live_visit(&map.view, &map.sum, NULL, 1, 2, &visitor));
            sfb_live_write_begin(&writer, put, &text, &visitor);
            FUZZ_CHECK(sfb_live_visit(&map.view, &map.sum, NULL, 1, 2, &visitor) &&
                       sfb_live_write_flush(&writer));
            read_log(text.at, text.size);
            free(text.at);
        }
        live_map_close(&map);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= sizeof SFB_LIVE_MAGIC && memcmp(data, SFB_LIVE_MAGIC, sizeof SFB_LIVE_MAGIC) == 0)
        read_map(data, size);
    else
        read_log(data, size);
    return 0;
}
