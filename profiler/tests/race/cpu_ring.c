/*
 * The agent of CPU time and its recorder as threads of one program: threads take samples of themselves, as their signal
 * handler does, end, and others take their rings; libraries come and go meanwhile, and lists of them are made without a
 * pause. Each sample is read, or counted as lost.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "profiler/agent/cpu/cpu_sample.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/modules.h"
#include "profiler/agent/slot.h"
#include "profiler/tests/race/session.h"
#include "race/check.h"

enum {
    THREADS = 4,
    ROUNDS = 12,
    SAMPLES = 300,
    LOADERS = 2,
    LOADS = 2000,
    LIBRARIES = SFB_RACE_LIBRARY_COUNT
};

static atomic_uint running = THREADS, loading = LOADERS, taken;

static __attribute__((noinline)) void take(struct sfb_thread *t, unsigned depth)
{
    ucontext_t here;

    if (depth > 0)
        take(t, depth - 1);
    else if (getcontext(&here) == 0)
        sfb_sample_take(t, SFB_ENGINE_SAMPLER, &here);
    __asm__ volatile("" : : : "memory"); /* no tail call */
}

static void *sample(void *with)
{
    struct sfb_thread *t = sfb_thread_begin(0);

    (void)with;
    CHECK(t, "no ring");
    for (unsigned i = 0; i < SAMPLES; i++)
        take(t, i % 40);
    atomic_fetch_add(&taken, t->samples);
    sfb_thread_end(t);
    return NULL;
}

static void *rounds(void *with)
{
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t thread;

        begin_thread(&thread, sample, with);
        pthread_join(thread, NULL);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* As the agent's dlopen() and dlclose() do. */
static void *load(void *with)
{
    (void)with;
    for (int i = 0; i < LOADS; i++) {
        char path[512];
        void *library;

        snprintf(path, sizeof path, SFB_RACE_LIBRARIES, i % LIBRARIES);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(library, "%s", dlerror());
        sfb_modules_expect();
        sfb_modules_renew(true);
        sfb_modules_unload_begin();
        dlclose(library);
        sfb_modules_unload_end();
    }
    atomic_fetch_sub(&loading, 1);
    return NULL;
}

static void *list(void *with)
{
    while (atomic_load(&loading) > 0)
        sfb_modules_renew(false);
    return with;
}

static void begin(void)
{
    session_begin(SFB_SHARED_CPU);
    sfb_agent.threads =
        mmap(NULL, SFB_SHARED_RING_MAX * sizeof(struct sfb_thread), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(sfb_agent.threads != MAP_FAILED, "no memory");
    sfb_agent.generation = 1;
    CHECK(sfb_slot_take(0, 0), "no slot");
    sfb_agent.period_ns = 1000000;
}

int main(void)
{
    pthread_t threads[THREADS], loaders[LOADERS], lister;
    struct sfb_recorder_totals totals;

    begin();
    for (size_t i = 0; i < THREADS; i++)
        begin_thread(&threads[i], rounds, NULL);
    for (size_t i = 0; i < LOADERS; i++)
        begin_thread(&loaders[i], load, NULL);
    begin_thread(&lister, list, NULL);
    while (atomic_load(&running) > 0 || atomic_load(&loading) > 0)
        session_drain();
    pthread_join(lister, NULL);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < LOADERS; i++)
        pthread_join(loaders[i], NULL);
    totals = session_end();
    CHECK(totals.lost[SFB_LOSS_BAD_RING] == 0, "the memory contradicts itself");
    CHECK(totals.samples > 0, "no samples");
    CHECK(totals.samples == atomic_load(&taken), "%zu of %u", (size_t)totals.samples,
          atomic_load(&taken));
    CHECK(totals.threads == THREADS * ROUNDS, "%zu threads", (size_t)totals.threads);
    printf("cpu_ring: %zu samples, %zu lost\n", (size_t)totals.samples,
           (size_t)totals.lost[SFB_LOSS_RING_FULL]);
    return 0;
}
