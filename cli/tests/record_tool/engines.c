/* sfb record's engines: which one serves where, what it reaches, and what it does to the program's system calls. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_engine, .init = folder_enter, .fini = folder_remove);

#define CALLS      "'" SFB_RECORD_CALLS "'"
#define AS_ANOTHER "setpriv --reuid 65534 --regid 65534 --clear-groups"

enum { RATE = 997 };

/* CPU ms that all of a recording's processes used. */
static double cpu_ms(const struct recorded *r)
{
    return (double)recorded_cpu(r->contents) / 1e6;
}

static int paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = 99;

    if (!file)
        return level;
    if (fscanf(file, "%d", &level) != 1)
        level = 99;
    fclose(file);
    return level;
}

static bool may_be_another(void)
{
    if (geteuid() != 0)
        return false;
    chmod(folder_path(), 0777);
    return system(AS_ANOTHER " test -x '" SFB_TOOL "' 2>/dev/null") == 0;
}

/* Samples of code in user mode, of the rate that was asked for: a busy machine takes some. */
static void expect_full_rate(const struct recorded *r)
{
    cr_expect_eq(r->run.status, 0, "%s", r->run.err);
    cr_expect_eq(r->contents->engine, SFB_ENGINE_PERF, "%s", r->contents->engine_text);
    cr_expect(cpu_ms(r) * RATE / 1000 * 0.6 < (double)r->contents->samples,
              "%llu samples of %f ms: %s", (unsigned long long)r->contents->samples, cpu_ms(r),
              r->run.err);
    cr_expect(strstr(r->run.err, "were reached") == NULL, "%s", r->run.err);
}

Test(record_engine, an_ordinary_user_gets_the_rate_that_was_asked_for)
{
    struct recorded r;

    if (!may_be_another() || paranoid() > 2) {
        SAY_SKIPPED("record_engine: this user cannot become one that may use perf");
        return;
    }
    r = recorded_by(AS_ANOTHER, CALLS " spin 500");
    expect_full_rate(&r);
    recorded_free(&r);
}

/* As Docker's filter refuses it, and as some kernels refuse it to ordinary users. */
Test(record_engine, says_which_rate_timers_reach_and_what_would_help)
{
    struct timespec tick;
    struct recorded r = recorded_by("'" SFB_RECORD_DENIED "'", CALLS " spin 500");

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    cr_expect_eq(r.contents->engine, SFB_ENGINE_TIMER);
    cr_expect(strstr(r.contents->engine_text, "CAP_PERFMON") ||
                  strstr(r.contents->engine_text, "PERFMON"),
              "%s", r.contents->engine_text);
    if (tick.tv_nsec > 1200000) {
        char rate[64];

        snprintf(rate, sizeof rate, "timers of this kernel reach %ld Hz",
                 1000000000 / tick.tv_nsec);
        cr_expect(strstr(r.contents->engine_text, rate) != NULL, "%s", r.contents->engine_text);
        cr_expect(strstr(r.run.err, "of 997 samples a second were reached") != NULL, "%s",
                  r.run.err);
    }
    recorded_free(&r);
}

/* What its last line says of waits is what the file has. */
static void expect_waits_of_file(const struct recorded *r)
{
    char line[64];

    snprintf(line, sizeof line, " CPU seconds, %.2f s of waits, ",
             (double)r->contents->waited / 1e9);
    cr_expect(strstr(r->run.err, line) != NULL, "no \"%s\": %s", line, r->run.err);
    cr_expect_gt(r->contents->waited, 100000000, "%s", r->run.err);
}

/* Switch records are refused, too: looks alone find the waits. */
Test(record_engine, waits_are_recorded_where_perf_is_refused)
{
    struct recorded r = recorded_by("'" SFB_RECORD_DENIED "'", "--wall sleep 0.3");

    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    cr_expect(strstr(r.run.err, "sfb: waits by ") != NULL, "%s", r.run.err);
    cr_expect(strstr(r.run.err, "switch records") == NULL, "%s", r.run.err);
    expect_waits_of_file(&r);
    recorded_free(&r);
}

static void expect_no_interruption(const char *engine)
{
    enum { CALLS_OF_A_KIND = 1500, KINDS = 7 };
    struct recorded r = recorded("--engine %s " CALLS " calls %u", engine, CALLS_OF_A_KIND);
    const char *line = r.run.out;
    unsigned kinds = 0, interrupted;
    char name[32];

    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    for (; sscanf(line, "%31s %u\n", name, &interrupted) == 2; kinds++) {
        cr_expect_eq(interrupted, 0, "%s: %u calls of %s returned EINTR", engine, interrupted,
                     name);
        line = strchr(line, '\n') + 1;
    }
    cr_expect_eq(kinds, KINDS, "%s%s", r.run.out, r.run.err);
    cr_expect_gt(r.contents->samples, 20, "%s", r.run.err);
    recorded_free(&r);
}

Test(record_engine, perf_interrupts_no_call)
{
    struct run run = run_line("'%s' record --engine perf -o x true", SFB_TOOL);

    if (run.status == 0)
        expect_no_interruption("perf");
    else
        SAY_SKIPPED("record_engine: perf is refused");
    run_free(&run);
}

Test(record_engine, timers_interrupt_no_call)
{
    expect_no_interruption("timer");
}

