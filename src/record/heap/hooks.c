/* malloc() and all that gives out or takes back what it does. */
#include "record/heap/hooks.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "record/heap/hook.h"
#include "record/heap/tail.h"
#include "record/interpose.h"

#define UNLIKELY(test) __builtin_expect(!!(test), 0)
#define NOINLINE       __attribute__((noinline))

/* Runs a call that allocates size + tail, and gives what it does. */
#define ALLOCATE(size, call)                                                                       \
    do {                                                                                           \
        const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };                           \
        const size_t tail = sfb_heap_tail(size);                                                   \
        struct sfb_heap_thread *t = sfb_heap_alloc_begin(size);                                    \
        void *block = (call);                                                                      \
                                                                                                   \
        if (UNLIKELY(tail))                                                                        \
            sfb_heap_tail_allocated(block, size, &caller);                                         \
        else if (t)                                                                                \
            sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, block, size, &caller);                           \
        return block;                                                                              \
    } while (0)

/* Whether a block is none of those that the next sample is in. SAMPLED; else none is. */
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
    ALLOCATE(size, sfb_heap_next.malloc(size + tail));
}

void *sfb_heap_malloc(size_t size, SFB_HEAP_CALLER)
{
    if (is_passed_over(size))
        return sfb_heap_next.malloc(size);
    return malloc_looked_at(size, pc, sp, fp);
}

static NOINLINE void *calloc_looked_at(size_t count, size_t size, size_t total, SFB_HEAP_CALLER)
{
    ALLOCATE(total, UNLIKELY(tail) ? sfb_heap_next.calloc(1, total + tail)
                                   : sfb_heap_next.calloc(count, size));
}

void *sfb_heap_calloc(size_t count, size_t size, SFB_HEAP_CALLER)
{
    size_t total;

    /* Too much is refused by the next one, with errno. */
    if (__builtin_mul_overflow(count, size, &total) || is_passed_over(total))
        return sfb_heap_next.calloc(count, size);
    return calloc_looked_at(count, size, total, pc, sp, fp);
}

void *sfb_heap_aligned_alloc(size_t alignment, size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.aligned_alloc(alignment, size + tail));
}

void *sfb_heap_memalign(size_t alignment, size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.memalign(alignment, size + tail));
}

void *sfb_heap_valloc(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.valloc(size + tail));
}

void *sfb_heap_pvalloc(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.pvalloc(size + tail));
}

int sfb_heap_posix_memalign(void **out, size_t alignment, size_t size, SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };
    const size_t tail = sfb_heap_tail(size);
    struct sfb_heap_thread *t = sfb_heap_alloc_begin(size);
    int result = sfb_heap_next.posix_memalign(out, alignment, size + tail);

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

/* Whoever gets the old place next has it behind our first record, and loses it, maybe, before our second one. */
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
    /* realloc() to nothing frees. */
    if (freed && !moved && size > 0 &&
        (sfb_heap_mode() != SFB_HEAP_SAMPLED || sfb_heap_follow(freed, block)))
        sfb_heap_put_free(freed, SFB_HEAP_REALLOC_FAILED, block);
    sfb_heap_local.state = SFB_HEAP_IDLE;
    return moved;
}

static void *realloc_of_nothing(size_t size, SFB_HEAP_CALLER)
{
    ALLOCATE(size, sfb_heap_next.realloc(NULL, size + tail));
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

/* Not all allocators have one; the C library's calls the realloc() that it finds. */
void *sfb_heap_reallocarray(void *block, size_t count, size_t size, SFB_HEAP_CALLER)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    if (UNLIKELY(sfb_heap_next.realloc_is_others))
        return realloc(block, total);
    return sfb_heap_realloc(block, total, pc, sp, fp);
}

/* --- free() -------------------------------------------------------------------------------------- */

static NOINLINE void free_looked_at(void *block)
{
    if (!block || is_of_pool(block))
        return;
    if (!sfb_heap_free_begin(SFB_HEAP_FREE, block, SFB_HEAP_IN_CALL)) {
        sfb_heap_next.free(block);
        return;
    }
    sfb_heap_next.free(block);
    sfb_heap_free_end();
}

SFB_INTERPOSED void free(void *ptr)
{
    if (sfb_heap_is_no_sample(ptr))
        sfb_heap_next.free(ptr);
    else
        free_looked_at(ptr);
}

/* C23. The sizes are for an allocator that has these functions itself. */
void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t alignment, size_t size);

SFB_INTERPOSED void free_sized(void *ptr, size_t size)
{
    struct sfb_heap_thread *t;

    if (!sfb_heap_next.free_sized || !ptr || is_of_pool(ptr) || sfb_heap_has_tails()) {
        free(ptr);
        return;
    }
    t = sfb_heap_free_begin(SFB_HEAP_FREE, ptr, SFB_HEAP_IN_CALL);
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
    t = sfb_heap_free_begin(SFB_HEAP_FREE, ptr, SFB_HEAP_IN_CALL);
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
