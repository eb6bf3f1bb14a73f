#include "profiler/agent/heap/hooks_map.h"

#include <sys/mman.h>

#include "profiler/agent/heap/hook.h"
#include "profiler/agent/interpose.h"

/* Mappings of an allocator are not recorded: its blocks are. Nor are samples of mappings: these would not be followed. */
static struct sfb_heap_thread *begin(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    struct sfb_heap_thread *t;

    if (!sfb_heap.maps || sfb_heap_mode() != SFB_HEAP_EVERY || local->state == SFB_HEAP_IN_CALL ||
        local->state == SFB_HEAP_IN_NEW)
        return NULL;
    t = sfb_heap_enter(local);
    if (t)
        local->state = SFB_HEAP_AT_WORK;
    return t;
}

static void end(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

enum { FREE_SIZE = 3 * sizeof(uint64_t) };

/*
 * Opens the record of a range about to be unmapped. Its time is taken before the call. It is published after the call, if
 * that succeeds; until then the recorder waits.
 *
 * @return NULL: no room
 */
static uint64_t *open_free(struct sfb_heap_thread *t, const void *at, size_t size)
{
    uint64_t *record = sfb_heap_reserve(t, FREE_SIZE);

    if (!record)
        return NULL;
    record[1] = (uintptr_t)at;
    record[2] = size;
    record[0] = sfb_heap_open_record(t, SFB_HEAP_FREE_MMAP);
    return record;
}

static void close_free(struct sfb_heap_thread *t, const uint64_t *record, bool done)
{
    if (record)
        sfb_heap_close_record(t, done ? FREE_SIZE : 0);
}

static void *map(struct sfb_heap_thread *t, void *at, size_t size, int protection, int flags,
                 int fd, off_t offset, const struct sfb_regs *caller)
{
    /* MAP_FIXED replaces what is mapped there. */
    uint64_t *record = flags & MAP_FIXED ? open_free(t, at, size) : NULL;
    void *block = sfb_heap_next.mmap(at, size, protection, flags, fd, offset);

    close_free(t, record, block != MAP_FAILED);
    if (block != MAP_FAILED && sfb_agent_paused() == SFB_SHARED_RUNS)
        sfb_heap_put_alloc(t, SFB_HEAP_ALLOC_MMAP, block, size, 0, sfb_heap_stack(t, caller));
    return block;
}

void *sfb_heap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset,
                    SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };
    struct sfb_heap_thread *t = begin();
    void *block;

    if (!t)
        return sfb_heap_next.mmap(at, size, protection, flags, fd, offset);
    block = map(t, at, size, protection, flags, fd, offset, &caller);
    end();
    return block;
}

void *sfb_heap_mremap(void *at, size_t old_size, size_t size, int flags, void *to, size_t unused,
                      SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };
    struct sfb_heap_thread *t = begin();
    uint64_t *record;
    void *block;

    (void)unused;
    if (!t)
        return sfb_heap_next.mremap(at, old_size, size, flags, to);
    record = open_free(t, at, old_size);
    block = sfb_heap_next.mremap(at, old_size, size, flags, to);
    close_free(t, record, block != MAP_FAILED);
    if (block != MAP_FAILED && sfb_agent_paused() == SFB_SHARED_RUNS)
        sfb_heap_put_alloc(t, SFB_HEAP_ALLOC_MMAP, block, size, 0, sfb_heap_stack(t, &caller));
    end();
    return block;
}

SFB_INTERPOSED int munmap(void *addr, size_t len)
{
    struct sfb_heap_thread *t = begin();
    uint64_t *record;
    int result;

    if (!t)
        return sfb_heap_next.munmap(addr, len);
    record = open_free(t, addr, len);
    result = sfb_heap_next.munmap(addr, len);
    close_free(t, record, result == 0);
    end();
    return result;
}
