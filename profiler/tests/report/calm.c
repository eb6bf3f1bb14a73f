/* What is missing: little of it is said in --check alone; what matters is said with what to do. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "profiler/tests/report/made_heap.h"
#include "sfb/image_map.h"
#include "sfb/recording.h"
#include "support/run.h"
#include "support/test.h"
#include "util/counted.h"

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

/* Modules without build-ids. @param stacks  what is written there: a pc in each that no symbol covers */
static void put_modules(uint32_t *stacks, const char *const *paths, size_t count)
{
    enum { SPAN = 0x10000000 };
    uint8_t map[512];
    struct sfb_image_map_encoder encoder;

    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    for (size_t i = 0; i < count; i++) {
        const uint64_t base = (i + 1) * SPAN;
        const struct sfb_image image = { .base = base,
                                         .end_of_text = base + SPAN,
                                         .path = paths[i],
                                         .path_size = strlen(paths[i]) };

        cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    }
    made_modules(made_start.monotonic, map, sfb_image_map_encoder_end(&encoder));
    for (size_t i = 0; i < count; i++)
        stacks[i] = made_stack((i + 2) * SPAN - 0x10000, NULL, 0, false);
}

static uint32_t put_module(const char *path)
{
    uint32_t stack;

    put_modules(&stack, &path, 1);
    return stack;
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
        [SFB_LOSS_DEEPBIND] = ("module with RTLD_DEEPBIND or __libc_malloc(), whose own calls of "
                               "malloc() and free() are not seen"),
        [SFB_LOSS_FILTER] = "process with a seccomp filter: not recorded from there on",
        [SFB_LOSS_HEAP_UNSEEN] = "event of the heap unseen, of modules that bypass the agent",
        [SFB_LOSS_PYTHON_OBJECTS] =
            "process with a Python that has set its own allocators: no small objects",
        [SFB_LOSS_PYTHON_FUNCTIONS] =
            "process with more Python functions than find room, [omitted] in stacks",
        [SFB_LOSS_PYTHON] = "process with a Python whose functions are shown as C",
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

/* --- Two ways -------------------------------------------------------------------------------------- */

static void put_program(uint32_t id, const char *program)
{
    const struct sfb_recording_process process = { .id = id,
                                                   .pid = 100 + id,
                                                   .time = made_start.monotonic,
                                                   .program = program,
                                                   .arguments = program,
                                                   .arguments_size = strlen(program) + 1 };

    cr_assert(eq(int, sfb_recording_put_process(made_writer, &process), SFB_OK));
    made_thread(id, id, "main");
}

static void put_by(uint32_t thread, uint32_t engine, uint64_t ms)
{
    const struct sfb_recording_sample sample = {
        .thread = thread, .time = 2000000000, .weight = ms * MS, .engine = engine, .end = SFB_END
    };

    cr_assert(eq(int, sfb_recording_put_sample(made_writer, &sample), SFB_OK));
}

/* Which programs were recorded from outside: most first, and those that an agent had, too. */
Test(calm, names_programs_that_were_recorded_from_outside)
{
    made_begin_as(&made_start);
    put_program(1, "/bin/agent");
    put_program(2, "/bin/static");
    put_program(3, "/bin/early\033[31m");
    put_program(4, "/opt/static");
    put_by(1, SFB_ENGINE_PERF, 50);
    put_by(2, SFB_ENGINE_OUTSIDE, 20);
    put_by(3, SFB_ENGINE_OUTSIDE_USER, 10);
    put_by(3, SFB_ENGINE_PERF, 10);
    put_by(4, SFB_ENGINE_OUTSIDE, 5);
    made_end("the program ended");
    expect("", "  from outside, without an agent: static 0.025 s, part of early\\033[31m 0.010 s\n",
           NULL);
    unlink(made_path);
}

/* Where all is from outside, the first line says so. */
Test(calm, names_no_ways_where_there_is_one)
{
    struct sfb_recording_start start = made_start;

    start.engine = SFB_ENGINE_OUTSIDE;
    made_begin_as(&start);
    put_program(1, "/bin/static");
    put_by(1, SFB_ENGINE_OUTSIDE, 20);
    made_end("the program ended");
    expect("", "by perf from outside", "without an agent");
    unlink(made_path);
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
           "    try: perf, which sees more than timers: ",
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

/* Four times 0.4 %. */
Test(calm, little_of_many_modules_is_said_together)
{
    static const char *const paths[] = { "/nowhere/a.so", "/nowhere/b.so", "/nowhere/c.so",
                                         "/nowhere/d.so" };
    uint32_t stacks[4];

    begin(&made_start, "/bin/program", "x");
    put_modules(stacks, paths, 4);
    for (size_t i = 0; i < 4; i++)
        put_samples(stacks[i], 4, SFB_END);
    put_samples(0, 984, SFB_NO_RESOURCE);
    made_end("the program ended");
    expect("", "  without names: a.so 0.40 %, 3 more modules 1.20 %\n    try: ", NULL);
    unlink(made_path);
    begin(&made_start, "/bin/program", "x");
    put_modules(stacks, paths, 4);
    put_samples(stacks[0], 4, SFB_END);
    put_samples(0, 996, SFB_NO_RESOURCE);
    made_end("the program ended");
    expect("", "1000 samples", "without names");
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

/* One of 301 is less than half a percent, and may be the one that is slow. */
Test(calm, a_process_without_a_record_is_always_said)
{
    enum { RECORDED = 300 };
    struct sfb_recording_start start = made_start;

    start.engine = SFB_ENGINE_LOOKS;
    made_begin_as(&start);
    for (uint32_t i = 1; i <= RECORDED; i++) {
        put_program(i, "/bin/program");
        put_by(i, SFB_ENGINE_LOOKS, 10);
    }
    put_loss(SFB_LOSS_NO_PROCESS, 1);
    put_loss(SFB_LOSS_NO_TIMER, 1);
    made_end("the program ended");
    expect("",
           "  lost: 1 process: no place was left\n"
           "    try: a larger limit of descriptors: ulimit -n\n",
           "the system gave no timer");
    expect("--check", "  lost: 1 thread: the system gave no timer\n", NULL);
    unlink(made_path);
}

Test(calm, time_without_an_agent_is_for_a_tool_that_needs_none)
{
    made_begin();
    put_loss(SFB_LOSS_CPU, 100);
    put_loss(SFB_LOSS_NOT_FOLLOWED, 1);
    made_end("the program ended");
    expect("",
           "  lost: 100 ms of CPU time that is in no process of the recording\n"
           "    try: perf record, which needs no agent",
           NULL);
    expect("",
           "  lost: 1 process that could not be followed\n"
           "    try: perf record, which needs no agent",
           NULL);
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
    put_loss(SFB_LOSS_LOOKS, 3);
    made_end("the program ended");
    expect("", "10 samples", "EINTR");
    expect("", "  1 step by which the rate was lowered", "lost: ");
    expect("", "10 samples", "waits of threads");
    expect("", "  3 threads whose waits are by looks alone", "lost: ");
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

static void put_wait(uint32_t stack, enum sfb_status how)
{
    const struct sfb_recording_wait wait = { .thread = 1,
                                             .stack = stack,
                                             .time = 1600000000,
                                             .weight = 90 * MS,
                                             .state = SFB_STATE_ASLEEP,
                                             .end = how,
                                             .call = "futex" };

    cr_assert(eq(int, sfb_recording_put_wait(made_writer, &wait), SFB_OK));
}

static struct sfb_recording_start looks(uint32_t rate, const char *text)
{
    struct sfb_recording_start start = made_start;

    start.engine = SFB_ENGINE_LOOKS;
    start.rate_hz = rate;
    start.engine_text = text;
    return start;
}

/* Looks are no samples: a higher rate of them finds more, and an agent of CPU time still more. */
Test(calm, advises_what_looks_can_do)
{
    static const struct {
        uint32_t rate;
        const char *text, *says, *not ;
    } cases[] = {
        { 100, "CPU time and waits, 100 looks a second",
          "    try: sfb record --wall --wall-rate 1000; or, of CPU time alone, sfb record ",
          "perf record" },
        { 1000, "CPU time and waits, 1000 looks a second",
          "    try: of CPU time alone, sfb record ", "--wall-rate" },
        { 997, "997 looks a second", "    try: sfb record without --engine looks", "--wall" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sfb_recording_start start = looks(cases[i].rate, cases[i].text);
        const struct sfb_recording_thread_end end = { 1, 3000000000, 20 * MS, 10 * MS };

        for (unsigned what = 0; what < 3; what++) {
            begin(&start, "/bin/program", "x");
            if (what == 0) { /* never sampled */
                put_samples(0, 10, SFB_NO_RESOURCE);
                cr_assert(eq(int, sfb_recording_put_thread_end(made_writer, &end), SFB_OK));
            }
            if (what == 1)
                put_loss(SFB_LOSS_CPU, 100);
            made_end(what == 2 ? "the program ended; no samples: the program ended before a look "
                                 "found it"
                               : "the program ended");
            expect("", cases[i].says, cases[i].not );
            made_expect(2, "--by call", "",
                        cases[i].rate == 997 ? "waits take sfb record --wall" : "no wait is in it");
            unlink(made_path);
        }
    }
}

/* The kernel tells pc and sp of a thread that sleeps: what needs its frame pointer is not walked, and a frame record is no help. */
Test(calm, advises_what_cuts_off_stacks_of_waits)
{
    const struct sfb_recording_start start = looks(100, "CPU time and waits, 100 looks a second");

    for (unsigned fp = 0; fp < 2; fp++) {
        begin(&start, "/bin/program", "x");
        made_own_modules();
        put_wait(made_stack(made_inside(report_inner), NULL, 0, true),
                 fp ? SFB_MISALIGNED : SFB_NO_CFI);
        made_end("the program ended");
        expect("",
               fp ? "    try: -fomit-frame-pointer for test-report-calm: of a thread that sleeps "
                  : "    try: -fasynchronous-unwind-tables for test-report-calm\n",
               "-fno-omit-frame-pointer");
        unlink(made_path);
    }
}

/* The advice is what would help: no rate that the system does not give, no more samples of one long thread. */
Test(calm, advises_by_the_cause_of_what_was_never_sampled)
{
    static const struct {
        const char *engine;
        uint64_t cpu_ns;
        bool late;
        const char *says, *not ; /* after "try: " */
    } cases[] = {
        { "", 15 * MS, false, "a higher sfb record --rate",
          "profiler/docs/PROFILING.md, \"Engines\"" },
        { "", 900 * MS, false, "profiler/docs/PROFILING.md, \"Engines\"",
          "a higher sfb record --rate" },
        { "", 900 * MS, true,
          "profiler/docs/PROFILING.md, \"What you do not see\": code that blocks",
          "try: profiler/docs/PROFILING.md, \"Engines\"" },
        { "perf: perf_event_open: Operation not permitted; a filter of system calls", 15 * MS,
          false, "perf, which sees more than timers", "a higher sfb record --rate" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sfb_recording_thread_end end = { 1, 3000000000, cases[i].cpu_ns, 5 * MS };
        struct sfb_recording_start start = made_start;
        char says[128];

        snprintf(says, sizeof says, "    try: %s", cases[i].says);
        start.engine_text = cases[i].engine;
        begin(&start, "/bin/program", "x");
        put_samples(0, 10, SFB_NO_RESOURCE);
        if (cases[i].late)
            put_loss(SFB_LOSS_LATE, 1);
        cr_assert(eq(int, sfb_recording_put_thread_end(made_writer, &end), SFB_OK));
        made_end("the program ended");
        expect("", says, cases[i].not );
        unlink(made_path);
    }
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

/* Code that java makes calls a library, whose tables are not at fault. A look at a thread that sleeps has no frame pointer. */
Test(calm, blames_no_library_that_a_runtime_calls)
{
    const struct sfb_recording_start start = looks(100, "CPU time and waits, 100 looks a second");

    for (unsigned waits = 0; waits < 2; waits++) {
        uint32_t stack;

        begin(&start, "/jvm/bin/java", "java");
        made_own_modules();
        stack = made_stack(made_inside(report_inner), NULL, 0, true);
        if (waits)
            put_wait(stack, SFB_NO_MODULE);
        else
            put_samples(stack, 10, SFB_NO_MODULE);
        made_end("the program ended");
        expect("", waits ? "    try: docs/LIMITS.md " : "    try: java -XX:+PreserveFramePointer\n",
               "unwind-tables");
        unlink(made_path);
    }
}

static bool has_package_libc6(void)
{
    struct run installed = run_line("dpkg-query -W libc6 coreutils >/dev/null && echo yes");
    const bool found = strcmp(installed.out, "yes\n") == 0;

    run_free(&installed);
    return found;
}

Test(calm, names_the_debug_package)
{
    Dl_info libc;

    if (!has_package_libc6())
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

/* libc.so.6 and libm.so.6 are of one package. */
Test(calm, names_each_package_once)
{
    Dl_info libc, libm;
    uint32_t stacks[3];

    if (!has_package_libc6())
        cr_skip_test("no dpkg-query, or no package libc6");
    cr_assert(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) != 0);
    cr_assert(dladdr(dlsym(dlopen("libm.so.6", RTLD_NOW), "cbrt"), &libm) != 0);
    begin(&made_start, "/bin/program", "x");
    put_modules(stacks, (const char *const[]){ libc.dli_fname, "/bin/true", libm.dli_fname }, 3);
    for (size_t i = 0; i < 3; i++)
        put_samples(stacks[i], 10 * (3 - i), SFB_END);
    made_end("the program ended");
    expect("",
           "    try: apt install libc6-dbg coreutils-dbgsym (-dbgsym: of Debian's debug archive)\n",
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
