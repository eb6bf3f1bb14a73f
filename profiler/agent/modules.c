#include "profiler/agent/modules.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "sframe_backtrace.h"
#include "util/fnv.h"

#define EXPECT_NS ((uint64_t)1000000000) /* duration of a dlopen() without constructors */
#define EVERY_NS  ((uint64_t)20000000)   /* a list costs 3 us a module */
#define ANYWAY_NS ((uint64_t)100000000) /* delay until a library loaded without dlopen() is found */
#define WAIT_NS   ((uint64_t)10000000)
#define SHARE     1000
#define PAUSE_NS  100000

#define UNLOAD_NS                                                                                  \
    ((uint64_t)1000000000) /* for one dlclose(): later, lists are written again in any case */

static uint32_t renew_wanted;
static uint32_t unloading;       /* threads in dlclose() */
static uint64_t unloading_since; /* start of the last of these */
static uint32_t readers; /* reads of modules' memory in progress: sfb_modules_read_begin() */
static _Thread_local uint32_t own_readers __attribute__((tls_model("initial-exec")));
static uint64_t expect_until, next_look, next_anyway;
static uint64_t last;  /* hash of the last list written */
static bool was_empty; /* guarded by modules_lock */

/* Only the number of images follows the platform. No image takes as few bytes as that number. */
static bool is_empty(const uint8_t *map, size_t size)
{
    enum { INFO = 1, PLATFORM_SIZE = 1, COUNT = 3 };

    return size <= (size_t)INFO + PLATFORM_SIZE + map[1] + COUNT;
}

/* Called with the lock held and the previous list taken. A process without modules yet gets its list with a later sample. */
static void write_list(struct sfb_shared_process *p)
{
    uint32_t left_out = 0;
    ssize_t size = sframe_backtrace_image_map(p->modules, sizeof p->modules, &left_out);
    uint64_t hash;

    if (size <= 0)
        return;
    if (is_empty(p->modules, (size_t)size)) {
        if (!was_empty)
            sfb_agent_lose(SFB_LOSS_MODULES);
        was_empty = true;
        __atomic_store_n(&renew_wanted, 1, __ATOMIC_RELAXED);
        return;
    }
    hash = sfb_fnv(SFB_FNV_START, p->modules, (size_t)size);
    if (hash == last)
        return;
    if (left_out > 0)
        sfb_agent_lose(SFB_LOSS_MODULES);
    last = hash;
    /* The recorder reads these two before it knows whether the list is new. */
    __atomic_store_n(&p->modules_size, (uint32_t)size, __ATOMIC_RELAXED);
    __atomic_store_n(&p->modules_time, sfb_now(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&p->modules_written, 1, __ATOMIC_RELEASE);
    /* A process that begins wakes the recorder once, when its slot is complete. */
    if (__atomic_load_n(&p->state, __ATOMIC_RELAXED) == SFB_SLOT_LIVE)
        sfb_agent_wake_recorder();
    if (sfb_agent.modules_are_new)
        sfb_agent.modules_are_new();
}

static bool is_taken(const struct sfb_shared_process *p)
{
    return __atomic_load_n(&p->modules_taken, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&p->modules_written, __ATOMIC_RELAXED);
}

/*
 * A list is made by reading the modules themselves: unmapping one of them meanwhile would be a fault. A thread whose
 * destructor ended it inside dlclose() never returns; it counts for UNLOAD_NS only.
 */
static bool is_unloading(void)
{
    return __atomic_load_n(&unloading, __ATOMIC_SEQ_CST) != 0 &&
           sfb_now() - __atomic_load_n(&unloading_since, __ATOMIC_RELAXED) < UNLOAD_NS;
}

void sfb_modules_unload_begin(void)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    const uint64_t now = sfb_now(), end = now + UNLOAD_NS;

    __atomic_store_n(&unloading_since, now, __ATOMIC_RELAXED);
    __atomic_fetch_add(&unloading, 1, __ATOMIC_SEQ_CST);
    while ((__atomic_load_n(&sfb_agent.process->modules_lock, __ATOMIC_SEQ_CST) != 0 ||
            __atomic_load_n(&readers, __ATOMIC_SEQ_CST) > own_readers) &&
           sfb_now() < end)
        syscall(SYS_nanosleep, &pause, NULL);
}

