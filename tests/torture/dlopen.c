/*
 * Libraries come and go as fast as they can while everybody captures:
 *
 *     torture-dlopen [--inject hang|end] [SECONDS]
 *
 * Some threads load a library, call into it, are called back and capture there, and unload it; a
 * library of the same size with other frames is then loaded at the same address. All threads have a
 * timer of 1,000 Hz, whose handler captures whatever it interrupts, the loader included.
 *
 * A capture from the call back is known frame by frame: it has to be right. One from a handler has
 * to be a whole CBF; how many do not reach the outermost frame is counted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "storms.h"
#include "support/compiler.h"
#include "support/trace.h"

enum { LOADERS = 4, WALKERS = 4, FRAMES_MAX = 64 };

static atomic_ullong loads, same_address, calls, wrong, samples, bad_samples, cut_samples;
static struct storm *storm;

static void on_timer(int number, siginfo_t *si, void *context)
{
    static _Thread_local uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(64) / 8];
    struct sframe_backtrace_options options = {
        .size = sizeof options, .context = context, .memo = memo, .memo_size = sizeof memo
    };
    struct sframe_backtrace_info info = { .size = sizeof info };
    static _Thread_local struct trace t;
    uint8_t buffer[2048];
    int saved = errno;

    (void)number;
    (void)si;
    trace_decode(&t, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    atomic_fetch_add(&samples, 1);
    if (t.error != SFB_OK || (info.end == SFB_END) != (t.end == 1) || errno != saved)
        atomic_fetch_add(&bad_samples, 1);
    else if (!t.end)
        atomic_fetch_add(&cut_samples, 1);
    errno = saved;
}

/* --- A stack that is known -------------------------------------------------------------------- */

typedef int back_fn(void);
typedef int call_back_fn(back_fn *);

static _Thread_local struct {
    void *address[FRAMES_MAX];
    int count;
    enum sfb_status end;
} got, outside;

static _Thread_local uint64_t memo_of_calls[SFRAME_BACKTRACE_MEMO_SIZE(64) / 8];
static _Thread_local bool with_memo;
static volatile int sink;

NOINLINE static int capture(void)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .memo = with_memo ? memo_of_calls : NULL,
                                                .memo_size = sizeof memo_of_calls };
    struct sframe_backtrace_info info = { .size = sizeof info };

    got.count = (int)sframe_backtrace_addresses(got.address, FRAMES_MAX, &options, &info);
    got.end = info.end;
    return sink++;
}

/*
 * From capture(), through the library's one function, and what called this, whose frames are the
 * same each time.
 */
NOINLINE static bool is_right(call_back_fn *call_back)
{
    volatile int here = call_back(capture);
    uint64_t function, second;

    (void)here;
    memcpy(&function, &call_back, sizeof function);
    second = (uintptr_t)got.address[1];
    if (got.end != SFB_END || got.count < 5 || second - function > 256)
        return false;
    if (outside.count == 0)
        memcpy(&outside, &got, sizeof outside);
    /* The loop that calls this may have been unrolled: the fourth frame is one of several calls. */
    return got.count == outside.count && got.address[2] == outside.address[2] &&
           memcmp(got.address + 4, outside.address + 4,
                  (size_t)(got.count - 4) * sizeof *got.address) == 0;
}

static void *load_and_unload(void *arg)
{
    static const char *const names[] = { "64", "96", "5000", "bare" };
    unsigned at = (unsigned)(uintptr_t)arg;
    uint64_t last = 0;
    char path[512];

    storm_timer(storm);
    for (; !storm_over(storm); at++) {
        call_back_fn *call_back;
        void *library, *function;

        storm_progress(storm);
        snprintf(path, sizeof path, "%s/libframes-%s.so", SFB_TEST_LIBS, names[at % 4]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        function = library ? dlsym(library, "call_back") : NULL;
        if (!function) {
            fprintf(stderr, "dlopen: %s\n", dlerror());
            exit(2);
        }
        *(void **)&call_back = function;
        atomic_fetch_add(&loads, 1);
        if ((uintptr_t)function == last)
            atomic_fetch_add(&same_address, 1);
        last = (uintptr_t)function;
        for (unsigned again = 0; again < 4; again++) {
            with_memo = again % 2;
            atomic_fetch_add(&calls, 1);
            if (!is_right(call_back))
                atomic_fetch_add(&wrong, 1);
        }
        if (at % 16 == 0)
            sframe_backtrace_refresh();
        dlclose(library);
    }
    storm_timer_stop();
    return NULL;
}

NOINLINE static int deep(int depth)
{
    volatile char space[100];

    space[0] = depth > 0 ? (char)deep(depth - 1) : (char)capture();
    return space[0] + sink++;
}

static void *walk(void *arg)
{
    storm_timer(storm);
    for (int i = 0; !storm_over(storm); i++) {
        storm_progress(storm);
        sink += deep(i % 20);
        atomic_fetch_add(&calls, 1);
        if (got.end != SFB_END)
            atomic_fetch_add(&wrong, 1);
    }
    storm_timer_stop();
    return arg;
}

static int run(struct storm *s)
{
    struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
    pthread_t threads[LOADERS + WALKERS];

    storm = s;
    sigaction(SIGRTMIN, &action, NULL);
    for (unsigned i = 0; i < LOADERS + WALKERS; i++)
        if (pthread_create(&threads[i], NULL, i < LOADERS ? load_and_unload : walk,
                           (void *)(uintptr_t)i) != 0)
            return 2;
    for (unsigned i = 0; i < LOADERS + WALKERS; i++)
        pthread_join(threads[i], NULL);
    if (storm_injected(s) == STORM_END)
        atomic_fetch_add(&wrong, 1);
    printf(
        "dlopen: %llu libraries loaded, %llu where the one before had been; %llu captures with "
        "known frames, %llu of them wrong; %llu in handlers, %llu of them no CBF, %llu cut off\n",
        atomic_load(&loads), atomic_load(&same_address), atomic_load(&calls), atomic_load(&wrong),
        atomic_load(&samples), atomic_load(&bad_samples), atomic_load(&cut_samples));
    /* Cut off are those in _init() and what else gcc puts into a library without .eh_frame. */
    return atomic_load(&wrong) > 0 || atomic_load(&bad_samples) > 0 ||
                   atomic_load(&cut_samples) * 20 > atomic_load(&samples) ||
                   atomic_load(&loads) == 0 || atomic_load(&samples) == 0
               ? 1
               : 0;
}

int main(int argc, char **argv)
{
    return storm_main("dlopen", run, argc, argv);
}
