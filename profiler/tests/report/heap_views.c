/* sfb report on a heap: the overview, tables in bytes and blocks, leaks and their suppressions, what does not go together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made_heap.h"
#include "sfb/image_map.h"
#include "support/run.h"
#include "support/test.h"

static void make(const struct made_heap *how)
{
    made_heap_write(how, "the program ended");
}

static const struct made_heap all = { .events = true, .totals = true };

/* Runs it and expects each of some texts, in this order. */
static void expect_parts(const char *options, const char *const *parts, size_t count)
{
    struct run run = run_line("TZ=UTC '%s' report %s %s", SFB_TOOL, options, made_path);
    const char *at = run.out;

    made_hide_lines(run.out);
    cr_expect(eq(int, run.status, 0), "%s: %s", options, run.err);
    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(at, parts[i]);

        cr_expect(found != NULL, "%s: '%s' is not in, or not behind the one before: %s", options,
                  parts[i], run.out);
        at = found ? found + strlen(parts[i]) : at;
    }
    run_free(&run);
}

#define EXPECT_PARTS(options, ...)                                                                 \
    do {                                                                                           \
        static const char *const parts[] = { __VA_ARGS__ };                                        \
                                                                                                   \
        expect_parts(options, parts, sizeof parts / sizeof *parts);                                \
    } while (0)

Test(heap_views, overview)
{
    make(&all);
    made_expect(0, "",
                "./program 'a\\033[2Jb'\n"
                "  recorded 2023-11-14 22:13:20, 2.50 s, each allocation: perf: refused\n"
                "  allocated     14.54 KiB in 21 blocks in 1 process and 2 threads, 2 stacks\n"
                "  live at exit  5.56 KiB in 14 blocks, and 128 bytes of slack\n"
                "  peak          13.86 KiB in 17 blocks, at 0.300 s\n"
                "  temporary     100 bytes in 1 block (4.76 %)\n"
                "  by realloc    3 blocks (14.29 %), 2 times at most for one\n"
                "  freed by another thread  5 blocks (23.81 %)\n"
                "  resident      3.44 MiB at most\n"
                "  2 frees of blocks that were there before the recording\n"
                "\n"
                " self (KiB)   self %  total (KiB)  total %  function (module): live\n"
                "      4.000    71.91        5.562   100.00  report_outer "
                "(test-report-heap_views)\n"
                "      1.562    28.09        1.562    28.09  report_inner "
                "(test-report-heap_views)\n"
                "\n"
                "heaviest stack, live: 4.00 KiB, 71.91 %, innermost first\n"
                "  report_outer  made.c:N\n"
                "\n"
                "size                            blocks         %\n"
                "  below 128 B                       11     52.38\n"
                "  below 256 B                        3     14.29\n"
                "  below 512 B                        0      0.00\n"
                "  below 1 KiB                        5     23.81\n"
                "  below 2 KiB                        0      0.00\n"
                "  below 4 KiB                        0      0.00\n"
                "  below 8 KiB                        2      9.52\n"
                "\n"
                "lifetime                  blocks freed         %\n"
                "  below 4.10 us                      1     14.29\n"
                "  below 32.77 us                     0      0.00\n"
                "  below 262 us                       0      0.00\n"
                "  below 2.10 ms                      0      0.00\n"
                "  below 16.78 ms                     0      0.00\n"
                "  below 134 ms                       0      0.00\n"
                "  below 1.07 s                       6     85.71\n",
                NULL);
    unlink(made_path);
}

