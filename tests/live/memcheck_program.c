/* Captures wherever there are any, for memcheck: it has to have nothing to say. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "sframe_backtrace.h"

enum { FRAMES = 64, FIBER = 64 << 10 };

static int captures;

static __attribute__((noinline)) void capture(const void *context)
{
    for (int i = 0; i < 3; i++) {
        struct sframe_backtrace_options options = { .size = sizeof options,
                                                    .context = context,
                                                    .flags = i == 2 ? SFRAME_BACKTRACE_DOUBT : 0 };
        void *frames[FRAMES];
        uint8_t bytes[512];
        ssize_t size = sframe_backtrace_cbf(bytes, sizeof bytes, &options, NULL);
        ssize_t count = sframe_backtrace_addresses(frames, FRAMES, &options, NULL);

        captures += size > 2 && count >= 2;
    }
}

static __attribute__((noinline)) void deep(int depth)
{
    volatile char space[2000];

    space[0] = (char)depth;
    if (depth > 0)
        deep(depth - 1);
    else
        capture(NULL);
    captures += space[0] != (char)depth;
}

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    capture(context);
    capture(NULL);
}

static int compare(const void *a, const void *b)
{
    capture(NULL);
    return *(const int *)a - *(const int *)b;
}

static void *thread(void *argument)
{
    deep(50);
    raise(SIGUSR1);
    return argument;
}

static ucontext_t outside, inside;

static void fiber(void)
{
    deep(5);
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    int numbers[] = { 3, 1, 2 };
    void *stack = calloc(1, FIBER);
    pthread_t other;

    sigaction(SIGUSR1, &action, NULL);
    deep(0);
    deep(50);
    raise(SIGUSR1);
    qsort(numbers, 3, sizeof *numbers, compare);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = FIBER;
    inside.uc_link = &outside;
    makecontext(&inside, fiber, 0);
    swapcontext(&outside, &inside);
    sframe_backtrace_refresh();
    free(stack);
    printf("%d captures\n", captures);
    return captures >= 27 ? 0 : 1;
}
