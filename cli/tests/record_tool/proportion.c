/* The samples of short programs by each engine: in proportion to their CPU time. Labelled `timing`: it runs alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_proportion, .init = folder_enter, .fini = folder_remove);

#define IDLE 0.25 /* of two processors half of one: the other runs the programs and the collector */

enum { RATE = 997 };

/* What so many programs of some thousand rounds each used since their agents came, in s, and their samples. */
static void record_short(const char *engine, unsigned count, unsigned rounds, double *cpu,
                         double *samples)
{
    const char *name = strrchr(SFB_RECORD_CALLS, '/') + 1;
    struct recorded r =
        recorded("--engine %s $P spawn %u " SFB_RECORD_CALLS " rounds %u", engine, count, rounds);

    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    *cpu = *samples = 0;
    for (uint32_t i = 0; i < r.contents->process_count; i++) {
        const struct contents_process *p = &r.contents->process[i];

        if (strstr(p->program, name)) {
            *cpu += (double)p->cpu / 1e9;
            *samples += (double)p->samples;
        }
    }
    recorded_free(&r);
}

struct short_ones {
    const char *engine;
    unsigned count, rounds;
    double rate, least, most; /* of the samples that there should be */
    bool waits;               /* for an idle processor, before it samples */
};

/* What the processors of the machine did since it started, in ticks. */
struct processors {
    unsigned long long all, idle;
};

static struct processors processors(void)
{
    FILE *file = fopen("/proc/stat", "re");
    unsigned long long t[8] = { 0 }; /* user, nice, system, idle, iowait, irq, softirq, steal */
    struct processors p = { 0, 0 };

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                        &t[3], &t[4], &t[5], &t[6], &t[7]),
                 8);
    fclose(file);
    for (unsigned i = 0; i < 8; i++)
        p.all += t[i];
    p.idle = t[3] + t[4];
    return p;
}

/* @return the part of their time in which processors had nothing to do, since `before` */
static double idle_part(const struct processors *before)
{
    const struct processors now = processors();

    return (double)(now.idle - before->idle) / (double)(now.all - before->all);
}

/*
 * As many samples as their CPU time has periods. What agent and kernel do at their beginning and end is left out. A
 * sampler that waits for a processor comes when the program has ended: then there may be fewer.
 */
static void expect_in_proportion(const struct short_ones *s)
{
    double cpu, samples, cpu_of_none, samples_of_none, wanted, sigma, idle;
    struct processors before;

    record_short(s->engine, s->count, 0, &cpu_of_none, &samples_of_none);
    before = processors();
    record_short(s->engine, s->count, s->rounds, &cpu, &samples);
    idle = idle_part(&before);
    wanted = (cpu - cpu_of_none) * s->rate;
    samples -= samples_of_none;
    sigma = sqrt(wanted);
    if (s->waits && idle < IDLE && wanted > 0 && samples < s->least * wanted - 3 * sigma) {
        SAY_SKIPPED(
            "record_proportion: that the sampler takes enough samples: processors are busy");
        cr_expect(samples > 0);
        return;
    }
    cr_expect(wanted > 0 && samples > s->least * wanted - 3 * sigma &&
                  samples < s->most * wanted + 3 * sigma,
              "%s, %u times %u000 rounds: %.0f samples, wanted %.0f", s->engine, s->count,
              s->rounds, samples, wanted);
}

/* For a part of a period, and for some: three sigma, and a fifth for a busy machine, on which the recorder comes late. */
Test(record_proportion, perf_samples_short_programs_in_proportion)
{
    static const struct short_ones cases[] = { { "perf", 500, 500, RATE, 0.8, 1.2, false },
                                               { "perf", 500, 8000, RATE, 0.8, 1.2, false } };
    struct run run = run_line("'%s' record --engine perf -o x true", SFB_TOOL);

    for (size_t i = 0; run.status == 0 && i < sizeof cases / sizeof *cases; i++)
        expect_in_proportion(&cases[i]);
    if (run.status != 0)
        SAY_SKIPPED("record_proportion: perf is refused");
    run_free(&run);
}

/* On a busy machine a program gets its processor at a tick, and the next one comes when the program has ended. */
Test(record_proportion, timers_sample_programs_of_a_part_of_a_tick)
{
    struct timespec tick = { 0, 0 };
    struct short_ones s = { "timer", 1500, 1500, RATE, 0.6, 1.5, false };

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    if (tick.tv_nsec > 1000000000 / RATE)
        s.rate = 1e9 / (double)tick.tv_nsec;
    expect_in_proportion(&s);
}

/* Its looks are a thousandth of a second apart at least, and come late on a busy machine. */
Test(record_proportion, the_sampler_samples_short_programs)
{
    expect_in_proportion(&(struct short_ones){ "sampler", 500, 2000, RATE, 0.3, 1.2, true });
}
