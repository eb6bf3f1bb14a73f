/* What is missing: little of it is said in --check alone; what matters is said with what to do. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/counted.h"
#include "report/made.h"
#include "report/made_heap.h"
#include "sfb/image_map.h"
#include "sfb/recording.h"
#include "support/run.h"
#include "support/test.h"

enum { MS = 1000000 };

static struct run report(const char *options)
{
    return run_line("'%s' report %s %s", SFB_TOOL, options, made_path);
}

static void expect(const char *options, const char *wanted, const char *unwanted)
{
    struct run run = report(options);

    cr_expect(strstr(run.out, wanted) != NULL, "%s: no '%s' in:\n%s%s", options, wanted, run.out,
              run.err);
    if (unwanted)
        cr_expect(strstr(run.out, unwanted) == NULL, "%s: '%s' in:\n%s", options, unwanted,
                  run.out);
    run_free(&run);
}

static void begin(const struct sfb_recording_start *start, const char *program,
                  const char *arguments)
{
    const struct sfb_recording_process process = { .id = 1,
                                                   .pid = 101,
                                                   .time = made_start.monotonic,
                                                   .program = program,
                                                   .arguments = arguments,
                                                   .arguments_size = strlen(arguments) };

    made_begin_as(start);
    cr_assert(eq(int, sfb_recording_put_process(made_writer, &process), SFB_OK));
    made_thread(1, 1, "main");
}

static void put_samples(uint32_t stack, size_t count, enum sfb_status how)
{
    for (size_t i = 0; i < count; i++)
        made_sample(1, stack, 1500000000 + i * MS, MS, how);
}

static void put_loss(uint32_t reason, uint64_t count)
{
    const struct sfb_recording_losses losses = { reason, 1, 1, count, "" };

    cr_assert(eq(int, sfb_recording_put_losses(made_writer, &losses), SFB_OK));
}

/* A module without a build-id, and a pc in it that no symbol covers. */
static uint32_t put_module(const char *path)
{
    uint8_t map[512];
    struct sfb_image_map_encoder encoder;
    const struct sfb_image image = {
        .base = 0x10000, .end_of_text = 0x7fff0000, .path = path, .path_size = strlen(path)
    };

    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    made_modules(made_start.monotonic, map, sfb_image_map_encoder_end(&encoder));
    return made_stack(0x7ffe0000, NULL, 0, false);
}

/* --- Words --------------------------------------------------------------------------------------- */

Test(calm, counts_one_in_the_singular)
{
    made_begin();
    made_own_modules();
    put_samples(made_stack(made_inside(report_inner), NULL, 0, false), 1, SFB_END);
    made_end("the program ended");
    expect("", ": 1 sample, 1 stack\n", NULL);
    expect("--check", " 1 sample, 1 stack\n", NULL);
    unlink(made_path);
}

/* What recordings lack is counted with these words. */
Test(calm, each_loss_has_a_singular)
{
    static const char *const want[SFB_LOSS_COUNT] = {
        [SFB_LOSS_NO_PROCESS] = "process: no place was left",
        [SFB_LOSS_NOT_FOLLOWED] = "process that could not be followed",
        [SFB_LOSS_MODULES] = "incomplete module list",
        [SFB_LOSS_INTERRUPTED] = "system call that returned EINTR because of a sample",
        [SFB_LOSS_CPU] = "ms of CPU time that is in no process of the recording",
        [SFB_LOSS_SPACE] = "process: a limit on address space (ulimit -v) left no room",
    };

    for (uint32_t reason = 0; reason < SFB_LOSS_COUNT; reason++) {
        const char *text = sfb_recording_loss_str(reason);
        const struct counted one = counted_noun(1, text);

        if (want[reason])
            cr_expect_str_eq(one.text, want[reason]);
        else
            cr_expect(strlen(one.text) == strlen(text) - 1, "%s", one.text);
    }
}

/* --- Little, and much ------------------------------------------------------------------------------ */

