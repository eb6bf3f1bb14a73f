#include "profiler/agent/heap/hooks_new.h"

#include <stdlib.h>

#include "profiler/agent/heap/hook.h"
#include "profiler/agent/interpose.h"

#define NOINLINE __attribute__((noinline))

/* In entry_*.S: calls `next` in a frame whose personality routine sees passing exceptions. */
extern void *sfb_heap_call_new(sfb_heap_new_function *next, size_t a, size_t b, size_t c);

static bool is_aligned(enum sfb_heap_new form)
{
    return form % SFB_HEAP_NEW_ARRAY >= SFB_HEAP_NEW_ALIGNED;
}

static bool throws(enum sfb_heap_new form)
{
    return form % 2 == 0;
}

/* Allocates as the C++ library's operator does. */
static void *without_operator(enum sfb_heap_new form, size_t size, size_t alignment)
{
    if (size == 0)
        size = 1;
    if (!is_aligned(form))
        return sfb_heap_next.malloc(size);
    size = (size + alignment - 1) & ~(alignment - 1);
    return size ? sfb_heap_next.aligned_alloc(alignment, size) : NULL;
}

/* Its malloc() calls are not counted again. It may throw; the exception then passes sfb_heap_unwound(). */
static void *by_operator(sfb_heap_new_function *next, size_t a, size_t b, size_t c)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    const uint32_t state = local->state;
    void *block;

    local->state = SFB_HEAP_IN_NEW;
    local->until_before = local->until;
    local->until = 0;
    block = sfb_heap_call_new(next, a, b, c);
    local->until = local->until_before;
    local->state = state;
    return block;
}

int sfb_heap_unwound(int version, int actions)
{
    enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 }; /* Itanium C++ ABI, "Exception Handling" */

    if (version == 1 && actions & CLEANUP_PHASE) {
        sfb_heap_local.until = sfb_heap_local.until_before;
        sfb_heap_local.state = SFB_HEAP_IDLE;
    }
    return CONTINUE_UNWIND;
}

/* Whether the next malloc() can stand for the next operator. */
static bool is_malloc(enum sfb_heap_new form)
{
    return !sfb_heap_next.new[form] || (sfb_heap_next.new_is_malloc && !is_aligned(form));
}

/*
 * Out of memory: finds the operator that calls the program's new-handler, and throws. NULL: no operator, and this form
 * does not throw
 */
static sfb_heap_new_function *who_fails(enum sfb_heap_new form)
{
    sfb_heap_new_function *next = sfb_heap_next.new[form];

    if (!next)
        next = sfb_heap_next_hidden_new(form);
    if (!next && throws(form))
        abort(); /* no C++ library is loaded that could throw */
    return next;
}

/* Called last: a throw then skips no code of ours. */
static inline void *fail(enum sfb_heap_new form, size_t size, size_t alignment, size_t nothrow)
{
    sfb_heap_new_function *next = who_fails(form);

    if (!next)
        return NULL;
    return is_aligned(form) ? next(size, alignment, nothrow) : next(size, nothrow, 0);
}

/* Passes the call to the program's own operator, by the C++ library's. Without a C++ library, the program's malloc() does. */
static NOINLINE void *pass_on(enum sfb_heap_new form, size_t size, size_t alignment, size_t nothrow)
{
    if (sfb_heap_next.new[form])
        return fail(form, size, alignment, nothrow);
    if (is_aligned(form))
        return without_operator(form, size, alignment);
    return malloc(size > 0 ? size : 1);
}

static inline void *new_by(enum sfb_heap_new form, size_t size, size_t alignment, size_t nothrow,
                           SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };
    const size_t tail = sfb_heap_tail(size);
    struct sfb_heap_thread *t;
    void *block;

    if (__builtin_expect(sfb_heap_next.new_is_others, 0)) {
        if (tail > 0)
            sfb_heap_tail_allocated(NULL, 0, &caller);
        return pass_on(form, size, alignment, nothrow);
    }
    /* Nested: one form calls another. */
    if (__builtin_expect(sfb_heap_local.state == SFB_HEAP_IN_NEW, 0) && sfb_heap_next.new[form])
        return fail(form, size, alignment, nothrow);
    t = sfb_heap_alloc_begin_as(size, SFB_HEAP_IN_NEW);
    if (is_malloc(form))
        block = without_operator(form, size + sfb_heap_tail_room(tail), alignment);
    else
        block = by_operator(sfb_heap_next.new[form], size + sfb_heap_tail_room(tail),
                            is_aligned(form) ? alignment : nothrow, nothrow);
    if (__builtin_expect(tail > 0, 0))
        sfb_heap_tail_allocated(block, size, &caller);
    else if (t)
        sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, block, size, &caller);
    return block || !is_malloc(form) ? block : fail(form, size, alignment, nothrow);
}

void *sfb_heap_new(size_t size, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW, size, 0, 0, pc, sp, fp);
}

void *sfb_heap_new_nothrow(size_t size, size_t nothrow, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_NOTHROW, size, 0, nothrow, pc, sp, fp);
}

void *sfb_heap_new_aligned(size_t size, size_t alignment, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_ALIGNED, size, alignment, 0, pc, sp, fp);
}

void *sfb_heap_new_aligned_nothrow(size_t size, size_t alignment, size_t nothrow, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_ALIGNED_NOTHROW, size, alignment, nothrow, pc, sp, fp);
}

void *sfb_heap_new_array(size_t size, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_ARRAY, size, 0, 0, pc, sp, fp);
}

