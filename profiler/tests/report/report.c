/* sfb report, on recordings that are written here: each figure is known. */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "sfb/recording.h"
#include "sframe_backtrace.h"
#include "support/run.h"
#include "support/test.h"

/* --- What is in it ----------------------------------------------------------------------------- */

Test(report, shows_functions_and_what_is_missing)
{
    const char *want =
        "./program 'a\\033[2Jb'\n"
        "  recorded 2023-11-14 22:13:20, 2.50 s, 997 Hz by CPU-time timers: perf: refused\n"
        "  CPU time 0.016 s in 1 process and 2 threads: 4 samples, 2 stacks\n"
        "  1.500 ms of it were never sampled (9.38 %)\n"
        "    try: perf, which sees more than timers: the first line says what refuses it\n"
        "  1 of 4 stacks is cut off (25.00 %): .eh_frame does not cover the pc 1, "
        "the system refused it 1\n"
        "    try: -fasynchronous-unwind-tables, or -fno-omit-frame-pointer, for "
        "test-report-report\n"
        "  lost: 7 samples: the thread's ring was full\n"
        "    try: a lower sfb record --rate, or a processor that is left to sfb\n"
        "\n"
        " self (ms)   self %  total (ms)  total %  function (module)\n"
        "    10.000    62.50      10.000    62.50  report_inner (test-report-report)\n"
        "     2.500    15.62       2.500    15.62  [no stack]\n"
        "     2.000    12.50      12.000    75.00  report_outer (test-report-report)\n"
        "     1.500     9.38       1.500     9.38  [unsampled]\n"
        "     0.000     0.00       2.000    12.50  [truncated]\n"
        "\n"
        "hottest stack: 10.000 ms, 62.50 %, innermost first\n"
        "  report_inner  made.c:N\n"
        "  report_outer x 2  made.c:N\n";
    struct run run;

    made_all("the program ended");
    /* Which line the pc is in is the compiler's choice. */
    run = run_line("TZ=UTC '%s' report %s | sed 's/made.c:[0-9]*/made.c:N/'", SFB_TOOL, made_path);
    run_expect_text("overview", run.out, want);
    run_free(&run);
    unlink(made_path);
}

/* What did not go as it should: the program, the recording, and the engine of some samples. */
Test(report, says_how_it_ended)
{
    const struct sfb_recording_process_end
        killed = { 1, SFB_PROCESS_KILLED, 11, 3000000000, 0, 0 },
        replaced = { 1, SFB_PROCESS_REPLACED, 0, 3000000000, 0, 0 },
        exited = { 2, SFB_PROCESS_EXITED, 3, 3000000000, 0, 0 };
    struct sfb_recording_process next = { .id = 2,
                                          .pid = 101,
                                          .time = 2000000000,
                                          .program = "/bin/next",
                                          .arguments = "next",
                                          .arguments_size = 5 };
    const struct sfb_recording_sample other = {
        1, 0, 2000000000, 1000, SFB_ENGINE_SAMPLER, SFB_NO_RESOURCE
    };

    made_begin();
    cr_assert(eq(int, sfb_recording_put_sample(made_writer, &other), SFB_OK));
    made_sample(1, 0, 2100000000, 2000, SFB_NO_RESOURCE);
    cr_assert(eq(int, sfb_recording_put_process_end(made_writer, &killed), SFB_OK));
    made_end("--max-size\n");
    made_expect(0, "",
                "./program 'a\\033[2Jb'\n"
                "  recorded 2023-11-14 22:13:20, 2.50 s, 997 Hz by CPU-time timers: perf: refused\n"
                "  it was ended by signal 11\n"
                "  the recording ended: --max-size\\012\n"
                "  1 of 2 samples by sampler thread\n"
                "  CPU time 0.000 s in 1 process and 1 thread: 2 samples, 0 stacks\n"
                "\n"
                " self (us)   self %  total (us)  total %  function (module)\n"
                "     3.000   100.00       3.000   100.00  [no stack]\n"
                "\n",
                NULL);
    unlink(made_path);
    made_begin();
    cr_assert(eq(int, sfb_recording_put_process_end(made_writer, &replaced), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process(made_writer, &next), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process_end(made_writer, &exited), SFB_OK));
    made_end("the program ended");
    made_expect(0, "",
                "./program 'a\\033[2Jb'\n"
                "  recorded 2023-11-14 22:13:20, 2.50 s, 997 Hz by CPU-time timers: perf: refused\n"
                "  it exited with status 3\n"
                "  CPU time 0.000 s in 2 processes and 1 thread: 0 samples, 0 stacks\n"
                "\n"
                " self (ns)   self %  total (ns)  total %  function (module)\n"
                "\n",
                NULL);
    unlink(made_path);
}

Test(report, folds_stacks)
{
    made_all("the program ended");
    made_expect(0, "--folded-ns",
                "[no thread];[unsampled] 500000\n"
                "main;report_outer;report_outer;report_inner 10000000\n"
                "wor:k\\012;[no stack] 2500000\n"
                "wor:k\\012;[truncated];report_outer 2000000\n"
                "wor:k\\012;[unsampled] 1000000\n",
                NULL);
    unlink(made_path);
}