/* Of 1,000 samples: 4 are less than half a percent, 6 are more. */
static void make_losses(unsigned count)
{
    const struct sfb_recording_thread_end end = { 1, 3000000000, (uint64_t)(1000 + count) * MS,
                                                  (uint64_t)count * MS };
    uint32_t whole;

    made_begin();
    made_own_modules();
    whole = made_stack(made_inside(report_inner), NULL, 0, false);
    put_samples(whole, 1000 - count, SFB_END);
    put_samples(made_stack(made_inside(report_outer), NULL, 0, true), count, SFB_NO_CFI);
    put_loss(SFB_LOSS_RING_FULL, count);
    cr_assert(eq(int, sfb_recording_put_thread_end(made_writer, &end), SFB_OK));
    made_end("the program ended");
}

Test(calm, little_is_said_in_check_alone)
{
    struct run run;

    make_losses(4);
    run = report("");
    for (const char *const *text =
             (const char *const[]){ "lost", "cut off", "never sampled", "try:", NULL };
         *text; text++)
        cr_expect(strstr(run.out, *text) == NULL, "%s in:\n%s", *text, run.out);
    run_free(&run);
    expect("--check", "  lost: 4 samples: the thread's ring was full\n", "try:");
    expect("--check", "  4 of 1000 stacks are cut off (0.40 %): ", NULL);
    expect("--check", "  4.000 ms of it were never sampled (0.40 %)\n", NULL);
    /* A file for others goes where nobody has the recording. */
    run = run_line("'%s' report --pprof - %s | zcat | grep -ac 'lost: 4 samples: '", SFB_TOOL,
                   made_path);
    run_expect_text("comments", run.out, "1\n");
    run_free(&run);
    unlink(made_path);
}

Test(calm, much_is_said_with_what_to_do)
{
    make_losses(6);
    expect("",
           "  6.000 ms of it were never sampled (0.60 %)\n"
           "    try: a higher sfb record --rate: ",
           NULL);
    expect("",
           "  6 of 1000 stacks are cut off (0.60 %): .eh_frame does not cover the pc 6\n"
           "    try: -fasynchronous-unwind-tables, or -fno-omit-frame-pointer, for "
           "test-report-calm\n",
           NULL);
    expect("",
           "  lost: 6 samples: the thread's ring was full\n"
           "    try: a lower sfb record --rate, ",
           NULL);
    unlink(made_path);
}

/* Events of a heap: what is missing is a share of its events. */
static void make_heap(uint64_t lost)
{
    const struct sfb_recording_losses losses = { SFB_LOSS_HEAP_EVENTS, 1, 1, lost, "" };

    made_begin();
    made_own_modules();
    made_heap_begin(0, 0);
    made_heap_site(1, 1, made_stack(made_inside(report_outer), NULL, 0, false));
    made_heap_events(1, 100, 100, 500, false);
    cr_assert(eq(int, sfb_recording_put_losses(made_writer, &losses), SFB_OK));
    made_heap_events(1, 200, 100, 500, false);
    made_end("the program ended");
}

Test(calm, events_of_a_heap_have_a_share)
{
    make_heap(4);
    expect("", "allocated", "lost");
    expect("", "allocated", "is incomplete");
    expect("--check", "  lost: 4 events of the heap", "try:");
    expect("--check", "  the heap is incomplete from ", NULL);
    unlink(made_path);
    make_heap(6);
    expect("", "  the heap is incomplete from ", NULL);
    expect("",
           "  lost: 6 events of the heap: the ring stayed full\n"
           "    try: sfb record --heap-wait, ",
           NULL);
    unlink(made_path);
}

/* Where nothing else was recorded, one loss is all there is. */
Test(calm, a_loss_of_all_is_said)
{
    made_begin();
    put_loss(SFB_LOSS_RING_FULL, 1);
    made_end("the program ended");
    expect("", "  lost: 1 sample: the thread's ring was full\n", NULL);
    unlink(made_path);
}

Test(calm, what_lost_nothing_is_no_warning)
{
    made_begin();
    made_own_modules();
    put_samples(made_stack(made_inside(report_inner), NULL, 0, false), 10, SFB_END);
    put_loss(SFB_LOSS_INTERRUPTED, 9);
    put_loss(SFB_LOSS_RATE, 1);
    put_loss(SFB_LOSS_HEAP_WAITS, 5);
    made_end("the program ended");
    expect("", "10 samples", "EINTR");
    expect("", "10 samples", "rate was lowered");
    expect("", "10 samples", "waits of threads");
    expect("--check", "  9 system calls that returned EINTR", "lost: ");
    expect("--check", "  1 step by which the rate was lowered", "lost: ");
    expect("--check", "  5 waits of threads", NULL);
    unlink(made_path);
}

