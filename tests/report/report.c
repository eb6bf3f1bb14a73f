/* sfb report, on recordings that are written here: each figure is known. */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "sfb/recording.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/run.h"
#include "support/test.h"

static volatile int sink;

/* Functions that stacks are made of; nobody calls them. */
NOINLINE int report_inner(int x);
NOINLINE int report_outer(int x);

NOINLINE int report_inner(int x)
{
    return sink += x;
}

NOINLINE int report_outer(int x)
{
    sink++;
    return report_inner(x) + 1;
}

static char path[] = "/tmp/sfb-report-XXXXXX";
static struct sfb_recording_writer *writer;
static int fd;

static const struct sfb_recording_start start = { .monotonic = 1000000000,
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

static void put_process(uint32_t id)
{
    const struct sfb_recording_process process = { .id = id,
                                                   .pid = 100 + id,
                                                   .time = start.monotonic,
                                                   .program = "/bin/program",
                                                   .arguments = "program",
                                                   .arguments_size = 8 };

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

static void begin(void)
{
    const struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;

    strcpy(path + sizeof path - 7, "XXXXXX");
    fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert(eq(int, sfb_recording_writer_open(&writer, fd, &start, &options), SFB_OK));
    put_process(1);
    put_thread(1, 1, "main");
}

static void end(const char *reason)
{
    cr_assert(eq(int, sfb_recording_writer_close(writer, 3500000000, reason), SFB_OK));
    close(fd);
}

static void put_modules(uint64_t time, const void *map, size_t size)
{
    const struct sfb_recording_modules modules = { 1, time, map, size };

    cr_assert(eq(int, sfb_recording_put_modules(writer, &modules), SFB_OK));
}

/* Those of this process. */
static void put_own_modules(void)
{
    static uint8_t map[1 << 16];
    const ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);

    cr_assert(lt(i64, 0, size));
    put_modules(start.monotonic, map, (size_t)size);
}

static uint64_t inside(int (*function)(int))
{
    return (uintptr_t)function + 1;
}

/* A pc in one function, called from others. @return its id */
static uint32_t put_stack(uint64_t pc, const uint64_t *callers, size_t count, bool truncated)
{
    uint8_t cbf[256];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc), SFB_OK));
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, callers[i]), SFB_OK));
    cr_assert(eq(
        int, sfb_recording_put_stack(writer, &id, 1, cbf, sfb_cbf_encoder_end(&encoder, truncated)),
        SFB_OK));
    return id;
}

static void put_sample(uint32_t thread, uint32_t stack, uint64_t time, uint64_t weight,
                       enum sfb_status how)
{
    const struct sfb_recording_sample sample = {
        thread, stack, time, weight, SFB_ENGINE_TIMER, how
    };

    cr_assert(eq(int, sfb_recording_put_sample(writer, &sample), SFB_OK));
}

static void expect(int status, const char *options, const char *want_out, const char *want_err)
{
    struct run run = run_line("TZ=UTC '%s' report %s %s", SFB_TOOL, options, path);

    cr_expect(eq(int, run.status, status), "%s: %s", options, run.err);
    run_expect_text(options, run.out, want_out);
    if (want_err)
        cr_expect(strstr(run.err, want_err) != NULL, "%s: %s", options, run.err);
    run_free(&run);
}

/* --- What is in it ----------------------------------------------------------------------------- */

static void write_all(const char *reason)
{
    const uint64_t callers[] = { inside(report_outer) + 1, inside(report_outer) + 1 };
    const struct sfb_recording_thread_end gone = { 2, 3000000000, 5000000, 1000000 };
    const struct sfb_recording_process_end left = { 1,          SFB_PROCESS_EXITED, 0,
                                                    3000000000, 20000000,           500000 };
    const struct sfb_recording_losses lost = { SFB_LOSS_RING_FULL, 1, 1, 3, "" },
                                      more = { SFB_LOSS_RING_FULL, 1, 1, 4, "" };
    uint32_t whole, cut;

    begin();
    put_own_modules();
    put_thread(2, 1, "wor;k\n");
    whole = put_stack(inside(report_inner), callers, 2, false);
    cut = put_stack(inside(report_outer), NULL, 0, true);
    put_sample(1, whole, 1500000000, 6000000, SFB_END);
    put_sample(1, whole, 1600000000, 4000000, SFB_END);
    put_sample(2, cut, 1700000000, 2000000, SFB_NO_CFI);
    put_sample(2, 0, 1800000000, 2500000, SFB_NO_RESOURCE);
    cr_assert(eq(int, sfb_recording_put_losses(writer, &lost), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_losses(writer, &more), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_thread_end(writer, &gone), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process_end(writer, &left), SFB_OK));
    end(reason);
}

