/*
 * A program that limits its own address space to what it has and 64 MiB, and then uses 32 MiB of it.
 *
 *     record-tool-limits_program SIZE before|threads|children
 *
 * SIZE: VmSize in KiB where nothing is loaded into it; 0: prints it. before: the limit comes first of all. threads: with 4
 * threads, and 4 more follow. children: 3 follow by fork().
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, CHILDREN = 3, MS = 50, STACK = 256 << 10 };

static const size_t room = (size_t)64 << 20, used = (size_t)32 << 20;

static pthread_barrier_t all_run, limited;
static volatile unsigned long sink;

static void burn(void)
{
    struct timespec now, end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    do {
        for (unsigned i = 0; i < 10000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000 + (now.tv_nsec - end.tv_nsec) / 1000000 < MS);
}

static unsigned long vm_size(void)
{
    char line[256];
    unsigned long size = 0;
    FILE *status = fopen("/proc/self/status", "re");

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmSize: %lu", &size) == 1)
            break;
    if (status)
        fclose(status);
    return size;
}

static void fail(const char *what)
{
    perror(what);
    exit(3);
}

/* By each of the functions that there are for it. */
static void limit(unsigned long size, bool by_pid)
{
    struct rlimit most;

    getrlimit(RLIMIT_AS, &most);
    most.rlim_cur = (size << 10) + room;
    if ((by_pid ? prlimit(getpid(), RLIMIT_AS, &most, NULL) : setrlimit(RLIMIT_AS, &most)) != 0)
        fail("setrlimit");
}

static void use(void)
{
    char *block = malloc(used);

    if (!block)
        fail("malloc");
    memset(block, 1, used);
    free(block);
}

static void *run(void *waits)
{
    if (waits) {
        pthread_barrier_wait(&all_run);
        pthread_barrier_wait(&limited);
    }
    free(malloc(100));
    burn();
    return NULL;
}

static void start(pthread_t *threads, void *waits)
{
    pthread_attr_t small; /* stacks of 8 MiB each would be what fills it */

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &small, run, waits) != 0)
            fail("pthread_create");
    pthread_attr_destroy(&small);
}

static void join(const pthread_t *threads)
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void with_threads(unsigned long size)
{
    pthread_t early[THREADS], late[THREADS];

    pthread_barrier_init(&all_run, NULL, THREADS + 1);
    pthread_barrier_init(&limited, NULL, THREADS + 1);
    start(early, &all_run);
    pthread_barrier_wait(&all_run);
    limit(size + THREADS * (STACK >> 10), false);
    pthread_barrier_wait(&limited);
    start(late, NULL);
    use();
    join(early);
    join(late);
}

static void with_children(unsigned long size)
{
    int status = 0, worst = 0;

    limit(size, true);
    for (int i = 0; i < CHILDREN; i++)
        if (fork() == 0) {
            use();
            burn();
            exit(0);
        }
    while (wait(&status) > 0)
        worst |= status;
    if (worst != 0)
        exit(4);
}

int main(int argc, char **argv)
{
    const unsigned long size = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    const char *what = argc > 2 ? argv[2] : "";

    if (size == 0) {
        printf("%lu\n", vm_size());
        return 0;
    }
    if (strcmp(what, "threads") == 0)
        with_threads(size);
    else if (strcmp(what, "children") == 0)
        with_children(size);
    else
        limit(size, false);
    use();
    burn();
    puts("done");
    return 0;
}