/* Each column of self is the whole of a value. */
Test(heap_views, values_in_bytes_and_blocks)
{
    make(&all);
    made_expect(0, "--top --unit bytes --value allocated",
                " self (bytes)   self %  total (bytes)  total %  function (module): allocated\n"
                "         8192    55.01          14892   100.00  report_outer "
                "(test-report-heap_views)\n"
                "         6700    44.99           6700    44.99  report_inner "
                "(test-report-heap_views)\n",
                NULL);
    made_expect(0, "--top --unit bytes --value peak --min 50",
                " self (bytes)   self %  total (bytes)  total %  function (module): peak\n"
                "         8192    57.72          14192   100.00  report_outer "
                "(test-report-heap_views)\n"
                "         6000    42.28                          [1 more]\n",
                NULL);
    made_expect(0, "--by thread --blocks --value allocated",
                "total (blocks)  total %  thread: allocated\n"
                "            16    76.19  main\n"
                "             5    23.81  worker\n",
                NULL);
    made_expect(0, "--threads --value temporary",
                "total (bytes)  total %    blocks alloc  thread  name (process): temporary\n"
                "          100   100.00              16     201  main (program 101)\n",
                NULL);
    made_expect(0, "--tree --value peak --unit bytes",
                " self (bytes)   self %  total (bytes)  total %  function (module): peak\n"
                "            0     0.00          14192   100.00  [all]\n"
                "         8192    57.72          14192   100.00  report_outer "
                "(test-report-heap_views) x 2\n"
                "         6000    42.28           6000    42.28  report_inner "
                "(test-report-heap_views)\n",
                NULL);
    unlink(made_path);
}

Test(heap_views, files_have_the_value_that_is_chosen)
{
    make(&all);
    made_expect(0, "--folded --value peak",
                "main;report_outer 8192\n"
                "main;report_outer;report_outer;report_inner 1000\n"
                "worker;report_outer;report_outer;report_inner 5000\n",
                NULL);
    made_expect(0, "--folded --value peak --blocks --thread worker",
                "worker;report_outer;report_outer;report_inner 5\n", NULL);
    EXPECT_PARTS("--rows --value allocated",
                 "\"kind\":\"alloc_space\",\"unit\":\"bytes\",\"count\":14,\"value\":1700,",
                 "\"kind\":\"alloc_space\",\"unit\":\"bytes\",\"count\":2,\"value\":8192,",
                 "\"kind\":\"alloc_space\",\"unit\":\"bytes\",\"count\":5,\"value\":5000,");
    EXPECT_PARTS("--speedscope=- --value peak", "\"unit\":\"bytes\"", "\"endValue\":9192",
                 "\"endValue\":5000");
    unlink(made_path);
}

Test(heap_views, leaks)
{
    static const char *const one[] = { "--leaks=1 --blocks --tail=50%",
                                       "--leaks 1 --blocks --tail=50%",
                                       "--blocks --tail=50% --leaks 1" };

    make(&all);
    made_expect(0, "--leaks",
                "live at the end: 5.56 KiB in 14 blocks, 2 stacks. A recording does not "
                "show whether the program can still reach them\n\n"
                "1: 4.00 KiB in 1 block, of 2 that were allocated, 71.91 % of all\n"
                "  report_outer  made.c:N\n\n"
                "2: 1.56 KiB in 13 blocks, of 19 that were allocated, 28.09 % of all\n"
                "  report_inner  made.c:N\n"
                "  report_outer x 2  made.c:N\n\n",
                NULL);
    /* A number may stand behind it, as behind --top. */
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        made_expect(
            0, one[i],
            "live at the end, and before the tail; at most: 4.98 KiB in 11 blocks, 2 stacks. "
            "A recording does not show whether the program can still reach them\n\n"
            "1: 1000 bytes in 10 blocks, of 19 that were allocated, 90.91 % of all\n"
            "  report_inner  made.c:N\n"
            "  report_outer x 2  made.c:N\n\n"
            "[1 more], 9.09 % of all\n",
            NULL);
    unlink(made_path);
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    cr_assert(f != NULL);
    cr_assert(fputs(text, f) >= 0);
    cr_assert(eq(int, fclose(f), 0));
}