Test(report, shows_functions_and_what_is_missing)
{
    const char *want =
        "./program a\\033[2Jb\n"
        "  recorded 2023-11-14 22:13:20, 2.50 s, 997 Hz by CPU-time timers: perf: refused\n"
        "  CPU time 0.016 s in 1 process and 2 threads: 4 samples, 2 stacks\n"
        "  0.002 s of it were never sampled (9.38 %)\n"
        "  1 of 4 stacks are cut off (25.00 %): .eh_frame does not cover the pc 1, "
        "the system refused it 1\n"
        "  lost: 7 samples: the thread's ring was full\n"
        "\n"
        " self %  total %  function (module)\n"
        "  62.50    62.50  report_inner (test-report-report)\n"
        "  12.50    75.00  report_outer (test-report-report)\n";

    write_all("the program ended");
    expect(0, "", want, NULL);
    expect(0, "--top", want, NULL);
    unlink(path);
}

Test(report, folds_stacks)
{
    write_all("the program ended");
    expect(0, "--folded",
           "[no thread];[unsampled] 500000\n"
           "main;report_outer;report_outer;report_inner 10000000\n"
           "wor:k\\012;[no stack] 2500000\n"
           "wor:k\\012;[truncated];report_outer 2000000\n"
           "wor:k\\012;[unsampled] 1000000\n",
           NULL);
    unlink(path);
}

Test(report, shows_offsets_where_no_names_are_wanted)
{
    struct run run;

    write_all("the program ended");
    run = run_line("'%s' report --symbols=none --folded %s", SFB_TOOL, path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "main;[0x") != NULL, "%s", run.out);
    cr_expect(strstr(run.out, "report_inner") == NULL, "%s", run.out);
    run_free(&run);
    unlink(path);
}

Test(report, says_that_a_recording_is_cut_off)
{
    struct run run;

    write_all(NULL);
    run = run_line("'%s' report %s", SFB_TOOL, path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "the recording is cut off") != NULL, "%s", run.out);
    run_free(&run);
    run = run_line("'%s' report --check %s", SFB_TOOL, path);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    cr_expect(strstr(run.out, "cut off: it has no end") != NULL, "%s", run.out);
    run_free(&run);
    unlink(path);
}

/* --- Files that are written, and parts that are chosen ------------------------------------------- */

