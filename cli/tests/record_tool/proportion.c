/* The samples of short programs by each engine: in proportion to their CPU time. Labelled `timing`: it runs alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_proportion, .init = folder_enter, .fini = folder_remove);

#define IDLE   0.25 /* of two processors half of one: the other runs the programs and the collector */
#define STOLEN 0.02

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
};

/* What the processors of the machine did since it started, in ticks. */
struct processors {
    unsigned long long all, idle, stolen;
};

static struct processors processors(void)
{
    FILE *file = fopen("/proc/stat", "re");
    unsigned long long t[8] = { 0 }; /* user, nice, system, idle, iowait, irq, softirq, steal */
    struct processors p = { .all = 0 };

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                        &t[3], &t[4], &t[5], &t[6], &t[7]),
                 8);
    fclose(file);
    for (unsigned i = 0; i < 8; i++)
        p.all += t[i];
    p.idle = t[3] + t[4];
    p.stolen = t[7];
    return p;
}

/*
 * @return whether processors had other things to do since `before`: then a program's start costs more in one recording
 *         than in the next, a sampler that waits for a processor comes when the program has ended, and where the machine
 *         itself was taken away a timer of several periods fires once
 */
static bool were_busy(const struct processors *before)
{
    const struct processors now = processors();
    const double all = (double)(now.all - before->all);

    return (double)(now.idle - before->idle) < IDLE * all ||
           (double)(now.stolen - before->stolen) > STOLEN * all;
}

/* As many samples as their CPU time has periods. What agent and kernel do at their beginning and end is left out. */
static void expect_in_proportion(const struct short_ones *s)
{
    const struct processors before = processors();
    double cpu, samples, cpu_of_none, samples_of_none, wanted, sigma;

    record_short(s->engine, s->count, 0, &cpu_of_none, &samples_of_none);
    record_short(s->engine, s->count, s->rounds, &cpu, &samples);
    cr_expect(samples > 0);
    if (were_busy(&before)) {
        SAY_SKIPPED("record_proportion: that %s takes as many samples as there are periods: "
                    "processors are busy",
                    s->engine);
        return;
    }
    wanted = (cpu - cpu_of_none) * s->rate;
    samples -= samples_of_none;
    sigma = sqrt(wanted + 2 * samples_of_none); /* of a difference */
    cr_expect(wanted > 0 && samples > s->least * wanted - 3 * sigma &&
                  samples < s->most * wanted + 3 * sigma,
              "%s, %u times %u000 rounds: %.0f samples, wanted %.0f", s->engine, s->count,
              s->rounds, samples, wanted);
}

/* For a part of a period, and for some: three sigma, and a fifth for a busy machine, on which the recorder comes late. */
Test(record_proportion, perf_samples_short_programs_in_proportion)
{
    static const struct short_ones cases[] = { { "perf", 500, 500, RATE, 0.8, 1.2 },
                                               { "perf", 500, 8000, RATE, 0.8, 1.2 } };
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
    struct short_ones s = { "timer", 1500, 1500, RATE, 0.6, 1.5 };

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    if (tick.tv_nsec > 1000000000 / RATE)
        s.rate = 1e9 / (double)tick.tv_nsec;
    expect_in_proportion(&s);
}

/*
 * Its looks are a thousandth of a second apart at least, and come late on a busy machine; where the kernel wakes it on the
 * program's processor, a sixth of them come before the program has ended, though the other processor is idle.
 */
Test(record_proportion, the_sampler_samples_short_programs)
{
    expect_in_proportion(&(struct short_ones){ "sampler", 500, 2000, RATE, 0.1, 1.2 });
}
