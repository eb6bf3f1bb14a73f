/* Processes: how they end, and what they become. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/record/expect.h"

Test(record_processes, all_ways_out_write_the_rest)
{
    static const struct {
        const char *words;
        int status;
    } ways[] = { { "_exit 60", 3 }, { "_Exit 60", 4 }, { "quick_exit 60", 5 }, { "exit 60", 6 } };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recorded *r = record(NULL, ways[i].words);

        expect_status(r, ways[i].status);
        expect_no_loss(r);
        expect_sampled(r, 0, 60, 1);
        cr_expect(r->process[0].ended && r->thread[0].ended, "%s", ways[i].words);
        cr_expect_geq(r->process[0].cpu_end - r->process[0].cpu_start, 60000000U, "%s",
                      ways[i].words);
        recorded_free(r);
    }
}

Test(record_processes, nothing_recorded_is_lost_by_a_kill)
{
    static const char *const ways[] = { "killed 100", "exit_group 100" };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recorded *r = record(NULL, ways[i]);
        struct recorded_sum sum = recorded_sum(r, -1);

        cr_expect(i == 0 ? WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL
                         : WIFEXITED(r->status) && WEXITSTATUS(r->status) == 7);
        cr_expect_not(r->process[0].ended);
        cr_expect_gt(sum.weight, 0);
        recorded_free(r);
    }
}

Test(record_processes, a_child_is_a_process_of_its_own)
{
    struct recorded *r = record(NULL, "fork 100");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 2);
    expect_sampled(r, 0, 100, 1);
    expect_sampled(r, 1, 100, 1);
    cr_expect_eq(r->process[0].how, SFB_PROCESS_STARTED);
    cr_expect_eq(r->process[1].how, SFB_PROCESS_FORKED);
    cr_expect_eq(r->process[1].parent, 0);
    cr_expect_eq(r->process[1].parent_pid, r->process[0].pid);
    cr_expect_eq(r->process[1].cpu_start, 0);
    cr_expect_geq(r->process[1].list_count, 1);
    cr_expect_str_eq(r->process[1].arguments, r->process[0].arguments);
    recorded_free(r);
}

Test(record_processes, children_are_left_out_where_asked)
{
    struct record_how how = { .flags = SFB_SHARED_NO_CHILDREN };
    struct recorded *r = record(&how, "fork 100");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_expect_eq(r->process_count, 1);
    expect_sampled(r, 0, 100, 1);
    recorded_free(r);
}

Test(record_processes, a_child_of_a_thread_begins_with_one_thread)
{
    struct recorded *r = record(NULL, "fork_in_thread 60");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 2);
    expect_sampled(r, 0, 180, 4);
    expect_sampled(r, 1, 120, 2);
    recorded_free(r);
}

Test(record_processes, a_storm_of_children_is_recorded)
{
    struct recorded *r = record(NULL, "fork_storm 50");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_no_loss(r);
    cr_expect_eq(r->process_count, 51);
    cr_expect_geq(sum.cpu, 100000000U);
    recorded_free(r);
}

Test(record_processes, a_new_program_has_the_same_pid)
{
    static const char *const ways[] = { "exec 80", "exec_in_thread 80" };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recorded *r = record(NULL, ways[i]);

        expect_status(r, 0);
        expect_no_loss(r);
        cr_assert_eq(r->process_count, 2);
        cr_expect_eq(r->process[0].pid, r->process[1].pid);
        cr_expect_not(r->process[0].ended);
        cr_expect(r->process[1].ended);
        cr_expect_gt(recorded_sum(r, 0).weight, 0);
        expect_sampled(r, 1, 80, 1);
        cr_expect_geq(r->process[1].cpu_start, 80000000U); /* the clock goes on */
        cr_expect_not_null(strstr(r->process[1].arguments, " burn 80 "));
        recorded_free(r);
    }
}

Test(record_processes, no_signal_reaches_a_new_program)
{
    struct record_how how = { .rate_hz = 4000 };
    struct recorded *r = record(&how, "execs 50");

    expect_status(r, 0);
    cr_expect_eq(r->process_count, 51);
    recorded_free(r);
}

Test(record_processes, an_exec_that_fails_changes_nothing)
{
    struct recorded *r = record(NULL, "exec_fails 100");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 100, 1);
    recorded_free(r);
}

Test(record_processes, a_child_in_the_parents_memory_changes_nothing)
{
    struct recorded *r = record(NULL, "vfork 100");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 2);
    expect_sampled(r, 0, 100, 1);
    expect_sampled(r, 1, 100, 1);
    cr_expect_eq(r->process[1].parent_pid, r->process[0].pid);
    recorded_free(r);
}

