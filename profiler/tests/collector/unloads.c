/* dlclose() waits for other threads' reads of modules, and no read begins meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/clocks.h"
#include "profiler/agent/modules.h"
#include "support/test.h"

#define BOUND_NS UINT64_C(1000000000) /* sfb_modules_unload_begin() waits no longer */

static uint32_t reading; /* the reader is between its begin and end */

struct unload {
    uint32_t was_reading; /* when begin() returned */
    uint64_t took;
};

static void *unload(void *with)
{
    struct unload *u = with;
    const uint64_t start = sfb_now();

    sfb_modules_unload_begin();
    u->was_reading = __atomic_load_n(&reading, __ATOMIC_SEQ_CST);
    u->took = sfb_now() - start;
    sfb_modules_unload_end();
    return NULL;
}

static void begin(void)
{
    sfb_agent.process = calloc(1, sizeof *sfb_agent.process);
    cr_assert(sfb_agent.process != NULL);
}

/* Until a thread is in dlclose(). */
static void await_unload(void)
{
    while (sfb_modules_read_begin()) {
        sfb_modules_read_end();
        sched_yield();
    }
}

Test(unloads, wait_for_a_read_of_another_thread)
{
    struct unload u;
    pthread_t thread;

    begin();
    do { /* a reader without a processor for the whole bound is not waited for: try again */
        cr_assert(sfb_modules_read_begin());
        __atomic_store_n(&reading, 1, __ATOMIC_SEQ_CST);
        cr_assert(eq(int, pthread_create(&thread, NULL, unload, &u), 0));
        await_unload();
        __atomic_store_n(&reading, 0, __ATOMIC_SEQ_CST);
        sfb_modules_read_end();
        pthread_join(thread, NULL);
    } while (u.was_reading && u.took >= BOUND_NS);
    cr_expect(eq(u32, u.was_reading, 0));
    cr_expect(sfb_modules_read_begin(), "nothing is unloaded any more");
    sfb_modules_read_end();
    free(sfb_agent.process);
}

Test(unloads, do_not_wait_for_their_own_thread)
{
    struct unload u;

    begin();
    cr_assert(sfb_modules_read_begin());
    unload(&u);
    cr_expect(lt(u64, u.took, BOUND_NS));
    cr_expect(sfb_modules_read_begin());
    sfb_modules_read_end();
    sfb_modules_read_end();
    free(sfb_agent.process);
}

static void *read_on(void *with)
{
    uint32_t *end = with;

    if (sfb_modules_read_begin())
        __atomic_store_n(&reading, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(end, __ATOMIC_SEQ_CST))
        sched_yield();
    sfb_modules_read_end();
    return NULL;
}

/* The parent's other threads do not exist there: their reads never end. */
Test(unloads, of_a_child_do_not_wait_for_the_parents_reads)
{
    struct unload u;
    uint32_t end = 0;
    pthread_t thread;
    int status;
    pid_t child;

    begin();
    cr_assert(eq(int, pthread_create(&thread, NULL, read_on, &end), 0));
    while (!__atomic_load_n(&reading, __ATOMIC_SEQ_CST))
        sched_yield();
    child = fork();
    if (child == 0) {
        sfb_modules_continue_in_child();
        unload(&u);
        _exit(u.took < BOUND_NS ? 0 : 1);
    }
    __atomic_store_n(&end, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(eq(int, status, 0));
    free(sfb_agent.process);
}
