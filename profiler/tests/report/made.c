#include "profiler/tests/report/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "support/run.h"
#include "support/test.h"

static volatile int sink;

NOINLINE int report_inner(int x)
{
    return sink += x;
}

NOINLINE int report_outer(int x)
{
    sink++;
    return report_inner(x) + 1;
}

NOINLINE int report_long(int x)
{
    sink += x;
    __asm__ volatile(".rept 2000\n\tnop\n\t.endr");
    return sink;
}

/* Another one is in views.c. */
NOINLINE static int namesake(int x)
{
    return sink -= x;
}

int (*made_namesake(void))(int)
{
    return namesake;
}

static uintptr_t seen;

/* Keeps the address that it returns to: that is in what was inlined into its caller. */
NOINLINE static void see_caller(void)
{
    seen = (uintptr_t)__builtin_return_address(0);
}

__attribute__((always_inline)) static inline int report_inlined(int x)
{
    see_caller();
    return sink += x;
}

NOINLINE int report_host(int x)
{
    return report_inlined(x) + 1;
}

uint64_t made_inside_inlined(void)
{
    report_host(1);
    return seen;
}

char made_path[] = "/tmp/sfb-report-XXXXXX";
struct sfb_recording_writer *made_writer;
static int fd;

const struct sfb_recording_start made_start = { .monotonic = 1000000000,
                                                .realtime = 1700000000000000000,
                                                .tick_ns = 4000000,
                                                .rate_hz = 997,
                                                .engine = SFB_ENGINE_TIMER,
                                                .recorder_pid = 7,
                                                .abi = SFB_ABI_AMD64_LE,
                                                .engine_text = "perf: refused",
                                                .version = "test",
                                                .host = "host",
                                                .command = "./program\0a\x1b[2Jb",
                                                .command_size = 17 };

void made_process(uint32_t id)
{
    const struct sfb_recording_process process = { .id = id,
                                                   .pid = 100 + id,
                                                   .time = made_start.monotonic,
                                                   .program = "/bin/program",
                                                   .arguments = "program",
                                                   .arguments_size = 8 };

    cr_assert(eq(int, sfb_recording_put_process(made_writer, &process), SFB_OK));
}

void made_thread(uint32_t id, uint32_t process, const char *name)
{
    const struct sfb_recording_thread thread = { .id = id,
                                                 .process = process,
                                                 .tid = 200 + id,
                                                 .engine = SFB_ENGINE_TIMER,
                                                 .time = made_start.monotonic,
                                                 .name = name };

    cr_assert(eq(int, sfb_recording_put_thread(made_writer, &thread), SFB_OK));
}

void made_begin_as(const struct sfb_recording_start *start)
{
    const struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;

    strcpy(made_path + sizeof made_path - 7, "XXXXXX");
    fd = mkstemp(made_path);
    cr_assert(fd >= 0);
    cr_assert(eq(int, sfb_recording_writer_open(&made_writer, fd, start, &options), SFB_OK));
}

void made_begin(void)
{
    made_begin_as(&made_start);
    made_process(1);
    made_thread(1, 1, "main");
}

void made_end(const char *reason)
{
    cr_assert(eq(int, sfb_recording_writer_close(made_writer, 3500000000, reason), SFB_OK));
    close(fd);
}

void made_modules(uint64_t time, const void *map, size_t size)
{
    const struct sfb_recording_modules modules = { 1, time, map, size };

    cr_assert(eq(int, sfb_recording_put_modules(made_writer, &modules), SFB_OK));
}

/* Those of this process. */
void made_own_modules(void)
{
    static uint8_t map[1 << 16];
    const ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);

    cr_assert(lt(i64, 0, size));
    made_modules(made_start.monotonic, map, (size_t)size);
}

uint64_t made_inside(int (*function)(int))
{
    return (uintptr_t)function + 1;
}

/* A pc in one function, called from others. @return its id */
uint32_t made_stack(uint64_t pc, const uint64_t *callers, size_t count, bool truncated)
{
    uint8_t cbf[256];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc), SFB_OK));
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, callers[i]), SFB_OK));
    cr_assert(eq(
        int,
        sfb_recording_put_stack(made_writer, &id, 1, cbf, sfb_cbf_encoder_end(&encoder, truncated)),
        SFB_OK));
    return id;
}

void made_sample(uint32_t thread, uint32_t stack, uint64_t time, uint64_t weight,
                 enum sfb_status how)
{
    const struct sfb_recording_sample sample = {
        thread, stack, time, weight, SFB_ENGINE_TIMER, how
    };

    cr_assert(eq(int, sfb_recording_put_sample(made_writer, &sample), SFB_OK));
}

void made_awaited(uint32_t id, uint32_t kind, uint64_t address, uint64_t start, const char *name)
{
    const struct sfb_recording_awaited awaited = { id, 1, kind, address, start, name };

    cr_assert(eq(int, sfb_recording_put_awaited(made_writer, &awaited), SFB_OK));
}

void made_wait(struct sfb_recording_wait wait)
{
    wait.time += made_start.monotonic;
    wait.since += wait.since > 0 ? made_start.monotonic : 0;
    wait.end = SFB_END;
    cr_assert(eq(int, sfb_recording_put_wait(made_writer, &wait), SFB_OK));
}

void made_all(const char *reason)
{
    const uint64_t callers[] = { made_inside(report_outer) + 1, made_inside(report_outer) + 1 };
    const struct sfb_recording_thread_end gone = { 2, 3000000000, 5000000, 1000000 };
    const struct sfb_recording_process_end left = { 1,          SFB_PROCESS_EXITED, 0,
                                                    3000000000, 20000000,           500000 };
    const struct sfb_recording_losses lost = { SFB_LOSS_RING_FULL, 1, 1, 3, "" },
                                      more = { SFB_LOSS_RING_FULL, 1, 1, 4, "" };
    uint32_t whole, cut;

    made_begin();
    made_own_modules();
    made_thread(2, 1, "wor;k\n");
    whole = made_stack(made_inside(report_inner), callers, 2, false);
    cut = made_stack(made_inside(report_outer), NULL, 0, true);
    made_sample(1, whole, 1500000000, 6000000, SFB_END);
    made_sample(1, whole, 1600000000, 4000000, SFB_END);
    made_sample(2, cut, 1700000000, 2000000, SFB_NO_CFI);
    made_sample(2, 0, 1800000000, 2500000, SFB_NO_RESOURCE);
    cr_assert(eq(int, sfb_recording_put_losses(made_writer, &lost), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_losses(made_writer, &more), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_thread_end(made_writer, &gone), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process_end(made_writer, &left), SFB_OK));
    made_end(reason);
}

void made_hide_lines(char *text)
{
    static const char file[] = "made.c:";

    for (char *at = text; (at = strstr(at, file)) != NULL;) {
        const size_t digits = strspn(at += sizeof file - 1, "0123456789");

        if (digits == 0)
            continue;
        *at = 'N';
        memmove(at + 1, at + digits, strlen(at + digits) + 1);
    }
}

void made_expect(int status, const char *options, const char *want_out, const char *want_err)
{
    struct run run = run_line("TZ=UTC '%s' report %s %s", SFB_TOOL, options, made_path);

    cr_expect(eq(int, run.status, status), "%s: %s", options, run.err);
    made_hide_lines(run.out);
    run_expect_text(options, run.out, want_out);
    if (want_err)
        cr_expect(strstr(run.err, want_err) != NULL, "%s: %s", options, run.err);
    run_free(&run);
}
