#include "record/heap/hooks_new.h"

#include <stdlib.h>

#include "record/heap/hook.h"
#include "record/interpose.h"

#define NOINLINE __attribute__((noinline))

/* std::nothrow is an empty object: its address says nothing. */
static const char nothrow_object;
#define NOTHROW ((size_t)(uintptr_t)&nothrow_object)

static bool is_aligned(enum sfb_heap_new form)
{
    return form % SFB_HEAP_NEW_ARRAY >= SFB_HEAP_NEW_ALIGNED;
}

static bool throws(enum sfb_heap_new form)
{
    return form % 2 == 0;
}

/* As the C++ library has it. */
static void *without_operator(enum sfb_heap_new form, size_t size, size_t alignment)
{
    if (size == 0)
        size = 1;
    if (!is_aligned(form))
        return sfb_heap_next.malloc(size);
    size = (size + alignment - 1) & ~(alignment - 1);
    return size ? sfb_heap_next.aligned_alloc(alignment, size) : NULL;
}

/* What it allocates by malloc() is not counted again. */
static void *by_operator(sfb_heap_new_function *next, enum sfb_heap_new form, size_t size,
                         size_t alignment)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    const uint32_t state = local->state;
    const uint64_t until = local->until;
    void *block;

    local->state = SFB_HEAP_IN_NEW;
    local->until = 0;
    block = is_aligned(form) ? next(size, alignment, NOTHROW) : next(size, NOTHROW, 0);
    local->until = until;
    local->state = state;
    return block;
}

static void *allocate(enum sfb_heap_new form, size_t size, size_t alignment)
{
    sfb_heap_new_function *next = sfb_heap_next.new[form | 1];

    return !next || (sfb_heap_next.new_is_malloc && !is_aligned(form))
               ? without_operator(form, size, alignment)
               : by_operator(next, form, size, alignment);
}

/* There is no memory: who throws, and asks the program's handler first. */
static sfb_heap_new_function *who_throws(enum sfb_heap_new form)
{
    sfb_heap_new_function *next = sfb_heap_next.new[form];

    if (!next)
        next = sfb_heap_next_hidden_new(form);
    if (!next)
        abort(); /* there is no C++ here to throw anything */
    return next;
}

static inline void *new_by(enum sfb_heap_new form, size_t size, size_t alignment, size_t nothrow,
                           SFB_HEAP_CALLER)
{
    const struct sfb_regs caller = { .pc = pc, .sp = sp, .fp = fp };
    const size_t tail = sfb_heap_tail(size);
    struct sfb_heap_thread *t = sfb_heap_alloc_begin_as(size, SFB_HEAP_IN_NEW);
    void *block = allocate(form, size + tail, alignment);

    if (__builtin_expect(tail > 0, 0))
        sfb_heap_table_allocated(block, size, &caller);
    else if (t)
        sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, block, size, &caller);
    if (__builtin_expect(block != NULL, 1))
        return block;
    if (throws(form))
        return who_throws(form)(size, alignment, 0);
    (void)nothrow;
    return NULL;
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

/* Of a block with a tail the program does not know the size. The form without one stands before it. */
static enum sfb_heap_delete without_size(enum sfb_heap_delete form, size_t *a, const size_t *b)
{
    const enum sfb_heap_delete of_one = form % SFB_HEAP_DELETE_ARRAY;

    if (of_one != SFB_HEAP_DELETE_SIZED && of_one != SFB_HEAP_DELETE_SIZED_ALIGNED)
        return form;
    *a = *b;
    return form - 1;
}

static NOINLINE void delete_by(enum sfb_heap_delete form, void *block, size_t a, size_t b)
{
    sfb_heap_delete_function *next;
    struct sfb_heap_thread *t;

    if (__builtin_expect(sfb_heap.tails, 0))
        form = without_size(form, &a, &b);
    next = sfb_heap_next.delete[form];
    if (!next)
        next = sfb_heap_next.delete[SFB_HEAP_DELETE];
    if (!block || !next || sfb_heap_next.new_is_malloc) {
        free(block);
        return;
    }
    t = sfb_heap_free_begin(SFB_HEAP_FREE, block, SFB_HEAP_IN_NEW);
    next(block, a, b);
    if (t)
        sfb_heap_free_end();
}

/* Names that C++ gives them. */
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
