/*
 * Threads for tests of `sfb stack`: stack_program SLEEPING RUNNING. A line on stdout says that all of them are there; it ends
 * with its stdin.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEPTH = 15 };

static pthread_mutex_t locked = PTHREAD_MUTEX_INITIALIZER;
static sem_t there;
static volatile int sink;

static void wait_for_lock(void)
{
    pthread_mutex_lock(&locked);
}

static void wait_for_input(void)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLHUP };

    poll(&input, 1, -1);
    for (;;)
        pause();
}

static void run(void)
{
    for (;;)
        sink++;
}

static __attribute__((noinline)) void go_down(unsigned depth, void (*then)(void))
{
    if (depth > 0) {
        go_down(depth - 1, then);
    } else {
        sem_post(&there);
        then();
    }
    sink++;
}

static void *start(void *then)
{
    void (*function)(void);

    *(void **)&function = then;
    go_down(DEPTH, function);
    return NULL;
}

static void *as_argument(void (*function)(void))
{
    return *(void **)&function;
}

int main(int argc, char **argv)
{
    const int sleeping = argc > 1 ? atoi(argv[1]) : 2, running = argc > 2 ? atoi(argv[2]) : 0;
    pthread_attr_t small;
    pthread_t thread;
    char byte;

    sem_init(&there, 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_mutex_lock(&locked);
    for (int i = 0; i < sleeping + running; i++)
        pthread_create(&thread, &small, start,
                       as_argument(i >= sleeping ? run
                                   : i % 2       ? wait_for_input
                                                 : wait_for_lock));
    for (int i = 0; i < sleeping + running; i++)
        sem_wait(&there);
    puts("there");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