Test(record_processes, spawned_programs_are_recorded)
{
    struct recorded *r = record(NULL, "spawn 80");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 2);
    expect_sampled(r, 0, 80, 1);
    expect_sampled(r, 1, 80, 1);
    recorded_free(r);
    r = record(NULL, "system 80");
    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_geq(r->process_count, 2); /* the shell may become the program */
    expect_sampled(r, 0, 80, 1);
    expect_sampled(r, (int)r->process_count - 1, 80, 1);
    recorded_free(r);
}

Test(record_processes, a_child_of_the_kernels_call_is_left_alone)
{
    struct recorded *r = record(NULL, "raw_fork 80");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 1);
    expect_sampled(r, 0, 80, 1);
    recorded_free(r);
}

Test(record_processes, those_that_close_all_are_recorded)
{
    struct recorded *r = record(NULL, "closes_all 80");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 80, 1);
    recorded_free(r);
    r = record(NULL, "daemon 80");
    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 3);
    expect_sampled(r, 2, 80, 1);
    cr_expect(r->process[2].ended);
    recorded_free(r);
}

Test(record_processes, no_descriptor_is_kept)
{
    struct record_how without = { .no_agent = true }, by_socket = { .by_socket = true };
    struct recorded *plain = record(&without, "descriptors 10"),
                    *r = record(NULL, "descriptors 10");
    struct recorded *s = record(&by_socket, "descriptors 50");

    cr_expect_eq(plain->process_count, 0);
    cr_expect_eq(r->process_count, 1);
    cr_expect_eq(s->process_count, 1);
    cr_expect_str_eq(r->out, plain->out);
    cr_expect_str_eq(s->out, plain->out);
    cr_expect_neq(plain->out[0], '\0');
    recorded_free(plain);
    recorded_free(r);
    recorded_free(s);
}

Test(record_processes, those_that_give_up_their_rights_are_recorded)
{
    struct recorded *r = record(NULL, "gives_up_rights 80");

    if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == 77)
        cr_skip_test("only root may chroot");
    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 80, 1);
    recorded_free(r);
}

/* @return whether it is another user's and set-user-ID now */
static bool make_raised(const char *path)
{
    char command[512];

    snprintf(command, sizeof command, "cp '%s' '%s'", SFB_RECORD_RAISED, path);
    return geteuid() == 0 && system(command) == 0 && chown(path, 65533, 65533) == 0 &&
           chmod(path, 06755) == 0;
}

/* The agent is in it, the recorder would hand out its memory, and nothing is to be known of the program. */
Test(record_processes, those_that_gain_rights_are_left_alone)
{
    struct record_how how = { .by_socket = true };
    char folder[] = "/tmp/sfb-raised-XXXXXX", path[64], words[128];
    struct recorded *r;

    cr_assert(mkdtemp(folder));
    chmod(folder, 0755);
    snprintf(path, sizeof path, "%s/raised", folder);
    snprintf(words, sizeof words, "gains_rights %s", path);
    if (!make_raised(path)) {
        rmdir(folder);
        cr_skip_test("only root makes a program of another user's set-user-ID");
    }
    r = record(&how, words);
    unlink(path);
    rmdir(folder);
    if (WIFEXITED(r->status) && WEXITSTATUS(r->status) >= 77)
        cr_skip_test(
            "the program gained no rights: nosuid, or this build cannot be read by others");
    expect_status(r, 0);
    cr_expect_eq(r->process_count, 2, "the program and its child, not what that executed");
    recorded_free(r);
}

Test(record_processes, without_a_recorder_the_agent_does_nothing)
{
    struct record_how how = { .gone = true };
    struct recorded *r = record(&how, "burn 20");

    expect_status(r, 0);
    cr_expect_eq(r->process_count, 0);
    recorded_free(r);
}

/* Recording ends before a filter of system calls begins to hold, and the program does not notice. */
Test(record_processes, filters_of_system_calls_leave_nothing_to_end_for)
{
    static const char *const ways[] = { "strict 60", "filter prctl 60", "filter seccomp 60" };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recorded *r = record(NULL, ways[i]);

        expect_status(r, 0);
        expect_sampled(r, 0, 60, 1);
        cr_expect_eq(r->process[0].lost[SFB_LOSS_FILTER], 1);
        recorded_free(r);
    }
}

Test(record_processes, a_core_dump_has_none_of_the_shared_memory)
{
    struct recorded *r = record(NULL, "dumps 20");

    expect_status(r, 0);
    cr_expect_eq(r->process_count, 1);
    recorded_free(r);
}