Test(report, writes_files_and_leaves_no_half_of_one)
{
    char folder[] = "/tmp/sfb-report-folder-XXXXXX";
    struct run run;

    cr_assert(mkdtemp(folder) != NULL);
    write_all("the program ended");
    run = run_line("cd %s && '%s' report --folded=out %s && wc -l < out && '%s' report --top "
                   "--folded=again %s | wc -l && cmp out again",
                   folder, SFB_TOOL, path, SFB_TOOL, path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_expect_text("lines", run.out, "5\n10\n");
    run_free(&run);
    run = run_line("cd %s && '%s' report --folded=none/out %s", folder, SFB_TOOL, path);
    cr_expect(eq(int, run.status, 2), "%s", run.err);
    run_expect_text("complaint", run.err, "sfb: none/out: No such file or directory\n");
    run_free(&run);
    run = run_line("cd %s && (ulimit -f 0 && '%s' report --folded=out2 %s 2>&1) | cat; ls", folder,
                   SFB_TOOL, path);
    run_expect_text("complaint and files", run.out, "sfb: out2: File too large\nagain\nout\n");
    run_free(&run);
    run = run_line("rm -r %s", folder);
    run_free(&run);
    unlink(path);
}

Test(report, shows_the_part_that_is_chosen)
{
    write_all("the program ended");
    expect(0, "--folded --thread=main", "main;report_outer;report_outer;report_inner 10000000\n",
           NULL);
    expect(0, "--folded --thread=202",
           "wor:k\\012;[no stack] 2500000\n"
           "wor:k\\012;[truncated];report_outer 2000000\n"
           "wor:k\\012;[unsampled] 1000000\n",
           NULL);
    expect(0, "--folded --process=other", "", NULL);
    expect(0, "--folded --process=101 --thread=main",
           "main;report_outer;report_outer;report_inner 10000000\n", NULL);
    expect(0, "--folded --time=600ms..0.7", "main;report_outer;report_outer;report_inner 4000000\n",
           NULL);
    expect(0, "--folded --time=700000us..",
           "wor:k\\012;[no stack] 2500000\n"
           "wor:k\\012;[truncated];report_outer 2000000\n",
           NULL);
    expect(0, "--folded --filter='^report_i'",
           "main;report_outer;report_outer;report_inner 10000000\n", NULL);
    unlink(path);
}

/* The same twice is the same, with twice the figures. */
Test(report, merges_recordings)
{
    struct run run;

    write_all("the program ended");
    run = run_line("'%s' report --folded %s %s %s", SFB_TOOL, path, path, path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_expect_text("three", run.out,
                    "[no thread];[unsampled] 1500000\n"
                    "main;report_outer;report_outer;report_inner 30000000\n"
                    "wor:k\\012;[no stack] 7500000\n"
                    "wor:k\\012;[truncated];report_outer 6000000\n"
                    "wor:k\\012;[unsampled] 3000000\n");
    run_free(&run);
    unlink(path);
}

/* --- Modules that come and go ------------------------------------------------------------------- */

/* One library at an address, then another one: each sample is of the one that was there. */
Test(report, takes_the_modules_of_a_samples_time)
{
    const char *names[] = { "/nowhere/first.so", "/nowhere/second.so" };
    const uint64_t times[] = { 1000000000, 2000000000 };
    uint32_t stack;

    begin();
    for (unsigned i = 0; i < 2; i++) {
        uint8_t map[256];
        struct sfb_image_map_encoder encoder;
        const struct sfb_image image = {
            .base = 0x10000, .end_of_text = 0x20000, .path = names[i], .path_size = strlen(names[i])
        };

        cr_assert(eq(int,
                     sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                     SFB_OK));
        cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
        put_modules(times[i], map, sfb_image_map_encoder_end(&encoder));
    }
    stack = put_stack(0x12345, NULL, 0, false);
    put_sample(1, stack, 2500000000, 3000000, SFB_END);
    put_sample(1, stack, 1999999999, 1000000, SFB_END);
    end("the program ended");
    expect(0, "--symbols=none",
           "./program a\\033[2Jb\n"
           "  recorded 2023-11-14 22:13:20, 2.50 s, 997 Hz by CPU-time timers: perf: refused\n"
           "  CPU time 0.004 s in 1 process and 1 thread: 2 samples, 2 stacks\n"
           "\n"
           " self %  total %  function (module)\n"
           "  75.00    75.00  [0x2345] (second.so)\n"
           "  25.00    25.00  [0x2345] (first.so)\n",
           NULL);
    unlink(path);
}

/* Code that the process made has the names that it wrote of it. */
Test(report, names_made_code)
{
    static const char text[] = "7000 100 made;by me\n";
    const struct sfb_recording_file file = { 1, "perf-101.map", text, sizeof text - 1 };

    begin();
    put_sample(1, put_stack(0x7010, NULL, 0, false), 1500000000, 1000000, SFB_END);
    cr_assert(eq(int, sfb_recording_put_file(writer, &file), SFB_OK));
    end("the program ended");
    expect(0, "--folded", "main;made:by me 1000000\n", NULL);
    unlink(path);
}

static int find_base(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

/* What has no name is known by where it begins, so that all its samples are one function. */
Test(report, knows_functions_of_stripped_programs_by_their_start)
{
    char stripped[] = "/tmp/sfb-report-stripped-XXXXXX", want[128];
    const uint64_t base = 0x7000000;
    uint64_t bias = 0;
    uint8_t map[256];
    struct sfb_image_map_encoder encoder;
    struct sfb_image image = { .base = base, .end_of_text = base + (1 << 24) };
    struct run run;

    close(mkstemp(stripped));
    run = run_line("strip -o %s /proc/%d/exe", stripped, (int)getpid());
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    dl_iterate_phdr(find_base, &bias);
    image.path = stripped;
    image.path_size = strlen(stripped);
    begin();
    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    put_modules(start.monotonic, map, sfb_image_map_encoder_end(&encoder));
    for (unsigned i = 1; i < 3; i++)
        put_sample(1, put_stack((uintptr_t)report_inner + i - bias + base, NULL, 0, false),
                   1500000000, 1000000, SFB_END);
    end("the program ended");
    snprintf(want, sizeof want, "main;[0x%lx] 2000000\n",
             (unsigned long)((uintptr_t)report_inner - bias));
    expect(0, "--folded", want, NULL);
    unlink(stripped);
    unlink(path);
}

/* --- What is no recording ----------------------------------------------------------------------- */

Test(report, says_where_a_file_is_damaged)
{
    struct stat of;
    FILE *f;

    write_all("the program ended");
    f = fopen(path, "r+");
    cr_assert(f && fstat(fileno(f), &of) == 0);
    fseek(f, of.st_size / 2, SEEK_SET);
    fputs("damage", f);
    fclose(f);
    {
        struct run run = run_line("'%s' report %s", SFB_TOOL, path);

        cr_expect(eq(int, run.status, 1), "%s", run.out);
        cr_expect(strstr(run.err, "damaged") != NULL, "%s", run.err);
        run_free(&run);
    }
    unlink(path);
}

Test(report, refuses_what_is_no_recording)
{
    struct run run = run_line("'%s' report /etc/passwd", SFB_TOOL);

    cr_expect(eq(int, run.status, 1), "%s", run.err);
    cr_expect(strstr(run.err, "/etc/passwd: no recording: it begins with other bytes") != NULL,
              "%s", run.err);
    run_free(&run);
    run = run_line("'%s' report '%s'", SFB_TOOL, SFB_TOOL);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    run_free(&run);
    run = run_line("'%s' report /nowhere/a.sfbr", SFB_TOOL);
    cr_expect(eq(int, run.status, 2), "%s", run.err);
    cr_expect(strstr(run.err, "/nowhere/a.sfbr: No such file") != NULL, "%s", run.err);
    run_free(&run);
}

Test(report, says_what_is_wrong_with_arguments)
{
    static const char *const wrong[] = { "",
                                         "a b",
                                         "--top=x a",
                                         "--top=-1 a",
                                         "--folded --check a",
                                         "--top --check a",
                                         "--top --folded a",
                                         "--folded= a",
                                         "--diff a",
                                         "--diff a b c",
                                         "--time=1 a",
                                         "--time=.. a",
                                         "--time=2..1 a",
                                         "--time=1..x a",
                                         "--time=x..2 a",
                                         "--filter=( a",
                                         "--filter=a --filter=b a",
                                         "--diff --folded a b",
                                         "--what a",
                                         "--symbols=a b",
                                         "--names=what a" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run = run_line("cd /proc/self && '%s' report %s", SFB_TOOL, wrong[i]);

        cr_expect(eq(int, run.status, 2), "%s", wrong[i]);
        cr_expect(eq(sz, run.out_size, 0), "%s", wrong[i]);
        cr_expect(eq(sz, run_count_lines(run.err), 1), "%s: %s", wrong[i], run.err);
        run_free(&run);
    }
}

/* As perf has its perf.data: what was recorded last is meant. */
Test(report, takes_the_newest_recording_of_the_folder)
{
    char folder[] = "/tmp/sfb-report-folder-XXXXXX";
    struct run run;

    cr_assert(mkdtemp(folder) != NULL);
    write_all("the program ended");
    run = run_line("cd %s && echo no > sfb-old-1.sfbr && touch -d 2020-01-01 sfb-old-1.sfbr && cp "
                   "%s sfb-new-2.sfbr && "
                   "'%s' report --check",
                   folder, path, SFB_TOOL);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "sfb-new-2.sfbr: whole") != NULL, "%s", run.out);
    cr_expect(strstr(run.err, "sfb-new-2.sfbr") != NULL, "%s", run.err);
    run_free(&run);
    run = run_line("rm -r %s", folder);
    run_free(&run);
    unlink(path);
}
