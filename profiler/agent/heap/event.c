#include "profiler/agent/heap/event.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/modules.h"

/* On a machine with a load of 100 a woken recorder runs within half a second: it waits for a processor. */
#define WAIT_NS ((uint64_t)1000000000)

enum {
    PIECES = 8,
    IN_VAIN = 3 /* fruitless waits; then the thread waits no more until the recorder reads again */
};

/* The allocator's locks are free: this thread is not in it. */
static void look_at_allocator(const struct sfb_heap_thread *t)
{
    if (sfb_heap.look_at_allocator && !t->nested)
        sfb_heap.look_at_allocator();
}

bool sfb_heap_events_prepare(void)
{
    const size_t size = SFB_HEAP_KNOWN * sizeof *sfb_heap.known;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);

    if (at == MAP_FAILED)
        return false;
    madvise(at, size, MADV_DONTDUMP);
    sfb_heap.known = at;
    return true;
}

void sfb_heap_forget_stacks(void)
{
    madvise(sfb_heap.known, SFB_HEAP_KNOWN * sizeof *sfb_heap.known, MADV_DONTNEED);
}

/* --- room ---------------------------------------------------------------------------------------- */

static uint32_t ring_bytes(void)
{
    return sfb_agent.ring_bytes;
}

static uint64_t tail_of(const struct sfb_heap_thread *t)
{
    return __atomic_load_n(&t->ring->tail, __ATOMIC_ACQUIRE);
}

/* Clamped: tail is in shared memory, where the program may have overwritten it. */
static uint32_t used(const struct sfb_heap_thread *t)
{
    const uint64_t size = (uint64_t)(uintptr_t)t->at + t->bias - tail_of(t);

    return size <= ring_bytes() ? (uint32_t)size : ring_bytes();
}

static uint32_t to_end(const struct sfb_heap_thread *t)
{
    return (uint32_t)(t->ring->data + ring_bytes() - t->at);
}

/* Pads to the end of data and continues at its beginning. The recorder sees the padding with the next record. */
static void wrap(struct sfb_heap_thread *t, uint32_t padding)
{
    if (padding > 0)
        *(uint64_t *)(void *)t->at = SFB_HEAP_PAD;
    t->bias += ring_bytes();
    t->at = t->ring->data;
}

/* Grants one piece of the ring at a time; tail is read only here. @return whether there is room now */
static bool take_room(struct sfb_heap_thread *t, uint32_t size)
{
    const uint32_t before = used(t), rest = to_end(t), padding = size > rest ? rest : 0;
    uint32_t room = ring_bytes() - before, piece = ring_bytes() / PIECES;

    if (room < padding + size)
        return false;
    if (size > rest)
        wrap(t, padding);
    room -= padding;
    if (room > to_end(t))
        room = to_end(t);
    if (piece < size)
        piece = size;
    t->limit = t->at + (room < piece ? room : piece);
    t->in_vain = 0;
    if (before >= ring_bytes() / 2)
        sfb_agent_wake_recorder();
    return true;
}

/* Returns when the recorder has read something, or after ns. */
static void wait_for_tail(struct sfb_heap_thread *t, uint64_t tail, uint64_t ns)
{
    const struct timespec limit = sfb_timespec(ns);

    __atomic_store_n(&t->ring->waiting, 1, __ATOMIC_SEQ_CST);
    sfb_agent_wake_recorder();
    syscall(SYS_futex, &t->ring->tail, FUTEX_WAIT, (uint32_t)tail, &limit, NULL, 0);
    __atomic_store_n(&t->ring->waiting, 0, __ATOMIC_RELAXED);
}

/* @return whether there is room within WAIT_NS, while the recording goes on */
static bool wait_once(struct sfb_heap_thread *t, uint32_t size)
{
    const uint64_t end = sfb_now() + WAIT_NS;
    uint64_t now = end - WAIT_NS;

    while (now < end && !sfb_agent_is_over()) {
        const uint64_t tail = tail_of(t);

        if (take_room(t, size))
            return true;
        wait_for_tail(t, tail, end - now);
        now = sfb_now();
    }
    return take_room(t, size);
}

