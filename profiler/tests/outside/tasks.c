#include "profiler/collector/outside/outside_tasks.h"
#include "support/test.h"

/* A million short processes take the room of those that live. */
Test(tasks, that_have_ended_leave_their_places)
{
    struct outside_tasks tasks = { .files = sfb_copied_files_open() };

    cr_assert(tasks.files != NULL);
    for (uint32_t i = 0; i < 5000; i++) {
        struct outside_process *p = outside_tasks_process(&tasks, 100 + i, true);

        cr_assert(p != NULL);
        for (uint32_t k = 0; k < 3; k++)
            cr_assert(outside_tasks_thread(&tasks, 10000 + 3 * i + k, p) != NULL);
        outside_tasks_forget_thread(&tasks, outside_tasks_known(&tasks, 10000 + 3 * i));
        outside_tasks_forget_process(&tasks, p);
        cr_assert(outside_tasks_process(&tasks, 100 + i, false) == NULL);
        cr_assert(outside_tasks_known(&tasks, 10002 + 3 * i) == NULL);
    }
    cr_expect(eq(int, (int)tasks.processes.count, 1));
    cr_expect(eq(int, (int)tasks.threads.count, 3));
    outside_tasks_free(&tasks);
}

/* A thread's number comes again in another process, and the end of the first one was not seen. */
Test(tasks, have_their_own_threads)
{
    struct outside_tasks tasks = { .files = sfb_copied_files_open() };
    struct outside_process *first, *second;
    struct outside_thread *thread;

    cr_assert(tasks.files != NULL);
    first = outside_tasks_process(&tasks, 7, true);
    thread = outside_tasks_thread(&tasks, 8, first);
    thread->id = 1;
    cr_expect(eq(int, (int)first->alive, (int)1));
    second = outside_tasks_process(&tasks, 9, true);
    thread = outside_tasks_thread(&tasks, 8, second);
    cr_expect(eq(int, (int)thread->id, (int)0));
    cr_expect(eq(int, (int)thread->process, (int)second->slot));
    cr_expect(eq(int, (int)second->alive, (int)1));
    cr_expect(eq(int, (int)outside_tasks_process(&tasks, 7, false)->alive, (int)0));
    outside_tasks_free(&tasks);
}