Test(heap_views, leaks_that_are_suppressed)
{
    char file[] = "/tmp/sfb-suppressions-XXXXXX", options[128];
    const int fd = mkstemp(file);

    cr_assert(fd >= 0);
    close(fd);
    make(&all);
    snprintf(options, sizeof options, "--leaks --suppressions %s", file);
    put_file(file, "# comment\n\n  leak:^report_inn \r\nleak:nobody\n");
    EXPECT_PARTS(options, "live at the end: 4.00 KiB in 1 block, 1 stack.",
                 "1: 4.00 KiB in 1 block, of 2 that were allocated, 100.00 % of all\n",
                 "\nsuppressed: 1.56 KiB in 13 blocks, 1 stack, by leak:^report_inn\n"
                 "unused: leak:nobody (/tmp/sfb-suppressions-",
                 ":4)\n");
    put_file(file, "leak:made.c\n");
    EXPECT_PARTS(options, "nothing lives\n",
                 "suppressed: 5.56 KiB in 14 blocks, 2 stacks, by leak:made.c\n");
    put_file(file, "leak:x\nrace:y\n");
    {
        struct run run = run_line("'%s' report %s %s", SFB_TOOL, options, made_path);

        cr_expect(eq(int, run.status, 2));
        cr_expect(strstr(run.err, ":2: no suppression of a leak: leak:PATTERN\n") != NULL, "%s",
                  run.err);
        run_free(&run);
    }
    unlink(file);
    made_expect(2, options, "", "No such file or directory");
    unlink(made_path);
}

/* Stacks begin behind what a list has; files, views of a function and suppressions have whole ones. */
Test(heap_views, folded)
{
    char file[] = "/tmp/sfb-fold-XXXXXX", options[192];
    const int fd = mkstemp(file);

    cr_assert(fd >= 0);
    close(fd);
    make(&all);
    put_file(file, "# comment\nfunction:^report_inner$\n");
    snprintf(options, sizeof options, "--leaks --fold %s", file);
    EXPECT_PARTS(options, "2 stacks.",
                 "2: 1.56 KiB in 13 blocks, of 19 that were allocated, 28.09 % of all\n"
                 "  [folded: report_inner]\n"
                 "  report_outer x 2  made.c:N\n\n");
    snprintf(options, sizeof options, "--top --unit bytes --fold %s", file);
    made_expect(0, options,
                " self (bytes)   self %  total (bytes)  total %  function (module): live\n"
                "         5696   100.00           5696   100.00  report_outer "
                "(test-report-heap_views)\n",
                NULL);
    snprintf(options, sizeof options, "--folded --value peak --fold %s", file);
    made_expect(2, options, "", "--fold changes nothing in these files");
    made_expect(0, "--folded --value peak",
                "main;report_outer 8192\n"
                "main;report_outer;report_outer;report_inner 1000\n"
                "worker;report_outer;report_outer;report_inner 5000\n",
                NULL);
    /* All of it: it stays whole. */
    put_file(file, "module:/test-report-heap_views$\n");
    snprintf(options, sizeof options, "--leaks --fold %s", file);
    EXPECT_PARTS(options, "  report_inner  made.c:N\n  report_outer x 2  made.c:N\n");
    put_file(file, "function:^report_inner$\nleak:y\n");
    made_expect(2, options, "", ":2: neither function:PATTERN nor module:PATTERN");
    unlink(file);
    made_expect(2, options, "", "No such file or directory");
    unlink(made_path);
}

