/*
 * What is recorded in tests of the heap: blocks of a size that nothing else has.
 *
 *     test-record_tool-heap WHAT...
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/agent_memory.h"

enum { SIZE = 12345, KEPT_MAX = 1000 };

static void *volatile kept[KEPT_MAX];

static void allocate(int count, int keep, size_t size)
{
    for (int i = 0; i < count; i++) {
        void *volatile block = malloc(size);

        if (i < keep)
            kept[i] = block;
        else
            free(block);
    }
}

/* Of 20 MB one block in 64 stays, among them the last one: the allocator has to keep the rest. */
static void fragment(void)
{
    enum { MANY = 20000, EACH = 64 };
    static void *volatile many[MANY];

    for (int i = 0; i < MANY; i++)
        many[i] = malloc(1000);
    for (int i = 0; i < MANY; i++)
        if (i % EACH != (MANY - 1) % EACH)
            free(many[i]);
}

/* Until so much more CPU time is used. */
static void allocate_for(clock_t time)
{
    const clock_t end = clock() + time;

    while (clock() < end)
        allocate(100, 0, SIZE);
}

static void *allocate_in_thread(void *argument)
{
    allocate(500, 3, SIZE);
    return argument;
}

static void in_threads(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, allocate_in_thread, NULL) != 0)
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void wait_for_the_end(void)
{
    const struct sfb_shared *shared = memory_shared();

    while (!memory_is_over(shared))
        sched_yield();
}

/* The first signal is handed on to this program, and the second one ends the recording. */
static void interrupt_recorder(void)
{
    sigset_t handed_on;
    int number;

    sigemptyset(&handed_on);
    sigaddset(&handed_on, SIGINT);
    sigprocmask(SIG_BLOCK, &handed_on, NULL);
    kill(getppid(), SIGINT);
    sigwait(&handed_on, &number);
    kill(getppid(), SIGINT);
    wait_for_the_end();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "blocks") == 0)
            allocate(1000, 10, SIZE);
        else if (strcmp(argv[i], "many") == 0)
            allocate(1000000, 0, SIZE);
        else if (strcmp(argv[i], "busy") == 0)
            allocate_for(CLOCKS_PER_SEC / 10);
        else if (strcmp(argv[i], "threads") == 0)
            in_threads();
        else if (strcmp(argv[i], "kill") == 0)
            kill(getpid(), SIGKILL);
        else if (strcmp(argv[i], "until-ended") == 0)
            wait_for_the_end();
        else if (strcmp(argv[i], "stop-parent") == 0)
            interrupt_recorder();
        else if (strcmp(argv[i], "fork") == 0 && fork() != 0)
            return wait(NULL) > 0 ? 0 : 1;
        else if (strcmp(argv[i], "exec") == 0)
            return execl(argv[0], argv[0], "blocks", (char *)NULL);
        else if (strcmp(argv[i], "fragment") == 0)
            fragment();
        else if (strcmp(argv[i], "free-kept") == 0)
            for (int k = 0; k < KEPT_MAX; k++)
                free(kept[k]);
    }
    return 0;
}
