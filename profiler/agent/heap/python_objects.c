/*
 * Python's own objects: blocks that CPython's allocator cuts out of its arenas, so malloc() does not show them. The
 * allocators of the domains "mem" and "obj" are wrapped, by the table that CPython documents for it. They stay in use.
 *
 * What an allocator calls meanwhile is not counted: malloc() of a large block, mmap() of an arena. The hooks have the state
 * IN_NEW then, as in operator new.
 *
 * Chosen over PYTHONMALLOC=malloc in the child's environment: the program would see it, its children inherit it, and its
 * memory would have another layout.
 */
#include <stddef.h>

#include "profiler/agent/heap/hook.h"
#include "profiler/agent/heap/lifecycle.h"

/* CPython's, as "Memory Management" of its C API has them. */
struct python_allocator {
    void *with;
    void *(*malloc)(void *with, size_t size);
    void *(*calloc)(void *with, size_t count, size_t size);
    void *(*realloc)(void *with, void *block, size_t size);
    void (*free)(void *with, void *block);
};

enum { DOMAIN_MEM = 1, DOMAINS_END = 3 }; /* mem, obj; malloc() shows raw */

extern void PyMem_GetAllocator(int domain, struct python_allocator *out) __attribute__((weak));
extern void PyMem_SetAllocator(int domain, struct python_allocator *allocator)
    __attribute__((weak));

static struct python_allocator wrapped[DOMAINS_END];

/* --- One call ------------------------------------------------------------------------------------ */

/* @return whether the call is the outermost: else a hook has counted it, or will */
static bool is_counted(void)
{
    if (__atomic_load_n(&sfb_heap.objects, __ATOMIC_RELAXED) != SFB_HEAP_OBJECTS_COME)
        __atomic_store_n(&sfb_heap.objects, SFB_HEAP_OBJECTS_COME, __ATOMIC_RELAXED);
    return sfb_heap_local.state == SFB_HEAP_IDLE && sfb_heap_mode() != SFB_HEAP_OFF;
}

/* From here on the allocator runs, and nothing that it calls is counted. */
static void enter(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;

    local->state = SFB_HEAP_IN_NEW;
    local->until_before = local->until;
    local->until = 0;
}

static void leave(void)
{
    sfb_heap_local.until = sfb_heap_local.until_before;
    sfb_heap_local.state = SFB_HEAP_AT_WORK;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void done(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

/* @param t  NULL: no sample, or not recorded */
static void put(struct sfb_heap_thread *t, enum sfb_shared_heap_record kind, const void *block,
                size_t size, const struct sfb_regs *caller)
{
    if (t && block && (sfb_heap_mode() != SFB_HEAP_SAMPLED || sfb_heap_follow(t, block)))
        sfb_heap_put_alloc(t, kind, block, size, 0, sfb_heap_stack(t, caller));
}

/* --- The allocator ------------------------------------------------------------------------------- */

static void *object_malloc(void *with, size_t size)
{
    const struct sfb_regs caller = SFB_HEAP_RETURN_HERE;
    const struct python_allocator *next = with;
    struct sfb_heap_thread *t;
    void *block;

    if (!is_counted())
        return next->malloc(next->with, size);
    t = sfb_heap_alloc_begin_as(size, SFB_HEAP_IN_NEW);
    enter();
    block = next->malloc(next->with, size);
    leave();
    put(t, SFB_HEAP_ALLOC, block, size, &caller);
    done();
    return block;
}

/* CPython has checked that the product does not overflow. */
static void *object_calloc(void *with, size_t count, size_t size)
{
    const struct sfb_regs caller = SFB_HEAP_RETURN_HERE;
    const struct python_allocator *next = with;
    struct sfb_heap_thread *t;
    void *block;

    if (!is_counted())
        return next->calloc(next->with, count, size);
    t = sfb_heap_alloc_begin_as(count * size, SFB_HEAP_IN_NEW);
    enter();
    block = next->calloc(next->with, count, size);
    leave();
    put(t, SFB_HEAP_ALLOC, block, count * size, &caller);
    done();
    return block;
}

/* @return the thread if the block is followed, as a record says now; NULL: it is not */
static struct sfb_heap_thread *free_begin(enum sfb_shared_heap_record kind, void *block)
{
    return sfb_heap_is_no_sample(block) ? NULL : sfb_heap_free_begin(kind, block, SFB_HEAP_IN_NEW);
}

static void *object_realloc(void *with, void *block, size_t size)
{
    const struct sfb_regs caller = SFB_HEAP_RETURN_HERE;
    const struct python_allocator *next = with;
    struct sfb_heap_thread *freed = NULL, *t;
    void *moved;

    if (!is_counted())
        return next->realloc(next->with, block, size);
    if (block) {
        freed = free_begin(SFB_HEAP_FREE_REALLOC, block);
        done();
    }
    t = sfb_heap_alloc_begin_as(size, SFB_HEAP_IN_NEW);
    enter();
    moved = next->realloc(next->with, block, size);
    leave();
    put(t, block ? SFB_HEAP_ALLOC_REALLOC : SFB_HEAP_ALLOC, moved, size, &caller);
    /* Unlike realloc(), that of size 0 frees nothing. */
    if (freed && !moved && (sfb_heap_mode() != SFB_HEAP_SAMPLED || sfb_heap_follow(freed, block)))
        sfb_heap_put_free(freed, SFB_HEAP_REALLOC_FAILED, block);
    done();
    return moved;
}

static void object_free(void *with, void *block)
{
    const struct python_allocator *next = with;

    if (!block || !is_counted()) {
        next->free(next->with, block);
        return;
    }
    free_begin(SFB_HEAP_FREE, block);
    enter();
    next->free(next->with, block);
    leave();
    done();
}

/* --- Its beginning ------------------------------------------------------------------------------- */

static bool are_asked_for(void)
{
    return sfb_agent.shared && sfb_agent.shared->heap_flags & SFB_SHARED_HEAP_PYTHON_OBJECTS;
}

/* Before the interpreter starts. A program without one has no such functions. */
__attribute__((constructor)) static void wrap(void)
{
    sfb_heap_process_look();
    if (!PyMem_GetAllocator || !PyMem_SetAllocator || !are_asked_for())
        return;
    sfb_heap.objects = SFB_HEAP_OBJECTS_WRAPPED;
    for (int domain = DOMAIN_MEM; domain < DOMAINS_END; domain++) {
        struct python_allocator own = { &wrapped[domain], object_malloc, object_calloc,
                                        object_realloc, object_free };

        PyMem_GetAllocator(domain, &wrapped[domain]);
        PyMem_SetAllocator(domain, &own);
    }
}

/* A second Py_Initialize() of 3.12 and later begins with the first allocators again: its objects were not seen. */
__attribute__((destructor)) static void judge(void)
{
    struct python_allocator now;

    if (sfb_heap.objects != SFB_HEAP_OBJECTS_COME || !sfb_agent_is_here())
        return;
    PyMem_GetAllocator(DOMAINS_END - 1, &now);
    if (now.malloc == wrapped[DOMAINS_END - 1].malloc)
        sfb_agent_lose(SFB_LOSS_PYTHON_OBJECTS);
}
