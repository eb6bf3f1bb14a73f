/* Programs that use SIGPROF themselves behave as without the agent, and are sampled all the same. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/record/expect.h"

/* The program checks itself. The same words without the agent have to do the same. */
static void expect_same(const char *words, unsigned ms, unsigned threads)
{
    struct record_how how = { .no_agent = true };
    struct recorded *plain = record(&how, words), *r = record(NULL, words);

    expect_status(plain, 0);
    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, ms, threads);
    recorded_free(plain);
    recorded_free(r);
}

Test(record_signals, action_and_mask_are_read_back)
{
    expect_same("reads_back 60", 60, 2);
}

Test(record_signals, old_functions_are_the_programs)
{
    expect_same("system_v 60", 60, 1);
    expect_same("bsd 60", 120, 1);
}

Test(record_signals, what_waits_ends_a_call_that_lets_it_through)
{
    expect_same("waits_with_mask 80", 80, 1);
}

Test(record_signals, an_alternate_stack_that_is_too_small_is_left_alone)
{
    expect_same("small_stack 5120 80", 80, 1);
}

Test(record_signals, the_programs_own_timer_goes_on)
{
    expect_same("own_timer 150", 150, 1);
    expect_same("own_thread_timer 150", 150, 1);
}

Test(record_signals, what_the_program_blocks_waits)
{
    expect_same("waits_while_blocked 60", 60, 1);
}

Test(record_signals, what_it_ignores_is_ignored)
{
    expect_same("ignores 60", 60, 1);
}

Test(record_signals, a_handler_may_jump_out)
{
    expect_same("jumps_out 60", 60, 1);
}

Test(record_signals, a_handler_has_its_mask)
{
    expect_same("handlers_mask 60", 60, 1);
    expect_same("masks_in_handler 60", 60, 1);
}

Test(record_signals, threads_that_block_all_are_sampled)
{
    expect_same("all_blocked 80", 160, 2);
}

Test(record_signals, work_with_all_blocked_is_in_the_next_weight)
{
    struct recorded *r = record(NULL, "works_in_handler 60");
    struct recorded_sum sum = recorded_sum(r, 0);

    expect_status(r, 0);
    expect_no_loss(r);
    cr_expect_geq((double)sum.weight, 60e6);
    recorded_free(r);
}

Test(record_signals, a_new_program_finds_what_exec_leaves)
{
    static const char *const ways[] = { "exec_finds default", "exec_finds handler",
                                        "exec_finds ignored" };
    struct record_how without = { .no_agent = true };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recorded *plain = record(&without, ways[i]), *r = record(NULL, ways[i]);

        expect_status(plain, 0);
        expect_status(r, 0);
        cr_expect_eq(r->process_count, 2);
        recorded_free(plain);
        recorded_free(r);
    }
}

Test(record_signals, a_new_program_inherits_the_mask)
{
    struct record_how without = { .no_agent = true };
    struct recorded *plain = record(&without, "mask_is_inherited"),
                    *r = record(NULL, "mask_is_inherited");

    expect_status(plain, 0);
    expect_status(r, 0);
    cr_expect_eq(r->process_count, 7);
    recorded_free(plain);
    recorded_free(r);
}

Test(record_signals, errno_is_kept)
{
    expect_same("keeps_errno 100", 100, 1);
}

/* Threads of Go and the like give their handlers 8 KiB and more, of which the kernel takes 1 to 4. */
Test(record_signals, the_handler_takes_little_stack)
{
    struct recorded *r = record(NULL, "uses_stack 150");
    long used = strtol(r->out, NULL, 10);

    expect_status(r, 0);
    expect_sampled(r, 0, 150, 1);
    cr_expect_gt(used, 500);
    cr_expect_leq(used, 4096, "%ld bytes", used);
    recorded_free(r);
}

Test(record_signals, the_default_ends_the_program)
{
    static const char *const ways[] = { "dies_by_default 2000", "resets 60" };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recorded *r = record(NULL, ways[i]);

        cr_expect(WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGPROF, "%s: %#x", ways[i],
                  (unsigned)r->status);
        recorded_free(r);
    }
}

/* Samples of a profile of gperftools: words, 0, 3, 0, period, 0; then (count, depth, pcs...), until one of pc 0. */
static uint64_t profiled(const char *file)
{
    uint64_t words[4096] = { 0 }, samples = 0;
    FILE *f = fopen(file, "re");
    size_t count = f ? fread(words, sizeof *words, sizeof words / sizeof *words, f) : 0;

    if (f)
        fclose(f);
    for (size_t i = 5; i + 2 < count && words[i + 2] != 0; i += 2 + words[i + 1])
        samples += words[i];
    return samples;
}

/* gperftools' CPU profiler, preloaded, before and behind the agent's constructor. */
Test(record_signals, gperftools_goes_on)
{
    static const char *const names[] = { "/usr/lib/x86_64-linux-gnu/libprofiler.so.0",
                                         "/usr/lib/aarch64-linux-gnu/libprofiler.so.0" };
    char file[] = "/tmp/sfb-profile-XXXXXX";
    const char *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (access(names[i], R_OK) == 0)
            library = names[i];
    if (!library)
        cr_skip_test("libprofiler.so.0 is not installed (Debian: libgoogle-perftools4)");
    close(mkstemp(file));
    setenv("CPUPROFILE", file, 1);
    for (int per_thread = 0; per_thread < 2; per_thread++) {
        struct record_how how = { .preload = library };
        struct recorded *r;

        if (per_thread)
            setenv("CPUPROFILE_PER_THREAD_TIMERS", "1", 1);
        cr_assert_eq(truncate(file, 0), 0);
        r = record(&how, "burn 300");
        expect_status(r, 0);
        expect_sampled(r, 0, 300, 1);
        cr_expect_geq(profiled(file), 5);
        recorded_free(r);
    }
    unlink(file);
}
