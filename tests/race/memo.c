/*
 * Memos, while libraries come and go: threads capture with one of their own, through libraries too, and a signal handler
 * with the memo of the walk that it has interrupted. What a memo gives is what a walk without it finds.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "race/check.h"
#include "sframe_backtrace.h"

enum { THREADS = 4, WALKS = 1500, LOADS = 150, FRAMES = 64 };

struct memo {
    _Alignas(8) uint8_t bytes[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES)];
};

static _Thread_local struct memo memo;
static pthread_t threads[THREADS];
static pthread_barrier_t barrier;
static atomic_uint loads, walks, signals;
static atomic_bool done;

static ssize_t capture(void **out, struct memo *with)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;

    options.memo = with ? with->bytes : NULL;
    options.memo_size = with ? sizeof with->bytes : 0;
    return sframe_backtrace_addresses(out, FRAMES, &options, &info);
}

/* Two captures from one place: the innermost frame is another call of it. */
static __attribute__((noinline)) void compare(void)
{
    void *with[FRAMES], *without[FRAMES];
    const ssize_t n = capture(with, &memo), m = capture(without, NULL);

    CHECK(n == m && n > 1, "%zd and %zd frames", n, m);
    CHECK(memcmp(with + 1, without + 1, (size_t)(n - 1) * sizeof *with) == 0, "other frames");
    atomic_fetch_add(&walks, 1);
}

static __attribute__((noinline)) int walk(unsigned depth)
{
    if (depth == 0)
        compare();
    else
        walk(depth - 1);
    __asm__ volatile("" : : : "memory"); /* no tail call */
    return 0;
}

static int from_library(void)
{
    return walk(3);
}

static void on_signal(int number)
{
    void *frames[FRAMES];

    (void)number;
    CHECK(capture(frames, &memo) > 1, "no frames in a handler");
    atomic_fetch_add(&signals, 1);
}

/* Now and then a thread interrupts the next one. */
static void *run(void *with)
{
    const uintptr_t self = (uintptr_t)with;

    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < WALKS || atomic_load(&loads) < LOADS; i++) {
        if (i % 8 == 0)
            pthread_kill(threads[(self + 1) % THREADS], SIGUSR1);
        walk(i % 20);
    }
    pthread_barrier_wait(&barrier); /* none has ended */
    return NULL;
}

static void *load(void *with)
{
    static const char *const names[] = { SFB_RACE_LIBRARY, SFB_RACE_OTHER_LIBRARY };

    (void)with;
    for (unsigned i = 0; !atomic_load(&done); i++) {
        void *library = dlopen(names[i % 2], RTLD_NOW | RTLD_LOCAL);
        int (*call_back)(int (*)(void));

        CHECK(library, "%s", dlerror());
        *(void **)&call_back = dlsym(library, "call_back");
        call_back(from_library);
        call_back(from_library);
        if (i % 8 == 0)
            sframe_backtrace_refresh();
        dlclose(library);
        atomic_fetch_add(&loads, 1);
    }
    return NULL;
}

int main(void)
{
    const struct sigaction action = { .sa_handler = on_signal };
    pthread_t loader;

    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        begin_thread(&threads[i], run, (void *)i);
    begin_thread(&loader, load, NULL);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&done, true);
    pthread_join(loader, NULL);
    CHECK(atomic_load(&signals) > 0, "no signal came");
    printf("memo: %u walks, %u libraries, %u signals\n", atomic_load(&walks), atomic_load(&loads),
           atomic_load(&signals));
    return 0;
}
