#include "record/modules.h"

#include <sched.h>
#include <stdbool.h>

#include "record/clocks.h"
#include "sframe_backtrace.h"

#define EXPECT_NS ((uint64_t)1000000000) /* what a dlopen() takes, its constructors apart */
#define EVERY_NS  ((uint64_t)20000000)   /* a list costs 3 us a module */
#define WAIT_NS   ((uint64_t)10000000)

static uint32_t renew_wanted;
static uint64_t expect_until, next_look;
static uint64_t last; /* hash of the list that was written last */

/* FNV-1a. */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3U;
    return hash;
}

/* With the lock held, and the list before taken. */
static void write_list(struct sfb_shared_process *p)
{
    uint32_t left_out = 0;
    ssize_t size = sframe_backtrace_image_map(p->modules, sizeof p->modules, &left_out);
    uint64_t hash;

    if (size <= 0)
        return;
    hash = hash_of(p->modules, (size_t)size);
    if (hash == last)
        return;
    if (left_out > 0)
        sfb_agent_lose(SFB_LOSS_MODULES);
    last = hash;
    p->modules_size = (uint32_t)size;
    p->modules_time = sfb_now();
    __atomic_fetch_add(&p->modules_written, 1, __ATOMIC_RELEASE);
    sfb_agent_wake_recorder();
}

/* @return false: another thread is at it, or the recorder has not taken the list before */
static bool try_to_write(void)
{
    struct sfb_shared_process *p = sfb_agent.process;
    uint32_t expected = 0;
    bool may;

    if (!__atomic_compare_exchange_n(&p->modules_lock, &expected, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    may = __atomic_load_n(&p->modules_taken, __ATOMIC_ACQUIRE) == p->modules_written;
    if (may)
        write_list(p);
    __atomic_store_n(&p->modules_lock, 0, __ATOMIC_RELEASE);
    return may;
}

void sfb_modules_begin(void)
{
    last = 0;
    expect_until = next_look = 0;
    sfb_modules_renew();
}

void sfb_modules_expect(void)
{
    __atomic_store_n(&expect_until, sfb_now() + EXPECT_NS, __ATOMIC_RELAXED);
}

void sfb_modules_renew(void)
{
    __atomic_store_n(&renew_wanted, 0, __ATOMIC_RELAXED);
    if (!try_to_write())
        __atomic_store_n(&renew_wanted, 1, __ATOMIC_RELAXED);
}

void sfb_modules_renew_and_wait(void)
{
    struct sfb_shared_process *p = sfb_agent.process;
    uint64_t end = sfb_now() + WAIT_NS;
    bool written = false;

    do {
        written = written || try_to_write();
        if (written && __atomic_load_n(&p->modules_taken, __ATOMIC_ACQUIRE) == p->modules_written)
            return;
        sched_yield();
    } while (sfb_now() < end && !sfb_agent_is_over());
    if (!written)
        __atomic_store_n(&renew_wanted, 1, __ATOMIC_RELAXED);
}

void sfb_modules_look(uint64_t now)
{
    uint64_t next = __atomic_load_n(&next_look, __ATOMIC_RELAXED);

    if (__atomic_load_n(&renew_wanted, __ATOMIC_RELAXED)) {
        sfb_modules_renew();
        return;
    }
    if (now < __atomic_load_n(&expect_until, __ATOMIC_RELAXED) && now >= next &&
        __atomic_compare_exchange_n(&next_look, &next, now + EVERY_NS, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        try_to_write();
}
