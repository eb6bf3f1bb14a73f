#include "profiler/agent/live/block_find.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "profiler/agent/live/table.h"
#include "profiler/protocol/live_view.h"

/* Static: the caller may be a crash handler with a small stack. */
static struct {
    uint64_t
        busy; /* thread << 32 | epoch of the table: another one in a child of fork(); 0: no call */
    uint32_t call; /* number of the last one */
    struct sfb_live_table table;
    struct sfb_live_view view;
    struct sfb_live_slot found[SFRAME_BACKTRACE_HEAP_FIND_MAX]; /* block 0: no block */
    uint32_t slot[SFRAME_BACKTRACE_HEAP_FIND_MAX];
    struct sfb_live_freed freed[SFRAME_BACKTRACE_HEAP_FIND_MAX]; /* address 0: no block */
    uint8_t cbf[SFB_LIVE_CBF_MAX], freed_cbf[SFB_LIVE_CBF_MAX];
} find;

static struct sfb_live_slot slot_at(uint32_t index)
{
    const struct sfb_live_slot *slot = &find.table.slots[index];

    return (struct sfb_live_slot){ __atomic_load_n(&slot->block, __ATOMIC_ACQUIRE),
                                   __atomic_load_n(&slot->what, __ATOMIC_ACQUIRE) };
}

static void look(uint32_t index, const uint64_t *addresses, size_t count)
{
    const struct sfb_live_slot slot = slot_at(index);
    uint64_t begin, end;

    if (!sfb_live_is_block(slot.block))
        return;
    begin = sfb_live_address(slot.block);
    end = sfb_live_end_of(slot);
    for (size_t i = 0; i < count; i++)
        if (addresses[i] >= begin && addresses[i] < end) {
            find.found[i] = slot;
            find.slot[i] = index;
        }
}

static void look_at_all(const uint64_t *addresses, size_t count)
{
    const uint32_t used = find.view.head.slots_used < find.table.slot_room
                              ? find.view.head.slots_used
                              : find.table.slot_room;

    for (uint32_t i = 1; i < used; i++)
        look(i, addresses, count);
}

static bool is_as_before(struct sfb_live_slot slot, uint32_t index)
{
    const struct sfb_live_slot now = slot_at(index);

    return now.block == slot.block && now.what == slot.what;
}

/* Another thread may free the block meanwhile, and its memory may go: the kernel reads it. */
static bool is_overrun(struct sfb_live_slot slot, uint32_t index)
{
    const uint64_t at = sfb_live_tail_at(slot.block, slot.what);
    const int before = errno;
    uint32_t tail = index;
    const struct iovec own = { &tail, sizeof tail }, there = { (void *)(uintptr_t)at, sizeof tail };
    bool read;

    if (at == 0 || find.view.head.flags & SFB_LIVE_BYPASSED || !is_as_before(slot, index))
        return false;
    read = syscall(SYS_process_vm_readv, getpid(), &own, 1, &there, 1, 0) == sizeof tail;
    errno = before;
    return read && tail != index && is_as_before(slot, index);
}

/* --- freed ones ----------------------------------------------------------------------------------- */

static void look_at_freed(const uint64_t *addresses, size_t count)
{
    const struct sfb_live *head = &find.view.head;
    const struct sfb_live_freed *ring =
        (const struct sfb_live_freed *)(const void *)((const uint8_t *)find.table.map +
                                                      head->freed_at);

    /* The newest ones come first. */
    for (uint64_t n = 0; n < head->freed_room && n < head->freed_next; n++) {
        const struct sfb_live_freed freed =
            sfb_live_freed_read(&ring[(head->freed_next - 1 - n) % head->freed_room]);

        for (size_t i = 0; freed.address != 0 && i < count; i++)
            if (find.freed[i].address == 0 && addresses[i] >= freed.address &&
                addresses[i] - freed.address < sfb_live_size_of(freed.what))
                find.freed[i] = freed;
    }
}

/* --- what is reported ----------------------------------------------------------------------------- */

/* @param generation  written, also if the stack is unknown. @return bytes of the stack that a slot names; 0: unknown */
static size_t copy_stack(uint64_t what, uint32_t *generation, uint8_t *cbf)
{
    struct sfb_live_stack stack = { .state = 0 };
    const size_t size = sfb_live_stack_copy(&find.view, sfb_live_stack_of(what), &stack, cbf);

    *generation = sfb_live_generation(stack.state);
    return size > 0 && *generation % SFB_LIVE_GENERATIONS == sfb_live_generation_of(what) ? size
                                                                                          : 0;
}

