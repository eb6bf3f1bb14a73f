/*
 * Threads that are exiting: captures from the destructors of their keys, and from signals that come
 * in the last moments, when little is left of a thread but its stack.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/compiler.h"
#include "support/limit.h"
#include "support/test.h"
#include "support/trace.h"

enum { THREADS = 200, ROUNDS = 3, LATE = 50 };

static atomic_uint in_destructors, in_handlers, late, unfinished;
static atomic_int tid;
static pthread_key_t key;
static _Thread_local atomic_bool is_over; /* of the thread's own work */

static void check(const void *context)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = context };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t bytes[1024];
    struct trace t;

    trace_decode(&t, bytes, sframe_backtrace_cbf(bytes, sizeof bytes, &options, &info));
    if (t.error != SFB_OK || !t.end || t.count < 1) {
        atomic_fetch_add(&unfinished, 1);
        fprintf(stderr, "exiting: %zu frames, %s\n", t.count, sfb_status_str(info.end));
    }
}

/* Comes ROUNDS times: each sets the value again. */
static void destroy(void *value)
{
    uintptr_t round = (uintptr_t)value;

    atomic_fetch_add(&in_destructors, 1);
    check(NULL);
    if (round < ROUNDS)
        pthread_setspecific(key, (void *)(round + 1)); /* NOLINT(performance-no-int-to-ptr) */
    else
        sched_yield(); /* with one processor, signals are sent now or never */
}

static void on_signal(int number, siginfo_t *si, void *ucontext)
{
    int saved = errno;

    (void)number;
    (void)si;
    check(ucontext);
    atomic_fetch_add(&in_handlers, 1);
    if (atomic_load(&is_over))
        atomic_fetch_add(&late, 1);
    errno = saved;
}

static void *short_lived(void *arg)
{
    pthread_setspecific(key, (void *)1); /* NOLINT(performance-no-int-to-ptr) */
    atomic_store(&tid, (int)syscall(SYS_gettid));
    atomic_store(&is_over, true);
    return arg;
}

/* Signals a thread until it is no more. */
static void *pester(void *arg)
{
    for (;;) {
        int target = atomic_load(&tid);

        if (target < 0)
            return arg;
        if (target > 0)
            syscall(SYS_tgkill, getpid(), target, SIGUSR1);
    }
}

Test(exiting, threads_are_walked_to_their_end)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    time_t end = time(NULL) + HANG_SECONDS;
    pthread_t pesterer, thread;
    unsigned threads = 0;

    sigaction(SIGUSR1, &action, NULL);
    cr_assert(pthread_key_create(&key, destroy) == 0);
    cr_assert(pthread_create(&pesterer, NULL, pester, NULL) == 0);
    for (; (threads < THREADS || atomic_load(&late) < LATE) && time(NULL) < end; threads++) {
        cr_assert(pthread_create(&thread, NULL, short_lived, NULL) == 0);
        pthread_join(thread, NULL);
        atomic_store(&tid, 0);
    }
    atomic_store(&tid, -1);
    pthread_join(pesterer, NULL);
    fprintf(stderr,
            "exiting: %u threads, %u captures in destructors, %u in handlers, %u of them late\n",
            threads, atomic_load(&in_destructors), atomic_load(&in_handlers), atomic_load(&late));
    cr_expect(eq(u32, atomic_load(&in_destructors), threads * ROUNDS));
    cr_expect(ge(u32, atomic_load(&late), LATE));
    cr_expect(eq(u32, atomic_load(&unfinished), 0));
}