/* What is printed is a list that can be read, and the one that is usual. */
Test(heap_views, the_usual_list_is_readable)
{
    static const char lines[] = "grep -qxF 'function:^std::' list && "
                                "grep -qxF 'function:^xmalloc' list && "
                                "grep -qxF 'module:/libc.so.6$' list";
    struct run run;

    make(&all);
    run = run_line("set -e; d=$(mktemp -d); cd $d; '%s' report --print-fold >list; %s; "
                   "'%s' report --fold list %s >a; '%s' report %s >b; cmp a b; rm -r $d",
                   SFB_TOOL, lines, SFB_TOOL, made_path, SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_free(&run);
    unlink(made_path);
}

/* What lives, what the allocator says, what is resident: in the overview at the worst instant, and over time. */
Test(heap_views, memory_over_time)
{
    static const struct made_heap with = { .events = true, .totals = true, .allocator = true };

    make(&with);
    EXPECT_PARTS("",
                 "  allocator     holds 4.00 MiB for 1.00 MiB in use at 0.100 s: 75.00 % are free; "
                 "--memory shows it over time\n"
                 "  resident      3.44 MiB at most\n");
    made_expect(
        0, "--memory=2 --unit KiB",
        "process 101, program: KiB\n"
        "    time (s)            live          in use            held  free %        resident\n"
        "       1.200           4.977        1024.000        4096.000   75.00        2224.000\n"
        "       2.500           5.562        1024.000        2048.000   50.00        3524.000\n",
        NULL);
    EXPECT_PARTS("--memory-rows",
                 "{\"process\":101,\"program\":\"/bin/program\",\"time_ns\":100000000,"
                 "\"live_blocks\":10,\"live_bytes\":1000,\"used_bytes\":1048576,"
                 "\"held_bytes\":4194304,\"resident_bytes\":1150976}\n",
                 "\"time_ns\":2500000000,");
    made_expect(2, "--memory --value peak", "", "--memory has its own values");
    made_expect(2, "--memory=x", "", "--memory: 'x' is no number of instants");
    made_expect(2, "--memory --filter a", "", "--filter changes nothing in --memory");
    made_expect(2, "--memory --min 5", "", "--min changes nothing in --memory");
    made_expect(2, "--memory --blocks", "", "--blocks changes nothing in --memory");
    made_expect(2, "--memory-rows=/dev/null --filter a", "", "--filter changes nothing in these");
    made_expect(2, "--html /dev/null --fold none", "", "--fold changes nothing in these files");
    made_expect(2, "--slack --blocks", "", "--blocks changes nothing in --slack");
    unlink(made_path);
    make(&all);
    EXPECT_PARTS(
        "--memory",
        "       2.500           0.005               ?               ?       ?           3.441\n");
    EXPECT_PARTS("--memory-rows", "\"used_bytes\":null,\"held_bytes\":null,");
    unlink(made_path);
}

Test(heap_views, other_stacks)
{
    make(&all);
    EXPECT_PARTS("--temporary",
                 "1: 1 of 19 blocks temporary (5.26 %), 100 bytes, 100.00 % of all\n",
                 "  report_inner  made.c:N\n");
    EXPECT_PARTS("--reallocs",
                 "1: 3 of 19 blocks by realloc (15.79 %), 2 times at most for one, 100.00 % of "
                 "all\n");
    EXPECT_PARTS(
        "--slack",
        "1: 140 bytes of slack behind 6.54 KiB in 19 blocks; 120 bytes lives, 89.74 % of "
        "all\n",
        "2: 16 bytes of slack behind 8.00 KiB in 2 blocks; 8 bytes lives, 10.26 % of all\n");
    EXPECT_PARTS("--freed-elsewhere",
                 "1: 5 of 19 blocks freed by another thread (26.32 %), 100.00 % of all\n");
    EXPECT_PARTS("--sizes", "  below 128 B                       11     52.38\n",
                 "  below 8 KiB                        2      9.52\n");
    EXPECT_PARTS("--lifetimes", "  below 1.02 us                      1     14.29\n",
                 "  below 537 ms                       1     14.29\n"
                 "  below 1.07 s                       5     71.43\n");
    unlink(made_path);
}

Test(heap_views, a_part_of_the_run)
{
    make(&all);
    EXPECT_PARTS("--at 0.6", "  only at 0.600 s\n",
                 "  allocated     13.86 KiB in 17 blocks in 1 process and 2 threads, 2 stacks\n"
                 "  live then     9.86 KiB in 16 blocks\n",
                 "      5.859    59.43        5.859    59.43  report_inner");
    EXPECT_PARTS("--time 0.25..", "  only from 0.250 s on\n",
                 "  grown by      600 bytes in 3 blocks\n"
                 "  shrunk by     4.00 KiB in 1 block, in other stacks\n",
                 "function (module): growth\n");
    EXPECT_PARTS("--thread worker",
                 "  allocated     4.88 KiB in 5 blocks in 1 process and 1 thread",
                 "  peak          4.88 KiB in 5 blocks, at 0.300 s\n", "function (module): peak\n");
    EXPECT_PARTS("--filter report_inner", "  live at exit  1.56 KiB in 13 blocks");
    unlink(made_path);
}

/* Of sums without events, the nearest snapshot is told. */
Test(heap_views, the_nearest_snapshot)
{
    make(&(struct made_heap){ .flags = SFB_HEAP_AGGREGATE | SFB_HEAP_MMAP, .totals = true });
    EXPECT_PARTS("--at 0.6", "s, each allocation, mmap too, sums without events: perf",
                 "  live then     13.86 KiB in 17 blocks\n"
                 "  the nearest snapshot is that of 0.400 s\n");
    unlink(made_path);
}

Test(heap_views, what_is_mapped)
{
    const struct sfb_recording_heap_site site = { 1, 1, 0, SFB_HEAP_MAPPED };

    made_begin();
    made_heap_begin(SFB_HEAP_MMAP, 0);
    cr_assert(eq(int, sfb_recording_put_heap_site(made_writer, &site), SFB_OK));
    made_heap_events(1, 100, 8192, 1, false);
    made_end("the program ended");
    EXPECT_PARTS("--leaks",
                 "1: 8.00 KiB in 1 block, of 1 that was allocated, by mmap(), 100.00 % of all\n"
                 "  [no stack]\n");
    unlink(made_path);
}

Test(heap_views, what_lives_alone)
{
    made_begin();
    made_own_modules();
    made_heap_begin(SFB_HEAP_LIVE, 0);
    made_heap_site(1, 1, made_stack(made_inside(report_outer), NULL, 0, false));
    {
        const struct sfb_recording_heap_totals totals = { .site = 1,
                                                          .time = made_start.monotonic,
                                                          .live = { .blocks = 3, .bytes = 300 } };

        cr_assert(eq(int, sfb_recording_put_heap_totals(made_writer, &totals), SFB_OK));
    }
    made_end("a dump");
    EXPECT_PARTS("", "s, what lives in the heap: perf",
                 "  live          300 bytes in 3 blocks in 1 process and 1 thread\n",
                 "          300   100.00            300   100.00  report_outer");
    EXPECT_PARTS("--leaks", "1: 300 bytes in 3 blocks, 100.00 % of all\n");
    made_expect(2, "--at 1", "", "--at: this is of what lived at one instant");
    made_expect(2, "--value peak", "", "--value: this is of what lived at one instant");
    unlink(made_path);
}

/* --- What is missing --------------------------------------------------------------------------- */

Test(heap_views, what_is_missing)
{
    make(&(struct made_heap){ .events = true, .totals = true, .lost = true });
    EXPECT_PARTS("", "  the heap is incomplete from 1.000 s on: events were lost\n",
                 "  lost: 7 events of the heap");
    unlink(made_path);
    made_heap_write(&(struct made_heap){ .events = true }, NULL);
    EXPECT_PARTS("", "  live at end   5.56 KiB in 14 blocks\n",
                 "  the heap has no sums: they are added up from its events, without temporary "
                 "blocks, slack and lifetimes\n",
                 "  the recording is cut off: it has no end\n");
    made_expect(0, "--temporary", "no block is known to be temporary\n", NULL);
    unlink(made_path);
    made_heap_write(&(struct made_heap){ .flags = SFB_HEAP_AGGREGATE }, NULL);
    EXPECT_PARTS("", "  the heap is that of its last snapshot, at 0.400 s\n");
    unlink(made_path);
    made_heap_write(&(struct made_heap){ .events = false }, NULL);
    EXPECT_PARTS("", "  the heap has no sums: it is not known which function allocated what\n"
                     "  at 1.200 s there lived 4.98 KiB in 11 blocks; the peak was 13.86 KiB in 17 "
                     "blocks, at 0.300 s\n");
    unlink(made_path);
}

Test(heap_views, a_recording_without_a_heap)
{
    const struct sfb_recording_start kept = made_start;

    made_begin_as(&(struct sfb_recording_start){ .monotonic = kept.monotonic,
                                                 .realtime = kept.realtime,
                                                 .abi = kept.abi,
                                                 .engine_text = "",
                                                 .version = "test",
                                                 .host = "host",
                                                 .command = "./static",
                                                 .command_size = 9 });
    made_end("the program ended");
    EXPECT_PARTS("", "./static\n", " s, the heap of no process: no agent was loaded\n");
    unlink(made_path);
}

/* A process that has hardly begun may say that it has no modules: stacks are of the list that follows. */
Test(heap_views, modules_that_come_later)
{
    uint8_t none[64];
    struct sfb_image_map_encoder encoder;

    made_begin();
    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, none, sizeof none, 64, "Linux", NULL, 0),
                 SFB_OK));
    made_modules(made_start.monotonic, none, sfb_image_map_encoder_end(&encoder));
    made_heap_begin(0, 0);
    made_heap_site(1, 1, made_stack(made_inside(report_outer), NULL, 0, false));
    made_own_modules();
    made_heap_events(1, 100, 77, 1, false);
    made_end(NULL);
    EXPECT_PARTS("--top", "           77   100.00             77   100.00  report_outer (");
    unlink(made_path);
}