Test(report, shows_offsets_where_no_names_are_wanted)
{
    struct run run;

    made_all("the program ended");
    run = run_line("'%s' report --symbols=none --folded-ns %s", SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "main;[0x") != NULL, "%s", run.out);
    cr_expect(strstr(run.out, "report_inner") == NULL, "%s", run.out);
    run_free(&run);
    unlink(made_path);
}

Test(report, says_that_a_recording_is_cut_off)
{
    struct run run;

    made_all(NULL);
    run = run_line("'%s' report %s", SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "the recording is cut off") != NULL, "%s", run.out);
    run_free(&run);
    run = run_line("'%s' report --check %s", SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    cr_expect(strstr(run.out, "cut off: it has no end") != NULL, "%s", run.out);
    run_free(&run);
    unlink(made_path);
}

/* --- Files that are written, and parts that are chosen ------------------------------------------- */

Test(report, writes_files_and_leaves_no_half_of_one)
{
    char folder[] = "/tmp/sfb-report-folder-XXXXXX";
    struct run run;

    cr_assert(mkdtemp(folder) != NULL);
    made_all("the program ended");
    run = run_line("cd %s && '%s' report --folded-ns=out %s && wc -l < out && '%s' report --top "
                   "--folded-ns=again %s | wc -l && cmp out again",
                   folder, SFB_TOOL, made_path, SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_expect_text("lines", run.out, "5\n6\n");
    run_free(&run);
    run = run_line("cd %s && '%s' report --folded-ns=none/out %s", folder, SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 2), "%s", run.err);
    run_expect_text("complaint", run.err, "sfb: none/out: No such file or directory\n");
    run_free(&run);
    run = run_line("cd %s && (ulimit -f 0 && '%s' report --folded-ns=out2 %s 2>&1) | cat; ls",
                   folder, SFB_TOOL, made_path);
    run_expect_text("complaint and files", run.out, "sfb: out2: File too large\nagain\nout\n");
    run_free(&run);
    run = run_line("rm -r %s", folder);
    run_free(&run);
    unlink(made_path);
}

Test(report, shows_the_part_that_is_chosen)
{
    made_all("the program ended");
    made_expect(0, "--folded-ns --thread=main",
                "main;report_outer;report_outer;report_inner 10000000\n", NULL);
    made_expect(0, "--folded-ns --thread=202",
                "wor:k\\012;[no stack] 2500000\n"
                "wor:k\\012;[truncated];report_outer 2000000\n"
                "wor:k\\012;[unsampled] 1000000\n",
                NULL);
    made_expect(2, "--folded-ns --process=other", "", "no process is called 'other'");
    made_expect(2, "--thread=203", "", "no thread is called '203'");
    made_expect(0, "--folded-ns --process=101 --thread=main",
                "main;report_outer;report_outer;report_inner 10000000\n", NULL);
    made_expect(0, "--folded-ns --time=600ms..0.7",
                "main;report_outer;report_outer;report_inner 4000000\n", NULL);
    made_expect(0, "--folded-ns --time=700000us..",
                "wor:k\\012;[no stack] 2500000\n"
                "wor:k\\012;[truncated];report_outer 2000000\n",
                NULL);
    made_expect(0, "--folded-ns --filter='^report_i'",
                "main;report_outer;report_outer;report_inner 10000000\n", NULL);
    unlink(made_path);
}

/* The same twice is the same, with twice the figures. */
Test(report, merges_recordings)
{
    struct run run;

    made_all("the program ended");
    run = run_line("'%s' report --folded-ns %s %s %s", SFB_TOOL, made_path, made_path, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_expect_text("three", run.out,
                    "[no thread];[unsampled] 1500000\n"
                    "main;report_outer;report_outer;report_inner 30000000\n"
                    "wor:k\\012;[no stack] 7500000\n"
                    "wor:k\\012;[truncated];report_outer 6000000\n"
                    "wor:k\\012;[unsampled] 3000000\n");
    run_free(&run);
    unlink(made_path);
}

/* --- Modules that come and go ------------------------------------------------------------------- */

/* One library at an address, then another one: each sample is of the one that was there. */
Test(report, takes_the_modules_of_a_samples_time)
{
    const char *names[] = { "/nowhere/first.so", "/nowhere/second.so" };
    const uint64_t times[] = { 1000000000, 2000000000 };
    uint32_t stack;

    made_begin();
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
        made_modules(times[i], map, sfb_image_map_encoder_end(&encoder));
    }
    stack = made_stack(0x12345, NULL, 0, false);
    made_sample(1, stack, 2500000000, 3000000, SFB_END);
    made_sample(1, stack, 1999999999, 1000000, SFB_END);
    made_end("the program ended");
    made_expect(0, "",
                "./program 'a\\033[2Jb'\n"
                "  recorded 2023-11-14 22:13:20, 2.50 s, 997 Hz by CPU-time timers: perf: refused\n"
                "  CPU time 0.004 s in 1 process and 1 thread: 2 samples, 2 stacks\n"
                "  without names: second.so 75.00 %, first.so 25.00 %\n"
                "    try: --symbol-path with a folder that has second.so: it is not here\n"
                "    try: --symbol-path with a folder that has first.so: it is not here\n"
                "\n"
                " self (ms)   self %  total (ms)  total %  function (module)\n"
                "     3.000    75.00       3.000    75.00  [0x2345] (second.so)\n"
                "     1.000    25.00       1.000    25.00  [0x2345] (first.so)\n"
                "\n"
                "hottest stack: 3.000 ms, 75.00 %, innermost first\n"
                "  [0x2345]  (second.so)\n",
                NULL);
    unlink(made_path);
}