/* @return false: no room in time, or the recording is over */
static bool wait_for_room(struct sfb_heap_thread *t, uint32_t size)
{
    if (t->in_vain == IN_VAIN && tail_of(t) == t->in_vain_tail)
        return false;
    sfb_heap_lose(t, SFB_LOSS_HEAP_WAITS);
    do {
        if (wait_once(t, size))
            return true;
    } while (sfb_heap.waits && !sfb_agent_is_over());
    if (t->in_vain < IN_VAIN)
        t->in_vain++;
    t->in_vain_tail = tail_of(t);
    return false;
}

uint64_t *sfb_heap_make_room(struct sfb_heap_thread *t, uint32_t size)
{
    const int before = errno;
    bool good = false;

    if (sfb_agent_is_over())
        __atomic_store_n(&sfb_heap.mode, SFB_HEAP_OFF, __ATOMIC_RELAXED);
    else
        good = take_room(t, size) || wait_for_room(t, size);
    if (good)
        look_at_allocator(t);
    if (!good && !sfb_agent_is_over())
        sfb_heap_lose(t, SFB_LOSS_HEAP_EVENTS);
    errno = before;
    return good ? (uint64_t *)(void *)t->at : NULL;
}

/* --- stacks and names ---------------------------------------------------------------------------- */

/* If all candidate entries are taken, the stack is sent again each time. */
static void remember(uint64_t hash)
{
    const size_t home = (size_t)(hash >> SFB_HEAP_KNOWN_SHIFT);

    for (size_t i = 0; i < SFB_HEAP_KNOWN_STEPS; i++) {
        uint64_t *place = &sfb_heap.known[(home + i) % SFB_HEAP_KNOWN], expected = 0;

        if (__atomic_compare_exchange_n(place, &expected, hash, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED) ||
            expected == hash)
            return;
    }
}

/* Rare checks, made when a new stack is sent: modules, and the thread's name. */
static void look_around(struct sfb_heap_thread *t)
{
    const int before = errno;

    sfb_modules_look(sfb_now());
    sfb_heap_look_at_name(t);
    look_at_allocator(t);
    errno = before;
}

uint64_t sfb_heap_tell_stack(struct sfb_heap_thread *t, const struct sfb_regs *caller,
                             uint64_t hash, uint32_t calls)
{
    enum { HEAD = 3 * sizeof(uint64_t) };
    enum sfb_status end = SFB_OK;
    const uint32_t calls_size = calls * (uint32_t)sizeof *t->python.calls;
    uint64_t *record, modules;
    ssize_t cbf;
    uint32_t size, calls_at;

    look_around(t);
    modules = sfb_modules_written();
    cbf = sfb_stack_name_cbf(caller, t->cbf, sizeof t->cbf, &end);
    if (cbf <= 0)
        return 0;
    calls_at = (uint32_t)(HEAD + ((size_t)cbf + 7) / 8 * 8);
    size = calls_at + calls_size;
    record = sfb_heap_reserve(t, size);
    if (!record)
        return 0;
    record[1] = hash;
    record[2] = (uint64_t)cbf | (uint64_t)calls << SFB_HEAP_CALLS_SHIFT |
                (uint64_t)(uint8_t)end << SFB_HEAP_END_SHIFT | modules << SFB_HEAP_MODULES_SHIFT;
    memcpy(record + 3, t->cbf, (size_t)cbf);
    if (calls_size > 0)
        memcpy((uint8_t *)record + calls_at, t->python.calls, calls_size);
    record[0] = sfb_heap_open_record(t, SFB_HEAP_STACK);
    sfb_heap_close_record(t, size);
    remember(hash);
    return hash;
}

void sfb_heap_look_at_name(struct sfb_heap_thread *t)
{
    enum { SIZE = sizeof(uint64_t) + sizeof t->name };
    char name[sizeof t->name] = "";
    uint64_t *record;

    if (prctl(PR_GET_NAME, name) != 0 || memcmp(name, t->name, sizeof name) == 0)
        return;
    record = sfb_heap_reserve(t, SIZE);
    if (!record)
        return;
    memcpy(t->name, name, sizeof name);
    memcpy(record + 1, name, sizeof name);
    record[0] = sfb_heap_open_record(t, SFB_HEAP_NAME);
    sfb_heap_close_record(t, SIZE);
}