/* --- What to do -------------------------------------------------------------------------------------- */

Test(calm, names_the_sysctl)
{
    const struct sfb_recording_thread_end end = { 1, 3000000000, 20 * MS, 10 * MS };
    struct sfb_recording_start closed = made_start;

    closed.engine_text = "perf: refused; kernel.perf_event_paranoid is 3";
    begin(&closed, "/bin/program", "x");
    put_samples(0, 10, SFB_NO_RESOURCE);
    cr_assert(eq(int, sfb_recording_put_thread_end(made_writer, &end), SFB_OK));
    made_end("the program ended");
    expect("", "    try: sysctl kernel.perf_event_paranoid=2: ", "a higher sfb record --rate");
    unlink(made_path);
}

static void expect_of_runtime(const char *program, const char *arguments, const char *for_names,
                              const char *for_callers)
{
    begin(&made_start, program, arguments);
    put_samples(made_stack(0x7000, NULL, 0, true), 10, SFB_NO_MODULE);
    made_end("the program ended");
    expect("", "  without names: code in no module 100.00 %\n", NULL);
    expect("", for_names, NULL);
    expect("", for_callers, NULL);
    unlink(made_path);
}

/* One that was given already is not named: it did not help. */
Test(calm, names_the_option_of_a_runtime)
{
    static const char limits[] = "    try: docs/LIMITS.md ", map[] = "    try: a /tmp/perf-PID.map";

    expect_of_runtime("/usr/bin/node", "node", "    try: node --perf-basic-prof\n", limits);
    expect_of_runtime("/usr/bin/node", "node --perf-basic-prof", map, limits);
    expect_of_runtime("/usr/bin/python3.12", "python3", "    try: python3 -X perf ", limits);
    expect_of_runtime("/jvm/bin/java", "java",
                      "    try: java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit\n",
                      "    try: java -XX:+PreserveFramePointer\n");
    expect_of_runtime("/jvm/bin/java", "java -XX:+PreserveFramePointer", "DumpPerfMapAtExit\n",
                      limits);
    expect_of_runtime("/opt/nodes", "nodes", "the code is made by nodes\n",
                      "frame pointers in the code that nodes makes");
}

Test(calm, names_the_debug_package)
{
    struct run installed = run_line("dpkg-query -W libc6 coreutils >/dev/null && echo yes");
    const bool is_debian = strcmp(installed.out, "yes\n") == 0;
    Dl_info libc;

    run_free(&installed);
    if (!is_debian)
        cr_skip_test("no dpkg-query, or no package libc6");
    cr_assert(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) != 0);
    begin(&made_start, "/bin/program", "x");
    put_samples(put_module(libc.dli_fname), 10, SFB_END);
    made_end("the program ended");
    expect("", "    try: apt install libc6-dbg\n", NULL);
    unlink(made_path);
    begin(&made_start, "/bin/program", "x");
    put_samples(put_module("/bin/true"), 10, SFB_END);
    made_end("the program ended");
    expect("", "    try: apt install coreutils-dbgsym (-dbgsym: of Debian's debug archive)\n",
           NULL);
    unlink(made_path);
}

/* A path is foreign: what it has is neither run nor a pattern, and cannot move a cursor. */
Test(calm, says_where_a_file_is_looked_for)
{
    begin(&made_start, "/bin/program", "x");
    put_samples(put_module("/nowhere/a;touch x\x1b[2J*.so"), 10, SFB_END);
    made_end("the program ended");
    expect("",
           "  without names: a;touch x\\033[2J*.so 100.00 %\n"
           "    try: --symbol-path with a folder that has a;touch x\\033[2J*.so: it is not here\n",
           NULL);
    expect("--symbols=none", "10 samples", "without names");
    expect("--check", "  without names: a;touch x", "try:");
    unlink(made_path);
}