static void ignore(int signal)
{
    (void)signal;
}

/* @return us of CPU time of a signal to itself; 2 as a rule, 60 on some virtual machines */
static double signal_cost(void)
{
    enum { SIGNALS = 500 };
    const struct sigaction action = { .sa_handler = ignore };
    struct timespec begin, end;

    sigaction(SIGUSR2, &action, NULL);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (unsigned i = 0; i < SIGNALS; i++)
        raise(SIGUSR2);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e6 +
            (double)(end.tv_nsec - begin.tv_nsec) / 1e3) /
           SIGNALS;
}

/* At the highest rate the handler and its delivery take longer than the period: the rate is lowered, and that is said. */
Test(record_engine, no_rate_brings_a_program_to_a_standstill)
{
    enum { TIMES = 500 };
    struct run plain = run_line(CALLS " load %d", TIMES);
    struct recorded r = recorded("--rate 20000 " CALLS " load %d", TIMES);
    double alone = 0, with = 0;

    cr_assert(sscanf(plain.out, "%lf", &alone) == 1 && sscanf(r.run.out, "%lf", &with) == 1, "%s%s",
              plain.err, r.run.err);
    /* Twice, and what the clocks of a busy machine add. Nine times was seen where a signal takes 60 us. */
    cr_expect(with < (signal_cost() < 20 ? 3 : 15) * alone, "%f ms, and %f without: %s", with,
              alone, r.run.err);
    run_free(&plain);
    recorded_free(&r);
}

/*
 * A sample that comes after a long time is of where the signal could come at last. It stands for one period, and the
 * rest for nothing.
 */
Test(record_engine, a_late_sample_is_not_believed)
{
    static const char *const engines[] = { "", "--engine timer", "--engine sampler" };
    enum { LATE = 300 };

    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct recorded r = recorded("%s " CALLS " late %d", engines[i], LATE);
        const uint64_t never = r.contents->rests + r.contents->unsampled;

        cr_expect_eq(r.run.status, 0, "%s", r.run.err);
        cr_expect_gt(r.contents->lost[SFB_LOSS_LATE], 0, "%s", r.run.err);
        cr_expect_gt(never, LATE * 800000U, "%s: %s", engines[i], r.run.err);
        recorded_free(&r);
    }
}

/* Both ends are kept, so that all stacks of a program meet at its beginning. */
Test(record_engine, deep_stacks_reach_their_outermost_frame)
{
    struct recorded r = recorded(CALLS " deep 3000");
    struct run report;

    cr_expect(r.contents->complete * 10 > r.contents->samples * 9, "%s", r.run.err);
    recorded_free(&r);

    r = recorded("--max-frames 64 " CALLS " deep 3000");
    report = run_line("'%s' report --folded it.sfbr", SFB_TOOL);
    cr_expect(strstr(report.out, "main;") != NULL && strstr(report.out, ";[omitted];") != NULL &&
                  strstr(report.out, ";spin") != NULL,
              "%.2000s", report.out);
    run_free(&report);
    recorded_free(&r);
}

/* Its signals come at any time: a call that one has ended is made again. */
Test(record_engine, the_sampler_interrupts_no_call)
{
#if defined __x86_64__ && (__GLIBC__ == 2 && __GLIBC_MINOR__ < 41)
    expect_no_interruption("sampler");
#else
    SAY_SKIPPED("record_engine: the number of an interrupted call is not known here");
#endif
}

/* The kernel's time is found by the tick, which comes each 4 ms. */
Test(record_engine, time_in_the_kernel_has_samples)
{
    struct recorded r = recorded(CALLS " read 600");

    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    cr_expect(cpu_ms(&r) * 0.8e6 < (double)r.contents->weight, "%f of %f ms",
              (double)r.contents->weight / 1e6, cpu_ms(&r));
    cr_expect_gt(r.contents->samples, 40, "%s", r.run.err);
    recorded_free(&r);
}

/* The weight of stacks with a function, of lines as `sfb report --folded-ns` has them. */
static double weight_of(const char *folded, const char *function)
{
    double sum = 0;

    for (const char *line = folded, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *found = strstr(line, function), *weight = end;

        while (weight > line && weight[-1] != ' ')
            weight--;
        if (found && found < end)
            sum += strtod(weight, NULL) / 1e6;
    }
    return sum;
}

/* Kernel time is given to the system calls and page faults where it was spent. */
Test(record_engine, kernel_time_is_where_it_was_spent)
{
    static const char *const names[] = { "part_call", "part_faults", "part_user" };
    struct recorded r = recorded(CALLS " parts 1500");
    struct run report = run_line("'%s' report --folded-ns it.sfbr", SFB_TOOL);
    double took[3] = { 0, 0, 0 };

    cr_assert_eq(sscanf(r.run.out, "%lf %lf %lf", &took[0], &took[1], &took[2]), 3, "%s",
                 r.run.err);
    for (unsigned i = 0; i < 3; i++) {
        const double shown = weight_of(report.out, names[i]);

        cr_expect(shown > took[i] - 180 && shown < took[i] + 180, "%s: %f ms, and %f are shown",
                  names[i], took[i], shown);
    }
    run_free(&report);
    recorded_free(&r);
}
