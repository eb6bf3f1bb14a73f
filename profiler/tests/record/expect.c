#include "profiler/tests/record/expect.h"

#include <criterion/criterion.h>
#include <sys/wait.h>

void expect_status(const struct recorded *r, int status)
{
    cr_expect(WIFEXITED(r->status) && WEXITSTATUS(r->status) == status, "status %#x",
              (unsigned)r->status);
}

/*
 * A signal may come while the agent begins or ends a thread: its CPU time is in the next weight. A machine that has other
 * work may deliver one late.
 */
static bool is_harmless(size_t reason)
{
    return reason == SFB_LOSS_NESTED || reason == SFB_LOSS_LATE;
}

void expect_no_loss(const struct recorded *r)
{
    for (size_t i = 0; i < r->process_count; i++)
        for (size_t k = 0; k < SFB_LOSS_COUNT; k++)
            cr_expect(is_harmless(k) || r->process[i].lost[k] == 0, "process %zu lost %zu", i, k);
    for (size_t i = 0; i < r->thread_count; i++)
        for (size_t k = 0; k < SFB_LOSS_COUNT; k++)
            cr_expect(is_harmless(k) || r->thread[i].lost[k] == 0, "thread %zu lost %zu", i, k);
    for (size_t k = 0; k < SFB_LOSS_COUNT; k++)
        cr_expect_eq(r->lost[k], 0, "lost %zu", k);
}

void expect_sampled(const struct recorded *r, int process, unsigned ms, unsigned threads)
{
    struct recorded_sum sum = recorded_sum(r, process);

    cr_assert_lt(process, (int)r->process_count);
    cr_expect_eq(sum.threads, threads, "%u threads", (unsigned)sum.threads);
    /* A tick is at most 10 ms; a machine that has other work, too, lets a thread run between ticks. */
    cr_expect_geq(sum.samples, ms / 50, "%u samples", (unsigned)sum.samples);
    cr_expect_geq(sum.cpu, (uint64_t)ms * 1000000U, "%f ms", (double)sum.cpu / 1e6);
    cr_expect_leq(sum.weight, sum.cpu);
    cr_expect_gt(sum.weight, 0);
}