Test(heap_views, check)
{
    make(&all);
    EXPECT_PARTS("--check", ": whole: ",
                 " blocks, 28 events of the heap, 3 sums of 3 sites, 7 states, 2 stacks\n",
                 " bytes an event in their blocks\n", "  ended: the program ended\n");
    unlink(made_path);
}

/* --- Estimates --------------------------------------------------------------------------------- */

/* Errors are those of sums: their variances add up. Fewer than ten samples are told. */
Test(heap_views, estimates)
{
    made_heap_write(&(struct made_heap){ .events = true, .rate = 4000 }, NULL);
    EXPECT_PARTS(
        "", "s, a sample each 4000 bytes of the heap: perf",
        "  live at end   57.36 KiB \u00b1 14.45 in 464 blocks \u00b1 130\n",
        "  sampled: values are estimates, \u00b1 is one standard error\n",
        " self (KiB)         \u00b1   self %  total (KiB)         \u00b1  total %  function",
        "     51.122    13.960    89.12       51.122    13.960    89.12  report_inner",
        "      6.241    few(1)    10.88       57.363    14.452   100.00  report_outer",
        "heaviest stack, live: 51.12 KiB \u00b1 13.96, 89.12 %, innermost first\n");
    EXPECT_PARTS("--leaks=0", "2: 6.24 KiB \u00b1 3.74 in 2 blocks \u00b1 1 (few "
                              "samples: 1), of 3 \u00b1 1 that were allocated");
    EXPECT_PARTS("--rows", "\"error\":");
    made_expect(2, "--temporary", "",
                "--temporary: this was sampled: what is temporary is not known");
    made_expect(2, "--value temporary", "",
                "--value: this was sampled: what is temporary is not known");
    unlink(made_path);
}

