/* malloc(), and the functions that allocate or free the same blocks. */
#include "profiler/agent/heap/hooks.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/agent/heap/hook.h"
#include "profiler/agent/heap/tail.h"
#include "profiler/agent/interpose.h"

#define UNLIKELY(test) __builtin_expect(!!(test), 0)
#define NOINLINE       __attribute__((noinline))

/*
 * Body of a hook: runs a call that allocates size + sfb_heap_tail_room(tail) bytes, records it, and returns its result.
 */
#define ALLOCATE(size, call)                                                                       \
    do {                                                                                           \
        const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };                           \
        const size_t tail = sfb_heap_tail(size);                                                   \
        struct sfb_heap_thread *t = UNLIKELY(tail) ? NULL : sfb_heap_alloc_begin(size);            \
        void *block = (call);                                                                      \
                                                                                                   \
        if (UNLIKELY(tail))                                                                        \
            sfb_heap_tail_allocated(block, size, &caller);                                         \
        else if (t)                                                                                \
            sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, block, size, &caller);                           \
        return block;                                                                              \
    } while (0)

/* SAMPLED: whether the next sample lies beyond this block; then counts it down. Other modes: false. */
static inline bool is_passed_over(size_t size)
{
    struct sfb_heap_local *local = &sfb_heap_local;

    if (UNLIKELY(size >= local->until))
        return false;
    local->until -= size + 1;
    return true;
}

static NOINLINE void *malloc_looked_at(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.malloc(size + sfb_heap_tail_room(tail)));
}

void *sfb_heap_malloc(size_t size, SFB_HEAP_CALLER)
{
    if (is_passed_over(size))
        return sfb_heap_next.malloc(size);
    return malloc_looked_at(size, pc, sp, fp);
}

static NOINLINE void *calloc_looked_at(size_t count, size_t size, size_t total, SFB_HEAP_CALLER)
{
    ALLOCATE(total, UNLIKELY(tail) ? sfb_heap_next.calloc(1, total + sfb_heap_tail_room(tail))
                                   : sfb_heap_next.calloc(count, size));
}

void *sfb_heap_calloc(size_t count, size_t size, SFB_HEAP_CALLER)
{
    size_t total;

    /* The next calloc() refuses an overflow and sets errno. */
    if (__builtin_mul_overflow(count, size, &total) || is_passed_over(total))
        return sfb_heap_next.calloc(count, size);
    return calloc_looked_at(count, size, total, pc, sp, fp);
}

void *sfb_heap_aligned_alloc(size_t alignment, size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.aligned_alloc(alignment, size + sfb_heap_tail_room(tail)));
}

void *sfb_heap_memalign(size_t alignment, size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.memalign(alignment, size + sfb_heap_tail_room(tail)));
}

void *sfb_heap_valloc(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.valloc(size + sfb_heap_tail_room(tail)));
}

void *sfb_heap_pvalloc(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.pvalloc(size + sfb_heap_tail_room(tail)));
}

int sfb_heap_posix_memalign(void **out, size_t alignment, size_t size, SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };
    const size_t tail = sfb_heap_tail(size);
    struct sfb_heap_thread *t = UNLIKELY(tail) ? NULL : sfb_heap_alloc_begin(size);
    int result = sfb_heap_next.posix_memalign(out, alignment, size + sfb_heap_tail_room(tail));

    if (UNLIKELY(tail))
        sfb_heap_tail_allocated(result == 0 ? *out : NULL, size, &caller);
    else if (t)
        sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, result == 0 ? *out : NULL, size, &caller);
    return result;
}

/* --- realloc() ----------------------------------------------------------------------------------- */

static bool is_of_pool(const void *block)
{
    return UNLIKELY(sfb_heap_has_used_pool()) && sfb_heap_pool_has(block);
}

static void *move_from_pool(const void *block, size_t size)
{
    const size_t before = sfb_heap_pool_size(block);
    void *moved = sfb_heap_next.malloc(size);

    if (moved)
        memcpy(moved, block, before < size ? before : size);
    return moved;
}

/* Another thread that gets the old address allocates after our first record. It may also free it before our second one. */
static void *realloc_recorded(struct sfb_heap_thread *freed, void *block, size_t size,
                              const struct sfb_regs *caller)
{
    struct sfb_heap_thread *t;
    void *moved;

    if (freed)
        sfb_heap_free_end();
    t = sfb_heap_alloc_begin(size);
    if (freed)
        sfb_heap_local.state = SFB_HEAP_IN_CALL;
    moved = sfb_heap_next.realloc(block, size);
    if (t && moved) {
        sfb_heap_alloc_end(t, SFB_HEAP_ALLOC_REALLOC, moved, size, caller);
        return moved;
    }
    if (!freed && !t)
        return moved;
    sfb_heap_local.state = SFB_HEAP_AT_WORK;
    /* realloc() to size 0 frees. */
    if (freed && !moved && size > 0 &&
        (sfb_heap_mode() != SFB_HEAP_SAMPLED || sfb_heap_follow(freed, block)))
        sfb_heap_put_free(freed, SFB_HEAP_REALLOC_FAILED, block);
    sfb_heap_local.state = SFB_HEAP_IDLE;
    return moved;
}

