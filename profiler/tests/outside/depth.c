/* How large copies of stacks should be. */
#include "profiler/collector/outside/copy_depth.h"
#include "support/test.h"

enum { KIB = 1024, MOST = 64504 };

static const uint64_t second_ns = 1000000000;

/* @param cut  all of them are */
static void note(struct copy_depth *d, uint32_t tid, unsigned count, bool cut)
{
    for (unsigned i = 0; i < count; i++)
        copy_depth_note(d, tid, cut, second_ns);
}

Test(depth, one_deep_thread_of_many_makes_copies_larger)
{
    struct copy_depth d = { .samples = 0 };

    note(&d, 1, 10000, false);
    note(&d, 2, 4, true);
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 8 * KIB, MOST, second_ns), 8 * KIB));
    note(&d, 2, 1, true);
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 8 * KIB, MOST, second_ns), 16 * KIB));
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 32 * KIB, MOST, second_ns), MOST));
    cr_expect(eq(int, (int)copy_depth_wanted(&d, MOST, MOST, second_ns), MOST));
    copy_depth_change(&d, true, second_ns);
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 16 * KIB, MOST, second_ns), 16 * KIB));
    copy_depth_free(&d);
}

Test(depth, a_stack_of_twenty_one_is_no_reason)
{
    struct copy_depth d = { .samples = 0 };

    note(&d, 1, 200, false);
    note(&d, 1, 10, true);
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 8 * KIB, MOST, second_ns), 8 * KIB));
    copy_depth_free(&d);
}

Test(depth, threads_of_few_samples_are_judged_together)
{
    struct copy_depth d = { .samples = 0 };

    for (uint32_t tid = 1; tid < 20; tid++)
        note(&d, tid, 1, true);
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 8 * KIB, MOST, second_ns), 8 * KIB));
    note(&d, 20, 1, true);
    cr_expect(eq(int, (int)copy_depth_wanted(&d, 8 * KIB, MOST, second_ns), 16 * KIB));
    copy_depth_free(&d);
}

/* What was made smaller in vain waits twice as long the next time. */
Test(depth, copies_are_made_smaller_with_more_and_more_patience)
{
    struct copy_depth d = { .samples = 0 };
    uint64_t now = second_ns;

    note(&d, 1, 100, false);
    for (uint64_t minutes = 1; minutes <= 64; minutes *= 2) {
        const uint64_t patience = (minutes < 16 ? minutes : 16) * 60 * second_ns;

        cr_expect(eq(int, (int)copy_depth_wanted(&d, MOST, MOST, now + patience - 1), MOST), "%d",
                  (int)minutes);
        now += patience;
        cr_expect(eq(int, (int)copy_depth_wanted(&d, MOST, MOST, now), 32 * KIB), "%d",
                  (int)minutes);
        cr_expect(eq(int, (int)copy_depth_wanted(&d, 8 * KIB, MOST, now), 8 * KIB));
        copy_depth_change(&d, false, now);
        copy_depth_change(&d, true, now);
    }
    copy_depth_free(&d);
}
