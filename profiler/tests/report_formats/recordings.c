#include "profiler/tests/report_formats/recordings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "sfb/recording.h"
#include "sframe_backtrace.h"
#include "support/run.h"
#include "support/test.h"

static volatile int sink;

NOINLINE int formats_inner(int x)
{
    return sink += x;
}

NOINLINE int formats_outer(int x)
{
    sink++;
    return formats_inner(x) + 1;
}

uint64_t recordings_inside(int (*function)(int))
{
    return (uintptr_t)function + 1;
}

/* --- Recordings -------------------------------------------------------------------------------- */

static struct sfb_recording_writer *writer;

static struct sfb_recording_start start = { .monotonic = 1000000000,
                                            .realtime = 1700000000123000000,
                                            .rate_hz = 997,
                                            .engine = SFB_ENGINE_TIMER,
                                            .abi = SFB_ABI_AMD64_LE,
                                            .engine_text = "perf: refused",
                                            .version = "test",
                                            .host = "Linux machine 6.1",
                                            .command = "./pro\xffgram\0a\nb",
                                            .command_size = 15 };

static int begin(const char *name)
{
    const struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

    cr_assert(fd >= 0);
    cr_assert(eq(int, sfb_recording_writer_open(&writer, fd, &start, &options), SFB_OK));
    return fd;
}

static void end(int fd)
{
    cr_assert(eq(int, sfb_recording_writer_close(writer, 3500000000, "the program ended"), SFB_OK));
    close(fd);
}

static void put_process(uint32_t id, const char *program)
{
    const struct sfb_recording_process process = {
        .id = id, .pid = 100 + id, .time = start.monotonic, .program = program, .arguments = ""
    };

    cr_assert(eq(int, sfb_recording_put_process(writer, &process), SFB_OK));
}

static void put_thread(uint32_t id, uint32_t process, const char *name)
{
    const struct sfb_recording_thread thread = { .id = id,
                                                 .process = process,
                                                 .tid = 200 + id,
                                                 .engine = SFB_ENGINE_TIMER,
                                                 .time = start.monotonic,
                                                 .name = name };

    cr_assert(eq(int, sfb_recording_put_thread(writer, &thread), SFB_OK));
}

static void put_own_modules(uint32_t process)
{
    static uint8_t map[1 << 16];
    const ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);
    const struct sfb_recording_modules modules = { process, start.monotonic, map, (size_t)size };

    cr_assert(lt(i64, 0, size));
    cr_assert(eq(int, sfb_recording_put_modules(writer, &modules), SFB_OK));
}

static uint32_t put_stack(uint32_t process, uint64_t pc, const uint64_t *callers, size_t count,
                          bool truncated)
{
    uint8_t cbf[256];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc), SFB_OK));
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, callers[i]), SFB_OK));
    cr_assert(eq(int,
                 sfb_recording_put_stack(writer, &id, process, cbf,
                                         sfb_cbf_encoder_end(&encoder, truncated)),
                 SFB_OK));
    return id;
}

static void put_sample(uint32_t thread, uint32_t stack, uint64_t time, uint64_t weight)
{
    const struct sfb_recording_sample sample = { thread,           stack,  time, weight,
                                                 SFB_ENGINE_TIMER, SFB_END };

    cr_assert(eq(int, sfb_recording_put_sample(writer, &sample), SFB_OK));
}

char *recordings_program(void)
{
    static char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);

    cr_assert(lt(i64, 0, size));
    path[size] = '\0';
    return path;
}