/* --- Comparisons ------------------------------------------------------------------------------- */

Test(heap_views, diff)
{
    char old[64];
    struct run run;

    make(&all);
    strcpy(old, made_path);
    make(&(struct made_heap){ .events = true, .totals = true, .grown = true });
    run = run_line("TZ=UTC '%s' report --diff --unit bytes %s %s", SFB_TOOL, old, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "\n  live 9.56 KiB, was 5.56 KiB: +71.91 %; in 2 processes and 4 "
                              "threads, 2 stacks\n") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out,
                     "  old (bytes)    new (bytes)   self (bytes)   self %  total (bytes)  total "
                     "%  function (module): live\n"
                     "         4096           8192          +4096   +71.91          +4096   +71.91 "
                     " report_outer") != NULL,
              "%s", run.out);
    run_free(&run);
    unlink(old);
    unlink(made_path);
}

/* What was allocated in a pause was there before the recording no more than in it. */
Test(heap_views, frees_of_blocks_of_a_pause)
{
    make(&(struct made_heap){ .events = true, .totals = true, .paused = true });
    EXPECT_PARTS("", "\n  2 frees of blocks that were there before the recording, or in a pause\n");
    unlink(made_path);
}

Test(heap_views, several_are_merged)
{
    struct run run;

    make(&all);
    run = run_line("TZ=UTC '%s' report %s %s", SFB_TOOL, made_path, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "  live at exit  11.12 KiB in 28 blocks, and 256 bytes of slack\n"
                              "  peak          27.72 KiB in 34 blocks: the sum of 2 processes, "
                              "the largest are\n"
                              "                13.86 KiB in 17 blocks, at 0.300 s: program (101)\n"
                              "                13.86 KiB in 17 blocks, at 0.300 s: program "
                              "(101)\n") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out, "\n  4 frees of blocks that were there before the recording\n") !=
                  NULL,
              "%s", run.out);
    run_free(&run);
    unlink(made_path);
}

