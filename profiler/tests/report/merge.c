/*
 * sfb merge: the report of the merged recording is that of its inputs together, wherever their modules were loaded. Code that a
 * process made is found again by its name.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "sfb/recording.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_merge, .init = folder_enter, .fini = folder_remove);

static struct run expect_run(int status, const char *line)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_assert(eq(int, run.status, status), "%s: status %d:\n%s%s", line, run.status, run.out,
              run.err);
    return run;
}

static void expect_output(const char *line, const char *want)
{
    struct run run = expect_run(0, line);

    run_expect_text(line, run.out, want);
    run_free(&run);
}

/* --- Inputs ------------------------------------------------------------------------------------ */

enum { BEGIN = 1000000000 };

static struct sfb_recording_writer *writer;

static int begin(const char *name)
{
    const struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    const struct sfb_recording_start start = { .monotonic = BEGIN,
                                               .realtime = 1700000000000000000,
                                               .rate_hz = 997,
                                               .engine = SFB_ENGINE_TIMER,
                                               .engine_text = "",
                                               .version = "test",
                                               .host = "Linux machine",
                                               .command = "program",
                                               .command_size = 8 };
    const struct sfb_recording_process process = {
        .id = 1, .pid = 101, .time = BEGIN, .program = "/bin/program", .arguments = ""
    };
    const struct sfb_recording_thread thread = { .id = 1,
                                                 .process = 1,
                                                 .tid = 201,
                                                 .engine = SFB_ENGINE_TIMER,
                                                 .time = BEGIN,
                                                 .name = "worker" };
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    cr_assert(fd >= 0);
    cr_assert(eq(int, sfb_recording_writer_open(&writer, fd, &start, &options), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process(writer, &process), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_thread(writer, &thread), SFB_OK));
    return fd;
}

static void put_module(uint64_t base)
{
    static uint8_t map[256];
    static const uint8_t id[4] = { 1, 2, 3, 4 };
    struct sfb_image_map_encoder encoder;
    const struct sfb_image image = { .base = base,
                                     .end_of_text = base + 0x3000,
                                     .path = "/not/here.so",
                                     .path_size = 12,
                                     .build_id = id,
                                     .build_id_size = 4 };
    struct sfb_recording_modules modules = { 1, BEGIN, map, 0 };

    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    modules.size = sfb_image_map_encoder_end(&encoder);
    cr_assert(eq(int, sfb_recording_put_modules(writer, &modules), SFB_OK));
}

static void put_sample(uint64_t weight, uint64_t pc, uint64_t caller, size_t depth)
{
    uint8_t cbf[128];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc), SFB_OK));
    for (size_t i = 0; i < depth; i++)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, caller), SFB_OK));
    cr_assert(eq(int,
                 sfb_recording_put_stack(writer, &id, 1, cbf, sfb_cbf_encoder_end(&encoder, false)),
                 SFB_OK));
    const struct sfb_recording_sample sample = {
        1, id, BEGIN + 1000000, weight, SFB_ENGINE_TIMER, SFB_END
    };

    cr_assert(eq(int, sfb_recording_put_sample(writer, &sample), SFB_OK));
}

/* A process of a module at a base: 3 ms in it, 2 ms in code that it made at another address each time, 1 ms in no code. */
static void record(const char *name, uint64_t base)
{
    const uint64_t made = 0x7000000 + base % 0x1000000;
    char text[64];
    const struct sfb_recording_file file = {
        1, "perf-101.map", text,
        (size_t)snprintf(text, sizeof text, "%lx 100 jitted code\n", (unsigned long)made)
    };

    const int fd = begin(name);

    put_module(base);
    put_sample(3000000, base + 0x1000, base + 0x2000, 3);
    put_sample(2000000, made + 8, base + 0x3000, 1);
    put_sample(1000000, 0x123000, base + 0x3000, 1);
    cr_assert(eq(int, sfb_recording_put_file(writer, &file), SFB_OK));
    cr_assert(
        eq(int, sfb_recording_writer_close(writer, BEGIN + 2000000, "the program ended"), SFB_OK));
    close(fd);
}

