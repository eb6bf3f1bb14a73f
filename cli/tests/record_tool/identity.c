/* Who is who: processes whose numbers, clocks and programs are not what they seem. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "profiler/collector/processes/tasks.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_identity, .init = folder_enter, .fini = folder_remove);

static bool can_unshare(const char *what)
{
    char line[64];

    snprintf(line, sizeof line, "unshare %s true 2>/dev/null", what);
    if (geteuid() == 0 && system(line) == 0)
        return true;
    SAY_SKIPPED("record_identity: 'unshare %s' is refused here", what);
    return false;
}

/* Both are number 1. Neither is taken for a program that the other one executed. */
Test(record_identity, of_two_pid_namespaces)
{
    struct recorded r;
    unsigned burned = 0;

    if (!can_unshare("--pid --fork"))
        return;
    r = recorded("--engine timer sh -c 'unshare --pid --fork \"$0\" burn 400 & "
                 "unshare --pid --fork \"$0\" burn 400 & wait' $P");
    cr_expect_gt(recorded_cpu(r.contents), 780000000, "%s", r.run.err);
    for (uint32_t i = 0; i < r.contents->process_count; i++) {
        const struct contents_process *p = &r.contents->process[i];

        /* On a busy machine few ticks come, and late: most of the time is then unsampled. */
        burned += p->cpu > 390000000 && p->weight > 0 && p->weight <= p->cpu;
    }
    cr_expect_eq(burned, 2);
    recorded_free(&r);
}

/* Numbers, parents and programs are the same in all of them: nobody gets the slot of one that runs. */
Test(record_identity, of_namespaces_that_run_the_same)
{
    struct recorded r;

    if (!can_unshare("--pid --fork"))
        return;
    r = recorded("--engine timer sh -c 'for i in 1 2 3 4 5 6; do unshare --pid --fork sh -c "
                 "\"$0 burn 120; env $0 burn 120; true\" & done; wait' $P");
    cr_expect_eq(r.contents->process_count, 1 + 6 * 7, "%u", r.contents->process_count);
    cr_expect_gt(r.contents->weight, 0, "%s", r.run.err);
    cr_expect_gt(recorded_cpu(r.contents), 1430000000, "%s", r.run.err);
    cr_expect_eq(r.contents->lost[SFB_LOSS_NOT_FOLLOWED], 0, "%s", r.contents->texts);
    cr_expect_eq(r.contents->lost[SFB_LOSS_BAD_RING], 0, "%s", r.contents->texts);
    cr_expect_eq(r.contents->lost[SFB_LOSS_RING_FULL], 0, "%s", r.contents->texts);
    for (uint32_t i = 0; i < r.contents->process_count; i++)
        cr_expect_neq(r.contents->process[i].end, SFB_PROCESS_LEFT, "%u", i);
    recorded_free(&r);
}

/* Its clock is a thousand seconds ahead. */
Test(record_identity, of_a_time_namespace)
{
    struct recorded r;

    if (!can_unshare("--time --monotonic 1000"))
        return;
    r = recorded("unshare --time --monotonic 1000 $P burn 200");
    cr_expect_gt(r.contents->samples, 50, "%s", r.run.err);
    cr_expect_eq(r.contents->lost[SFB_LOSS_BAD_RING], 0, "%s", r.contents->texts);
    recorded_free(&r);
}

/* The agent goes with the environment. The recorder looks each second for what it has seen before: the program sleeps. */
Test(record_identity, of_a_program_without_an_environment)
{
    struct recorded r = recorded("--engine timer env -i $P sleep 4000");

    cr_expect_eq(r.contents->lost[SFB_LOSS_NOT_FOLLOWED], 1, "%s", r.contents->texts);
    cr_expect(strstr(r.contents->texts, "its environment was cleared") != NULL, "%s",
              r.contents->texts);
    cr_expect(strstr(r.run.err, "no signal came") == NULL, "%s", r.run.err);
    recorded_free(&r);
}

/* What cannot be listed for want of a descriptor has not ended. */
Test(record_identity, without_a_descriptor_no_list_is_whole)
{
    struct rlimit before, none;
    pid_t found[4];
    int first, without, of_other;
    size_t count;
    const pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &before), 0));
    none = before;
    none.rlim_cur = 0;
    count = sfb_recorder_children_of(getpid(), found, 4);
    first = errno;
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &none), 0));
    sfb_recorder_children_of(getpid(), found + 1, 3);
    without = errno;
    sfb_recorder_tasks_of(child, found + 1, 3);
    of_other = errno;
    cr_expect(not(sfb_recorder_tasks_find(child, NULL, NULL)));
    cr_expect(not(sfb_recorder_task_has_ended(child)));
    setrlimit(RLIMIT_NOFILE, &before);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cr_expect(eq(sz, count, 1));
    cr_expect(eq(int, first, 0));
    cr_expect(eq(int, without, EMFILE));
    cr_expect(eq(int, of_other, EMFILE));
    /* Now it has: the list is whole, and empty. */
    cr_expect(eq(sz, sfb_recorder_tasks_of(child, found, 4), 0));
    cr_expect(eq(int, errno, 0));
}

/* Their numbers are more than a page of text. */
Test(record_identity, of_many_children)
{
    enum { COUNT = 1000 };
    static pid_t made[COUNT], found[2 * COUNT];
    size_t count, right = 0;

    for (size_t i = 0; i < COUNT; i++) {
        made[i] = fork();
        if (made[i] == 0) {
            pause();
            _exit(0);
        }
    }
    count = sfb_recorder_children_of(getpid(), found, 2 * COUNT);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < count; j++)
            right += found[j] == made[i];
    for (size_t i = 0; i < COUNT; i++)
        if (made[i] > 0)
            kill(made[i], SIGKILL);
    while (wait(NULL) > 0)
        continue;
    cr_expect_eq(right, COUNT);
    cr_expect_eq(count, COUNT);
}
