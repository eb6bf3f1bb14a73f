/*
 * The heap's agent and its recorder as threads of one program: threads put events into their rings, hand blocks over to
 * each other, end, and others take their rings; libraries come meanwhile. Each event is resolved, or counted as lost.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "profiler/agent/heap/hook.h"
#include "profiler/agent/heap/lifecycle.h"
#include "profiler/agent/heap/thread_state.h"
#include "profiler/agent/modules.h"
#include "profiler/agent/slot.h"
#include "profiler/tests/race/session.h"
#include "race/check.h"

enum {
    THREADS = 4,
    ROUNDS = 12,
    BLOCKS = 2000,
    LOADERS = 2,
    LIBRARIES = SFB_RACE_LIBRARY_COUNT,
    SIZE = 48
};

static const uint32_t here = 1;
static atomic_uint running = THREADS;

/* It begins in main(). */
void sfb_heap_process_look(void)
{
}

/* A queue of one: what a thread gives, the next one frees. */
static _Atomic(uintptr_t) handed[THREADS];

static __attribute__((noinline)) void allocate(uintptr_t block)
{
    const struct sfb_regs caller = { .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
                                     .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),
                                     .fp = *(uint64_t *)__builtin_frame_address(0) };
    struct sfb_heap_thread *t = sfb_heap_enter(&sfb_heap_local);

    CHECK(t, "no ring");
    sfb_heap_local.state = SFB_HEAP_AT_WORK;
    sfb_heap_put_alloc(t, SFB_HEAP_ALLOC, (void *)block, SIZE, 8, sfb_heap_stack(t, &caller));
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

static void release(uintptr_t block)
{
    struct sfb_heap_thread *t = sfb_heap_enter(&sfb_heap_local);

    CHECK(t, "no ring");
    sfb_heap_local.state = SFB_HEAP_AT_WORK;
    sfb_heap_put_free(t, SFB_HEAP_FREE, (void *)block);
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

/* Addresses are given out once: a lost event makes no other one contradict. */
static void *produce(void *with)
{
    static atomic_uintptr_t next = 0x10000;
    const size_t i = (size_t)(uintptr_t)with;

    for (int b = 0; b < BLOCKS; b++) {
        const uintptr_t block = atomic_fetch_add(&next, 64);
        uintptr_t other;

        allocate(block);
        other = atomic_exchange_explicit(&handed[(i + 1) % THREADS], block, memory_order_acq_rel);
        if (other)
            release(other);
    }
    return NULL;
}

/* Each round is a thread of its own: it takes a ring that another one has left, or not yet. */
static void *rounds(void *with)
{
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t thread;

        begin_thread(&thread, produce, with);
        pthread_join(thread, NULL);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* None is unloaded: to list modules beside that has a limit (pages.c). */
static void *load(void *with)
{
    (void)with;
    for (int i = 0; i < LIBRARIES; i++) {
        char path[512];

        snprintf(path, sizeof path, SFB_RACE_LIBRARIES, i);
        CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL), "%s", dlerror());
        sfb_modules_expect();
        sfb_modules_renew(true);
        sfb_heap_forget_stacks();
    }
    return NULL;
}

static void begin(void)
{
    struct sfb_shared *shared = session_begin(SFB_SHARED_HEAP);

    sfb_heap.here = &here;
    sfb_space.kind = &sfb_heap_space;
    sfb_heap.counter_start = shared->counter_start;
    sfb_agent.modules_are_new = sfb_heap_forget_stacks;
    CHECK(sfb_heap_threads_prepare() && sfb_heap_events_prepare(), "no memory");
    CHECK(sfb_slot_take(0, 0), "no slot");
    __atomic_store_n(&sfb_heap.mode, SFB_HEAP_EVERY, __ATOMIC_RELEASE);
}

int main(void)
{
    const uint64_t blocks = (uint64_t)THREADS * ROUNDS * BLOCKS;
    struct sfb_recorder_totals totals;
    pthread_t threads[THREADS], loaders[LOADERS];
    uint64_t lost, left = 0;

    begin();
    for (size_t i = 0; i < THREADS; i++)
        begin_thread(&threads[i], rounds, (void *)(uintptr_t)i);
    for (size_t i = 0; i < LOADERS; i++)
        begin_thread(&loaders[i], load, NULL);
    while (atomic_load(&running) > 0)
        session_drain();
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        left += atomic_load(&handed[i]) != 0;
    }
    for (size_t i = 0; i < LOADERS; i++)
        pthread_join(loaders[i], NULL);
    totals = session_end();
    lost = totals.lost[SFB_LOSS_HEAP_EVENTS];
    CHECK(totals.lost[SFB_LOSS_BAD_RING] == 0, "the memory contradicts itself");
    CHECK(totals.heap.conflicts == 0, "%zu conflicts", (size_t)totals.heap.conflicts);
    CHECK(totals.heap.unknown_frees <= lost, "%zu of %zu", (size_t)totals.heap.unknown_frees,
          (size_t)lost);
    CHECK(totals.heap.allocated_blocks <= blocks && totals.heap.allocated_blocks + lost >= blocks,
          "%zu of %zu", (size_t)totals.heap.allocated_blocks, (size_t)blocks);
    CHECK(totals.heap.live_blocks <= left + lost && totals.heap.live_blocks + lost >= left,
          "%zu of %zu", (size_t)totals.heap.live_blocks, (size_t)left);
    printf("heap_ring: %zu blocks, %zu events lost\n", (size_t)blocks, (size_t)lost);
    return 0;
}
