/* sfb report --diff LABELS LABELS RECORDING...: means of two groups, and errors that are computed here by hand. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/cbf.h"
#include "sfb/recording.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_groups, .init = folder_enter, .fini = folder_remove);

enum { BEGIN = 1000000000 };

/* Code of a process that names it: 0x1000 is hot, 0x2000 calls it, 0x3000 is the rest. */
static const char names[] = "1000 100 hot\n2000 100 caller\n3000 100 rest\n";

static void put_sample(struct sfb_recording_writer *writer, uint64_t pc, uint64_t caller,
                       uint64_t weight)
{
    struct sfb_recording_sample sample = { .thread = 1, .time = BEGIN + 1000, .weight = weight };
    struct sfb_cbf_encoder encoder;
    uint8_t cbf[64];

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc + 8), SFB_OK));
    if (caller)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, caller + 8), SFB_OK));
    cr_assert(eq(int,
                 sfb_recording_put_stack(writer, &sample.stack, 1, cbf,
                                         sfb_cbf_encoder_end(&encoder, false)),
                 SFB_OK));
    cr_assert(eq(int, sfb_recording_put_sample(writer, &sample), SFB_OK));
}

/* @param percent  of its CPU time in `hot`, which is as long as `scale` says */
static void record(const char *name, const char *label, uint64_t percent, uint64_t scale)
{
    const struct sfb_recording_start start = { .monotonic = BEGIN,
                                               .realtime = 1700000000000000000,
                                               .rate_hz = 97,
                                               .engine = SFB_ENGINE_TIMER,
                                               .engine_text = "",
                                               .version = "test",
                                               .host = "Linux machine",
                                               .command = "program",
                                               .command_size = 8,
                                               .labels = label,
                                               .labels_size = strlen(label) + 1 };
    const struct sfb_recording_process process = {
        .id = 1, .pid = 101, .time = BEGIN, .program = "/bin/program", .arguments = ""
    };
    const struct sfb_recording_thread thread = {
        .id = 1, .process = 1, .tid = 201, .time = BEGIN, .name = "worker"
    };
    const struct sfb_recording_file file = { 1, "perf-101.map", names, sizeof names - 1 };
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct sfb_recording_writer *writer;

    cr_assert(fd >= 0);
    cr_assert(eq(int, sfb_recording_writer_open(&writer, fd, &start, NULL), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process(writer, &process), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_thread(writer, &thread), SFB_OK));
    put_sample(writer, 0x1000, 0x2000, percent * scale);
    put_sample(writer, 0x3000, 0, (100 - percent) * scale);
    cr_assert(eq(int, sfb_recording_put_file(writer, &file), SFB_OK));
    cr_assert(
        eq(int, sfb_recording_writer_close(writer, BEGIN + 2000, "the program ended"), SFB_OK));
    close(fd);
}

static void record_all(void)
{
    record("a", "version=1.1", 20, 1000);
    record("b", "version=1.1", 30, 7000000);
    record("c", "version=1.1", 40, 50);
    record("d", "version=1.2", 50, 100000);
    record("e", "version=1.2", 60, 3);
    record("f", "version=1.3", 99, 1000);
}

static void expect_output(const char *line, const char *want)
{
    struct run run = run_line("SFB='%s'; %s 2>&1 | sed 's/  */ /g'", SFB_TOOL, line);

    run_expect_text(line, run.out, want);
    run_free(&run);
}

/* Old: 20, 30, 40: mean 30, s 10, n 3. New: 50, 60: mean 55, s 7.07, n 2. The error is sqrt(100/3 + 50/2) = 7.64. */
Test(report_groups, have_means_and_their_errors)
{
    record_all();
    expect_output("$SFB report --no-pager --top=0 --diff version=1.1 version=1.2 a b c d e f",
                  "sfb: report: --diff: 1 recording is of neither\n"
                  "shares of 3 old and 2 new recordings, their means\n"
                  " old % new % self \u00b1 total \u00b1 function (module)\n"
                  " 30.00 55.00 +25.00 7.64 +25.00 7.64 hot\n"
                  " 70.00 45.00 -25.00 7.64 -25.00 7.64 rest\n"
                  " 0.00 0.00 +0.00 0.00 +25.00 7.64 caller\n");
    expect_output(
        "$SFB report --no-pager --diff version=1.2 version=1.3 --by thread --top=1 a d e f",
        "sfb: report: --diff: 1 recording is of neither\n"
        "shares of 2 old and 1 new recordings, their means\n"
        " old % new % change \u00b1 thread\n"
        " 100.00 100.00 +0.00 ? worker\n");
}

Test(report_groups, need_recordings_and_labels)
{
    record_all();
    expect_output("$SFB report --diff version=1.1 version=9 a b c",
                  "sfb: report: --diff: no recording has version=9\n");
    expect_output("{ $SFB report --diff version=1.1 version=1.1 a d; echo $?; }",
                  "sfb: report: --diff: a has version=1.1 and version=1.1: old or new?\n2\n");
}

/* Files have both groups, too. */
Test(report_groups, are_in_files)
{
    record_all();
    expect_output("$SFB report --diff --rows version=1.1 version=1.2 a d e | grep -o "
                  "'\"group\":\"[a-z]*\"' | uniq -c",
                  " 2 \"group\":\"old\"\n 4 \"group\":\"new\"\n");
}