static void *realloc_of_nothing(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.realloc(NULL, size + sfb_heap_tail_room(tail)));
}

static NOINLINE void *realloc_looked_at(void *block, size_t size, SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };

    if (!block)
        return realloc_of_nothing(size, pc, sp, fp);
    if (is_of_pool(block))
        return move_from_pool(block, size);
    if (UNLIKELY(sfb_heap_mode() == SFB_HEAP_TABLE))
        return sfb_heap_tail_realloc(block, size, &caller);
    return realloc_recorded(sfb_heap_free_begin(SFB_HEAP_FREE_REALLOC, block, SFB_HEAP_IN_CALL),
                            block, size, &caller);
}

void *sfb_heap_realloc(void *block, size_t size, SFB_HEAP_CALLER)
{
    if (sfb_heap_is_no_sample(block) && is_passed_over(size))
        return sfb_heap_next.realloc(block, size);
    return realloc_looked_at(block, size, pc, sp, fp);
}

/*
 * Some allocators have no reallocarray(). The C library's calls the realloc() that the program finds. An overflow fails as
 * without the agent: not every allocator sets errno.
 */
void *sfb_heap_reallocarray(void *block, size_t count, size_t size, SFB_HEAP_CALLER)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        if (sfb_heap_next.reallocarray)
            return sfb_heap_next.reallocarray(block, count, size);
        errno = ENOMEM;
        return NULL;
    }
    if (UNLIKELY(sfb_heap_next.realloc_is_others))
        return realloc(block, total);
    return sfb_heap_realloc(block, total, pc, sp, fp);
}

/* --- free() -------------------------------------------------------------------------------------- */

static inline void free_now(void *block)
{
    if (!sfb_heap_free_begin(SFB_HEAP_FREE, block, SFB_HEAP_IN_CALL)) {
        sfb_heap_next.free(block);
        return;
    }
    sfb_heap_next.free(block);
    sfb_heap_free_end();
}

/* Called last: so its stack begins with the program's frame. */
static NOINLINE void free_remembered(void *block)
{
    const struct sfb_regs caller = SFB_HEAP_RETURN_HERE;

    sfb_heap_tail_remember(block, &caller);
    free_now(block);
}

static NOINLINE void free_looked_at(void *block)
{
    if (!block || is_of_pool(block))
        return;
    if (sfb_heap_tail_remembers())
        free_remembered(block);
    else
        free_now(block);
}

SFB_INTERPOSED void free(void *ptr)
{
    if (sfb_heap_is_no_sample(ptr))
        sfb_heap_next.free(ptr);
    else
        free_looked_at(ptr);
}

/*
 * C23. The sizes are passed on only if the next allocator has these functions itself. They may call the free() that the
 * program finds, which is ours (glibc 2.43's do): in IN_NEW it is not counted again.
 */
void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t alignment, size_t size);

SFB_INTERPOSED void free_sized(void *ptr, size_t size)
{
    struct sfb_heap_thread *t;

    if (!sfb_heap_next.free_sized || !ptr || is_of_pool(ptr) || sfb_heap_has_tails()) {
        free(ptr);
        return;
    }
    t = sfb_heap_free_begin(SFB_HEAP_FREE, ptr, SFB_HEAP_IN_NEW);
    sfb_heap_next.free_sized(ptr, size);
    if (t)
        sfb_heap_free_end();
}

SFB_INTERPOSED void free_aligned_sized(void *ptr, size_t alignment, size_t size)
{
    struct sfb_heap_thread *t;

    if (!sfb_heap_next.free_aligned_sized || !ptr || is_of_pool(ptr) || sfb_heap_has_tails()) {
        free(ptr);
        return;
    }
    t = sfb_heap_free_begin(SFB_HEAP_FREE, ptr, SFB_HEAP_IN_NEW);
    sfb_heap_next.free_aligned_sized(ptr, alignment, size);
    if (t)
        sfb_heap_free_end();
}

SFB_INTERPOSED size_t malloc_usable_size(void *ptr)
{
    if (ptr && is_of_pool(ptr))
        return sfb_heap_pool_size(ptr);
    if (UNLIKELY(sfb_heap_has_tails()) && ptr)
        return sfb_heap_tail_usable(ptr);
    return sfb_heap_next.malloc_usable_size(ptr);
}