/* The second one's module stands where the first one's library would be. */
static void record_all(void)
{
    record("a", 0x10000000);
    record("b", 0x10001000);
    record("c", 0x7f0000001000);
}

#define TOP " --unit ns --top=0 --no-pager"

/* --- Tests ------------------------------------------------------------------------------------- */

Test(report_merge, reports_as_its_inputs_do)
{
    struct run run;

    record_all();
    run = expect_run(0, "$SFB merge -o m a b c");
    run_expect_text("complaints", run.err, "");
    run_free(&run);
    expect_output("$SFB report" TOP " m | head -4 | sed 's/  */ /g'",
                  " self (ns) self % total (ns) total % function (module)\n"
                  " 9000000 50.00 9000000 50.00 [0x1000] (here.so)\n"
                  " 6000000 33.33 6000000 33.33 jitted code\n"
                  " 3000000 16.67 3000000 16.67 [0x500000123000]\n");
    expect_output("$SFB report" TOP " a b c | grep here.so >t; $SFB report" TOP
                  " m | grep here.so | diff t -",
                  "");
    expect_output("$SFB report --threads m | tail -n +2 | sed 's/  */ /g'",
                  " 18.000 100.00 9 0.00 1 worker (program 1)\n");
    /* A stack is there once, wherever it was. */
    expect_output("$SFB report --check m | grep -oE '[0-9]+ samples, [0-9]+ stacks'",
                  "9 samples, 3 stacks\n");
}

Test(report_merge, keeps_labels_that_all_have)
{
    struct run run;

    record_all();
    run = expect_run(
        0, "$SFB merge --label zone=z -o m a b && $SFB merge --label zone=z,x=y -o n c && "
           "$SFB merge -o o m n && $SFB report o | grep labels");
    run_expect_text("labels", run.out, "  labels: zone=z\n");
    cr_expect(strstr(run.err, "labels that are not the same in all recordings are left out") !=
                  NULL,
              "%s", run.err);
    run_free(&run);
}

Test(report_merge, leaves_out_what_is_no_recording)
{
    struct run run;

    record_all();
    run =
        expect_run(1, "echo no >no; $SFB merge -o m a no b missing; x=$?; $SFB report --check m | "
                      "grep -oE '[0-9]+ samples'; exit $x");
    run_expect_text("samples", run.out, "6 samples\n");
    cr_expect(strstr(run.err, "no: no recording") != NULL, "%s", run.err);
    cr_expect(strstr(run.err, "missing: No such file") != NULL, "%s", run.err);
    run_free(&run);
    run = expect_run(2, "$SFB merge -o a b c");
    cr_expect(strstr(run.err, "a exists; -f overwrites it") != NULL, "%s", run.err);
    run_free(&run);
}

/* A process of which no stack was taken has no modules in the result: that is no loss. */
Test(report_merge, loses_nothing_where_there_is_nothing)
{
    const int fd = begin("a");
    struct run run;

    put_sample(1000000, 0x123000, 0x124000, 1);
    cr_assert(
        eq(int, sfb_recording_writer_close(writer, BEGIN + 2000000, "the program ended"), SFB_OK));
    close(fd);
    run = expect_run(0, "$SFB merge -o m a && $SFB report --check m | grep -c -e lost -e whole");
    run_expect_text("lines of losses, and whole", run.out, "1\n");
    run_free(&run);
}

Test(report_merge, makes_one_of_hundreds)
{
    record_all();
    expect_output("i=0; while [ $i -lt 100 ]; do ln a x$i; ln b y$i; ln c z$i; i=$((i+1)); done\n"
                  "$SFB merge -o many x* y* z*\n"
                  "$SFB report --check many | grep -oE '[0-9]+ samples, [0-9]+ stacks'",
                  "900 samples, 3 stacks\n");
}