/* --- What does not go together ----------------------------------------------------------------- */

Test(heap_views, refusals)
{
    static const struct {
        const char *options, *why;
    } cases[] = {
        { "--value live2", "of a heap allocated, live, peak, temporary" },
        { "--at 1..2", "--at: '1..2' is no time" },
        { "--at 1 --time 1..2", "--at and --time: one of them" },
        { "--tail=0", "--tail: '0' is no part of a run" },
        { "--tail=101%", "--tail: '101%' is no part of a run" },
        { "--tail=x%", "--tail: 'x%' is no part of a run" },
        { "--tail --at 1", "--tail is of the whole run" },
        { "--tail --value peak", "--tail is of what lives" },
        { "--at 1 --value peak", "what is known of a time is allocated and live" },
        { "--time 1.. --value temporary", "what is known of a time is allocated and live" },
        { "--sizes --at 1", "--sizes is of the whole run" },
        { "--leaks --value peak", "--leaks is of what lives" },
        { "--slack --value peak", "--slack has its own values" },
        { "--suppressions x", "--suppressions goes with --leaks" },
        { "--leaks --sizes", "--leaks and --sizes: one of them" },
        { "--leaks=x", "--leaks: 'x' is no number of stacks" },
        { "--unit ms", "this is of a heap: bytes, KiB, MiB, GiB" },
        { "--unit days", "'days' is not one of s, ms, us, ns; bytes, KiB, MiB, GiB" },
        { "--folded-ns", "this is of a heap: --folded has its bytes" },
    };

    make(&all);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        made_expect(2, cases[i].options, "", cases[i].why);
    unlink(made_path);
}

Test(heap_views, refusals_of_cpu_time)
{
    char heap[64];
    struct run run;

    make(&all);
    strcpy(heap, made_path);
    made_all("the program ended");
    made_expect(2, "--leaks", "", "--leaks: this is of CPU time: it is for heaps");
    made_expect(2, "--blocks", "", "--blocks: this is of CPU time: it is for heaps");
    made_expect(2, "--unit KiB", "", "--unit: this is of times: s, ms, us, ns");
    run = run_line("'%s' report %s %s", SFB_TOOL, heap, made_path);
    cr_expect(eq(int, run.status, 2));
    cr_expect(strstr(run.err, " is of a heap, ") && strstr(run.err, " of CPU time: they make no "
                                                                    "report together\n"),
              "%s", run.err);
    run_free(&run);
    unlink(heap);
    unlink(made_path);
}
