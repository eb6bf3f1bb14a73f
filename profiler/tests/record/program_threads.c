/* Threads: made in all ways, of all lengths. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"

static void *work(void *ms)
{
    burn_ms((unsigned)(uintptr_t)ms);
    return ms;
}

/* threads COUNT MS */
static int threads(char *words[])
{
    unsigned count = (unsigned)atoi(words[0]);
    void *ms = (void *)(uintptr_t)atoi(words[1]), *result;
    pthread_t thread[64];

    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, work, ms) != 0)
            return 1;
    for (unsigned i = 0; i < count; i++)
        if (pthread_join(thread[i], &result) != 0 || result != ms)
            return 1;
    return 0;
}

static void *work_us(void *us)
{
    uint64_t end = cpu_of(CLOCK_THREAD_CPUTIME_ID) + (uintptr_t)us * 1000;

    while (cpu_of(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
    return NULL;
}

/* storm COUNT US: one behind the other */
static int storm(char *words[])
{
    unsigned count = (unsigned)atoi(words[0]);

    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, work_us, (void *)(uintptr_t)atoi(words[1])) != 0 ||
            pthread_join(thread, NULL) != 0)
            return 1;
    }
    return 0;
}

static int work_c11(void *ms)
{
    burn_ms((unsigned)(uintptr_t)ms);
    return 42;
}

static int c11(char *words[])
{
    thrd_t thread;
    int result = 0;

    if (thrd_create(&thread, work_c11, (void *)(uintptr_t)atoi(words[0])) != thrd_success ||
        thrd_join(thread, &result) != thrd_success)
        return 1;
    return result != 42;
}

static void *renamed(void *ms)
{
    prctl(PR_SET_NAME, "second name");
    return work(ms);
}

static int names(char *words[])
{
    pthread_t thread;

    return pthread_create(&thread, NULL, renamed, (void *)(uintptr_t)atoi(words[0])) != 0 ||
           pthread_join(thread, NULL) != 0;
}

/* A destructor of a key that comes back in each round, and works. */
static pthread_key_t key;

static void work_at_end(void *left)
{
    burn_ms(10);
    if ((uintptr_t)left > 1)
        pthread_setspecific(key, (void *)((uintptr_t)left - 1));
}

static void *with_key(void *left)
{
    pthread_setspecific(key, left);
    return NULL;
}

static int destructors(char *words[])
{
    pthread_t thread;

    (void)words;
    return pthread_key_create(&key, work_at_end) != 0 ||
           pthread_create(&thread, NULL, with_key, (void *)(uintptr_t)3) != 0 ||
           pthread_join(thread, NULL) != 0;
}

/* The first thread ends, others go on. */
static pthread_t first;

static void *outlive(void *ms)
{
    pthread_join(first, NULL);
    return work(ms);
}

static int first_ends(char *words[])
{
    pthread_t thread;

    first = pthread_self();
    if (pthread_create(&thread, NULL, outlive, (void *)(uintptr_t)atoi(words[0])) != 0)
        return 1;
    burn_ms(30);
    pthread_exit(NULL);
}

static atomic_uint done;

static void *sleep_long(void *ms)
{
    work(ms);
    done++;
    sleep_ms(60000);
    return NULL;
}

/* The program ends while others live. */
static int others_live(char *words[])
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, sleep_long, (void *)(uintptr_t)atoi(words[0])) != 0)
            return 1;
    while (done < 3)
        sleep_ms(1);
    return 0;
}

/* Attributes are the program's own: a stack of its own, detached. */
static int attributes(char *words[])
{
    static _Alignas(4096) char stack[128 * 1024];
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;

    pthread_attr_init(&attributes);
    return pthread_attr_setstack(&attributes, stack, sizeof stack) != 0 ||
           pthread_create(&thread, &attributes, work, (void *)(uintptr_t)atoi(words[0])) != 0 ||
           pthread_join(thread, &result) != 0 || result != (void *)(uintptr_t)atoi(words[0]);
}

/* A thread that the C library knows nothing of, with thread-local storage that is all zeros. */
static int raw_work(void *until)
{
    while (!atomic_load((atomic_bool *)until))
        ;
    syscall(SYS_exit, 0);
    return 0;
}

static int by_clone(char *words[])
{
    static _Alignas(4096) char stack[256 * 1024];
    static _Alignas(4096) char storage[64 * 1024];
    static atomic_bool until;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_SETTLS;

    if (clone(raw_work, stack + sizeof stack, flags, &until, NULL, storage + sizeof storage / 2,
              NULL) < 0)
        return 1;
    sleep_ms((unsigned)atoi(words[0]));
    atomic_store(&until, true);
    sleep_ms(50);
    return 0;
}

/* Executes itself with no right to a timer, and works. */
static int without_timers(char *words[])
{
    const struct rlimit none = { 0, 0 };

    if (setrlimit(RLIMIT_SIGPENDING, &none) != 0)
        return 1;
    execl("/proc/self/exe", "program", "burn", words[0], (char *)NULL);
    return 1;
}

const struct program_mode program_threads[] = {
    { "threads", threads },
    { "storm", storm },
    { "c11", c11 },
    { "names", names },
    { "clone", by_clone },
    { "no_timers", without_timers },
    { "destructors", destructors },
    { "first_ends", first_ends },
    { "others_live", others_live },
    { "attributes", attributes },
    { NULL, NULL },
};