/* A recording that began inside dlclose(), or in a child of its thread, has set the number to 0. */
void sfb_modules_unload_end(void)
{
    uint32_t now = __atomic_load_n(&unloading, __ATOMIC_RELAXED);

    while (now > 0 && !__atomic_compare_exchange_n(&unloading, &now, now - 1, false,
                                                   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
}

/* --- Readers -------------------------------------------------------------------------------------- */

/* A handler that interrupts one of these leaves the thread's own number as it was. */
bool sfb_modules_read_begin(void)
{
    own_readers++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_fetch_add(&readers, 1, __ATOMIC_SEQ_CST);
    /* Without a limit of time: libraries' destructors may take longer, and pages go behind them. */
    if (__atomic_load_n(&unloading, __ATOMIC_SEQ_CST) == 0)
        return true;
    sfb_modules_read_end();
    return false;
}

void sfb_modules_read_end(void)
{
    __atomic_fetch_sub(&readers, 1, __ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own_readers--;
}

void sfb_modules_continue_in_child(void)
{
    __atomic_store_n(&readers, own_readers, __ATOMIC_RELAXED);
}

/* --- Lists ---------------------------------------------------------------------------------------- */

/* @return false: another thread writes a list or unloads a module, or the recorder has not taken the previous list */
static bool try_to_write(void)
{
    struct sfb_shared_process *p = sfb_agent.process;
    uint32_t expected = 0;
    bool may;

    if (!__atomic_compare_exchange_n(&p->modules_lock, &expected, 1, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        return false;
    may = !is_unloading() && is_taken(p);
    if (may)
        write_list(p);
    __atomic_store_n(&p->modules_lock, 0, __ATOMIC_RELEASE);
    return may;
}

void sfb_modules_begin(bool later)
{
    last = 0;
    was_empty = false;
    expect_until = next_look = 0;
    renew_wanted = unloading = 0; /* in a child of fork() no other thread exists */
    if (later || !try_to_write())
        renew_wanted = 1;
    next_anyway = sfb_now() + ANYWAY_NS;
}

void sfb_modules_expect(void)
{
    __atomic_store_n(&expect_until, sfb_now() + EXPECT_NS, __ATOMIC_RELAXED);
}

void sfb_modules_renew(bool until_taken)
{
    /* A stopped or killed recorder that did not answer once is not waited for again. */
    static bool in_vain;
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    uint64_t end = sfb_now() + (__atomic_load_n(&in_vain, __ATOMIC_RELAXED) ? 0 : WAIT_NS);
    bool written = try_to_write();

    while (!(written && (!until_taken || is_taken(sfb_agent.process))) && sfb_now() < end &&
           !sfb_agent_is_over()) {
        syscall(SYS_nanosleep, &pause, NULL); /* nanosleep() is a cancellation point */
        written = written || try_to_write();
    }
    __atomic_store_n(&in_vain, !is_taken(sfb_agent.process) && sfb_now() >= end, __ATOMIC_RELAXED);
    if (!written)
        __atomic_store_n(&renew_wanted, 1, __ATOMIC_RELAXED);
}

/* Takes at most a thousandth of the time, whatever the number of modules. */
static void look_anyway(uint64_t now)
{
    uint64_t next = __atomic_load_n(&next_anyway, __ATOMIC_RELAXED), cost;

    if (now < next || !__atomic_compare_exchange_n(&next_anyway, &next, now + ANYWAY_NS, false,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    try_to_write();
    cost = sfb_now() - now;
    if (cost * SHARE > ANYWAY_NS)
        __atomic_store_n(&next_anyway, now + cost * SHARE, __ATOMIC_RELAXED);
}

void sfb_modules_look(uint64_t now)
{
    uint64_t next = __atomic_load_n(&next_look, __ATOMIC_RELAXED);

    if (__atomic_load_n(&renew_wanted, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&renew_wanted, 0, __ATOMIC_RELAXED) && !try_to_write())
        __atomic_store_n(&renew_wanted, 1, __ATOMIC_RELAXED);
    if (now < __atomic_load_n(&expect_until, __ATOMIC_RELAXED) && now >= next &&
        __atomic_compare_exchange_n(&next_look, &next, now + EVERY_NS, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        try_to_write();
    look_anyway(now);
}