void recordings_known(const char *name, uint64_t more)
{
    const uint64_t callers[] = { recordings_inside(formats_outer) + 1,
                                 recordings_inside(formats_outer) + 1 };
    const struct sfb_recording_thread_end gone = { 2, 3000000000, 5000000, 1000000 };
    const struct sfb_recording_process_end left = { 1,          SFB_PROCESS_EXITED, 0,
                                                    3000000000, 20000000,           500000 };
    const int fd = begin(name);
    uint32_t whole, cut;

    put_process(1, recordings_program());
    put_thread(1, 1, "main");
    put_own_modules(1);
    put_thread(2, 1,
               "f\xc3\xa4"
               "den");
    whole = put_stack(1, recordings_inside(formats_inner), callers, 2, false);
    cut = put_stack(1, recordings_inside(formats_outer), NULL, 0, true);
    put_sample(1, whole, 1600000000, 4000000 + more);
    put_sample(1, whole, 1500000000, 6000000);
    put_sample(2, 0, 1800000000, 2500000);
    put_sample(2, cut, 1700000000, 2000000);
    cr_assert(eq(int, sfb_recording_put_thread_end(writer, &gone), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process_end(writer, &left), SFB_OK));
    end(fd);
}

void recordings_known_later(const char *name, uint64_t ns)
{
    start.realtime += ns;
    recordings_known(name, 0);
    start.realtime -= ns;
}

void recordings_known_labels(const char *name, const char *labels, size_t size)
{
    start.labels = labels;
    start.labels_size = size;
    recordings_known(name, 0);
    start.labels = NULL;
    start.labels_size = 0;
}

void recordings_hostile(const char *name)
{
    static char text[20100];
    const struct sfb_recording_file file = { 1, "perf-101.map", text, sizeof text - 1 };
    const int fd = begin(name);

    memset(text, 'x', sizeof text - 1);
    memcpy(text, "7000 100 " HOSTILE "\n8000 100 ", sizeof "7000 100 " HOSTILE "\n8000 100 " - 1);
    memcpy(text + 10100, "\n9000 100 ", 10);
    put_process(1, "/bin/" HOSTILE);
    put_process(2, "/bin/other");
    put_thread(1, 1, HOSTILE);
    put_thread(2, 2, "");
    for (uint64_t at = 0x7010; at < 0xa000; at += 0x1000)
        put_sample(1, put_stack(1, at, NULL, 0, false), 1500000000, 1000000);
    put_sample(2, put_stack(2, UINT64_MAX - 5, NULL, 0, false), 1500000000, UINT32_MAX);
    cr_assert(eq(int, sfb_recording_put_file(writer, &file), SFB_OK));
    end(fd);
}

void recordings_report(const char *options)
{
    struct run run = run_line("'%s' report %s", SFB_TOOL, options);

    cr_assert(eq(int, run.status, 0), "%s: %s", options, run.err);
    run_expect_text(options, run.err, "");
    run_free(&run);
}

void recordings_expect_text(const char *got, const char *want)
{
    cr_expect(got && strcmp(got, want) == 0, "'%s', not '%s'", got, want);
}

/* --- What sfb report makes of them ------------------------------------------------------------- */

struct pprof_file recordings_pprof(const char *name)
{
    static char packed[1 << 20];
    struct pprof_file file;
    FILE *from = fopen(name, "rb");
    size_t size;

    cr_assert(from != NULL, "%s", name);
    size = fread(packed, 1, sizeof packed, from);
    fclose(from);
    cr_assert(pprof_read(&file, packed, size), "%s: %s", name, file.fault);
    return file;
}

json_t *recordings_json(const char *name)
{
    json_error_t error;
    json_t *json = json_load_file(name, 0, &error);

    cr_assert(json != NULL, "%s: line %d, column %d: %s", name, error.line, error.column,
              error.text);
    return json;
}

size_t recordings_rows(const char *name, json_t **out, size_t room)
{
    FILE *from = fopen(name, "r");
    char *line = NULL;
    size_t size = 0, count = 0;

    cr_assert(from != NULL);
    while (getline(&line, &size, from) > 0) {
        json_error_t error;

        cr_assert(lt(sz, count, room));
        out[count] = json_loads(line, 0, &error);
        cr_assert(out[count] != NULL, "%s: %s", error.text, line);
        count++;
    }
    free(line);
    fclose(from);
    return count;
}

void recordings_free_rows(json_t **rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_decref(rows[i]);
}

void recordings_empty(const char *name)
{
    end(begin(name));
}