/* Code that the process made has the names that it wrote of it. */
Test(report, names_made_code)
{
    static const char text[] = "7000 100 made;by me\n";
    const struct sfb_recording_file file = { 1, "perf-101.map", text, sizeof text - 1 };

    made_begin();
    made_sample(1, made_stack(0x7010, NULL, 0, false), 1500000000, 1000000, SFB_END);
    cr_assert(eq(int, sfb_recording_put_file(made_writer, &file), SFB_OK));
    made_end("the program ended");
    made_expect(0, "--folded-ns", "main;made:by me 1000000\n", NULL);
    unlink(made_path);
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
    made_begin();
    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    made_modules(made_start.monotonic, map, sfb_image_map_encoder_end(&encoder));
    for (unsigned i = 1; i < 3; i++)
        made_sample(1, made_stack((uintptr_t)report_inner + i - bias + base, NULL, 0, false),
                    1500000000, 1000000, SFB_END);
    made_end("the program ended");
    snprintf(want, sizeof want, "main;[0x%lx] 2000000\n",
             (unsigned long)((uintptr_t)report_inner - bias));
    made_expect(0, "--folded-ns", want, NULL);
    unlink(stripped);
    unlink(made_path);
}

/* --- What is no recording ----------------------------------------------------------------------- */

/* What is printed goes to others without stderr: a page that is mailed, a profile that is uploaded. */
static void expect_damage(const char *output, const char *filter)
{
    struct run run = run_line("{ '%s' report %s %s; echo status $? >&2; } | %s", SFB_TOOL,
                              made_path, output, filter);
    const char *all = "the recording is damaged, and parts of it are missing";

    cr_expect(strstr(run.err, "status 1\n") != NULL, "%s: %s", output, run.err);
    cr_expect(strstr(run.err, "damaged") != NULL, "%s: %s", output, run.err);
    cr_expect(ne(ptr, memmem(run.out, run.out_size, all, strlen(all)), NULL), "%s", output);
    run_free(&run);
}

Test(report, says_where_a_file_is_damaged)
{
    struct stat of;
    FILE *f;

    made_all("the program ended");
    f = fopen(made_path, "r+");
    cr_assert(f && fstat(fileno(f), &of) == 0);
    fseek(f, of.st_size / 2, SEEK_SET);
    fputs("damage", f);
    fclose(f);
    expect_damage("", "cat");
    expect_damage("--html -", "cat");
    expect_damage("--pprof -", "gunzip");
    unlink(made_path);
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
                                         "--folded-ns --check a",
                                         "--top --check a",
                                         "--top --folded-ns a",
                                         "--folded-ns= a",
                                         "--diff a",
                                         "--diff a b c",
                                         "--time=1 a",
                                         "--time=.. a",
                                         "--time=2..1 a",
                                         "--time=1..x a",
                                         "--time=x..2 a",
                                         "--min=x a",
                                         "--min=101 a",
                                         "--min=-1 a",
                                         "--unit=h a",
                                         "--by=colour a",
                                         "--color=red a",
                                         "--callers='(' a",
                                         "--list='[' a",
                                         "--callers=a --list=b a",
                                         "--tree --top a",
                                         "--diff --tree a b",
                                         "--filter=( a",
                                         "--filter=a --filter=b a",
                                         "--diff --folded-ns a b",
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
    made_all("the program ended");
    run = run_line("cd %s && echo no > sfb-old-1.sfbr && touch -d 2020-01-01 sfb-old-1.sfbr && cp "
                   "%s sfb-new-2.sfbr && "
                   "'%s' report --check",
                   folder, made_path, SFB_TOOL);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "sfb-new-2.sfbr: whole") != NULL, "%s", run.out);
    cr_expect(strstr(run.err, "sfb-new-2.sfbr") != NULL, "%s", run.err);
    run_free(&run);
    /* What others have put there is not: a link, and as root a file. */
    run = run_line(
        "cd %s && touch -d 2020-01-02 sfb-new-2.sfbr && ln -s sfb-new-2.sfbr sfb-link-3.sfbr && cp "
        "sfb-new-2.sfbr sfb-other-4.sfbr && { test $(id -u) != 0 && rm sfb-other-4.sfbr || chown "
        "65534 sfb-other-4.sfbr; } && '%s' report --check",
        folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "sfb-new-2.sfbr: whole") != NULL, "%s", run.out);
    run_free(&run);
    run = run_line("rm -r %s", folder);
    run_free(&run);
    unlink(made_path);
}