void *sfb_heap_new_array_nothrow(size_t size, size_t nothrow, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_ARRAY_NOTHROW, size, 0, nothrow, pc, sp, fp);
}

void *sfb_heap_new_array_aligned(size_t size, size_t alignment, SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_ARRAY_ALIGNED, size, alignment, 0, pc, sp, fp);
}

void *sfb_heap_new_array_aligned_nothrow(size_t size, size_t alignment, size_t nothrow,
                                         SFB_HEAP_CALLER)
{
    return new_by(SFB_HEAP_NEW_ARRAY_ALIGNED_NOTHROW, size, alignment, nothrow, pc, sp, fp);
}

/* --- operator delete ----------------------------------------------------------------------------- */

/* The program does not know the size of a block with a tail. The unsized form directly precedes the sized one. */
static enum sfb_heap_delete without_size(enum sfb_heap_delete form, size_t *a, const size_t *b)
{
    const enum sfb_heap_delete of_one = form % SFB_HEAP_DELETE_ARRAY;

    if (of_one != SFB_HEAP_DELETE_SIZED && of_one != SFB_HEAP_DELETE_SIZED_ALIGNED)
        return form;
    *a = *b;
    return form - 1;
}

static void pass_delete_on(enum sfb_heap_delete form, void *block, size_t a, size_t b)
{
    sfb_heap_delete_function *next = sfb_heap_next.delete[form];
    const enum sfb_heap_delete plain = sfb_heap_has_tails() ? without_size(form, &a, &b) : form;

    if (plain != form)
        next = sfb_heap_next.delete_of_others[plain];
    if (next)
        next(block, a, b);
    else
        free(block);
}

static NOINLINE void delete_by(enum sfb_heap_delete form, void *block, size_t a, size_t b)
{
    sfb_heap_delete_function *next;
    struct sfb_heap_thread *t;

    if (__builtin_expect(sfb_heap_next.new_is_others, 0)) {
        pass_delete_on(form, block, a, b);
        return;
    }
    if (__builtin_expect(sfb_heap_has_tails(), 0))
        form = without_size(form, &a, &b);
    next = sfb_heap_next.delete[form];
    if (!next)
        next = sfb_heap_next.delete[SFB_HEAP_DELETE];
    if (!block || !next || sfb_heap_next.new_is_malloc) {
        free(block);
        return;
    }
    if (sfb_heap_tail_remembers())
        sfb_heap_tail_remember_here(block);
    t = sfb_heap_free_begin(SFB_HEAP_FREE, block, SFB_HEAP_IN_NEW);
    next(block, a, b);
    if (t)
        sfb_heap_free_end();
}

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names that C++ gives them */
void _ZdlPv(void *block);
void _ZdlPvm(void *block, size_t size);
void _ZdlPvRKSt9nothrow_t(void *block, size_t nothrow);
void _ZdlPvSt11align_val_t(void *block, size_t alignment);
void _ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, size_t nothrow);
void _ZdaPv(void *block);
void _ZdaPvm(void *block, size_t size);
void _ZdaPvRKSt9nothrow_t(void *block, size_t nothrow);
void _ZdaPvSt11align_val_t(void *block, size_t alignment);
void _ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, size_t nothrow);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

SFB_INTERPOSED void _ZdlPv(void *block)
{
    delete_by(SFB_HEAP_DELETE, block, 0, 0);
}

SFB_INTERPOSED void _ZdlPvm(void *block, size_t size)
{
    delete_by(SFB_HEAP_DELETE_SIZED, block, size, 0);
}

SFB_INTERPOSED void _ZdlPvRKSt9nothrow_t(void *block, size_t nothrow)
{
    delete_by(SFB_HEAP_DELETE_NOTHROW, block, nothrow, 0);
}

SFB_INTERPOSED void _ZdlPvSt11align_val_t(void *block, size_t alignment)
{
    delete_by(SFB_HEAP_DELETE_ALIGNED, block, alignment, 0);
}

SFB_INTERPOSED void _ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment)
{
    delete_by(SFB_HEAP_DELETE_SIZED_ALIGNED, block, size, alignment);
}

SFB_INTERPOSED void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment,
                                                        size_t nothrow)
{
    delete_by(SFB_HEAP_DELETE_ALIGNED_NOTHROW, block, alignment, nothrow);
}

SFB_INTERPOSED void _ZdaPv(void *block)
{
    delete_by(SFB_HEAP_DELETE_ARRAY, block, 0, 0);
}

SFB_INTERPOSED void _ZdaPvm(void *block, size_t size)
{
    delete_by(SFB_HEAP_DELETE_ARRAY_SIZED, block, size, 0);
}

SFB_INTERPOSED void _ZdaPvRKSt9nothrow_t(void *block, size_t nothrow)
{
    delete_by(SFB_HEAP_DELETE_ARRAY_NOTHROW, block, nothrow, 0);
}

SFB_INTERPOSED void _ZdaPvSt11align_val_t(void *block, size_t alignment)
{
    delete_by(SFB_HEAP_DELETE_ARRAY_ALIGNED, block, alignment, 0);
}

SFB_INTERPOSED void _ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment)
{
    delete_by(SFB_HEAP_DELETE_ARRAY_SIZED_ALIGNED, block, size, alignment);
}

SFB_INTERPOSED void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment,
                                                        size_t nothrow)
{
    delete_by(SFB_HEAP_DELETE_ARRAY_ALIGNED_NOTHROW, block, alignment, nothrow);
}