/* The stack of a freed block may have been freed any number of times since. */
static size_t copy_old_stack(uint64_t what, uint32_t generation, uint8_t *cbf)
{
    uint32_t now;
    const size_t size = copy_stack(what, &now, cbf);

    return now == generation ? size : 0;
}

static void tell(size_t number, sfb_live_find_visitor visit, void *user)
{
    const struct sfb_live_slot slot = find.found[number];
    uint32_t generation;
    const size_t size = copy_stack(slot.what, &generation, find.cbf);
    const struct sframe_backtrace_heap_block block = {
        .size = sizeof block,
        .address = sfb_live_address(slot.block),
        .bytes = sfb_live_size_of(slot.what),
        .state = is_overrun(slot, find.slot[number]) ? SFRAME_BACKTRACE_HEAP_BLOCK_OVERRUN
                                                     : SFRAME_BACKTRACE_HEAP_BLOCK_LIVE,
        .cbf_size = (uint32_t)size,
        .cbf = size > 0 ? find.cbf : NULL,
    };

    visit(user, number, &block);
}

static void tell_freed(size_t number, sfb_live_find_visitor visit, void *user)
{
    const struct sfb_live_freed *freed = &find.freed[number];
    const size_t size = copy_old_stack(freed->what, freed->generation, find.cbf),
                 by = copy_old_stack(freed->by, freed->by_generation, find.freed_cbf);
    const struct sframe_backtrace_heap_block block = {
        .size = sizeof block,
        .address = freed->address,
        .bytes = sfb_live_size_of(freed->what),
        .state = SFRAME_BACKTRACE_HEAP_BLOCK_FREED,
        .cbf_size = (uint32_t)size,
        .cbf = size > 0 ? find.cbf : NULL,
        .freed_cbf = by > 0 ? find.freed_cbf : NULL,
        .freed_cbf_size = (uint32_t)by,
    };

    visit(user, number, &block);
}

/* --- one call at a time ---------------------------------------------------------------------------- */

static bool is_gone(uint32_t thread)
{
    const int before = errno;
    const bool gone = syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) != 0 && errno == ESRCH;

    errno = before;
    return gone;
}

/*
 * Takes the call from another epoch, from a thread that has ended, and from an earlier call of this thread: a fault has
 * ended that one, or this one interrupts it.
 *
 * @return its number; 0: another thread is in it
 */
static uint32_t enter(uint64_t self)
{
    uint64_t before = __atomic_load_n(&find.busy, __ATOMIC_RELAXED);
    uint32_t number;

    if (before != 0 && before != self && (uint32_t)before == (uint32_t)self &&
        !is_gone((uint32_t)(before >> 32)))
        return 0;
    if (!__atomic_compare_exchange_n(&find.busy, &before, self, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return 0;
    number = __atomic_add_fetch(&find.call, 1, __ATOMIC_RELAXED);
    return number > 0 ? number : __atomic_add_fetch(&find.call, 1, __ATOMIC_RELAXED);
}

/* Whether no later call has interrupted this one. */
static bool is_own(uint32_t number)
{
    return __atomic_load_n(&find.call, __ATOMIC_RELAXED) == number;
}

static bool tell_all(uint32_t number, size_t count, sfb_live_find_visitor visit, void *user)
{
    for (size_t i = 0; i < count && is_own(number); i++) {
        if (find.found[i].block != 0)
            tell(i, visit, user);
        if (is_own(number) && find.freed[i].address != 0)
            tell_freed(i, visit, user);
    }
    return is_own(number);
}

enum sfb_status sfb_live_find(const uint64_t *addresses, size_t count, sfb_live_find_visitor visit,
                              void *user)
{
    const uint32_t epoch = sfb_live_epoch();
    uint64_t self = (uint64_t)(uint32_t)syscall(SYS_gettid) << 32 | epoch;
    uint32_t number;
    bool whole = true;

    if (epoch == 0)
        return SFB_BAD_ARGUMENT;
    number = enter(self);
    if (number == 0)
        return SFB_NO_RESOURCE;
    if (count > SFRAME_BACKTRACE_HEAP_FIND_MAX)
        count = SFRAME_BACKTRACE_HEAP_FIND_MAX;
    if (sfb_live_table_now(&find.table) != 0) {
        memset(find.found, 0, sizeof find.found);
        memset(find.freed, 0, sizeof find.freed);
        sfb_live_table_head(&find.table, &find.view.head);
        find.view.stacks = find.table.stacks;
        find.view.pieces = find.table.pieces;
        look_at_all(addresses, count);
        look_at_freed(addresses, count);
        whole = tell_all(number, count, visit, user);
    }
    if (whole)
        __atomic_compare_exchange_n(&find.busy, &self, 0, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
    return whole ? SFB_OK : SFB_NO_RESOURCE;
}
