#include "profiler/agent/heap/heap_stack.h"

#include <string.h>

static uint8_t *reserve_code(void *thread, size_t size)
{
    return (uint8_t *)sfb_heap_reserve(thread, (uint32_t)((size + 7) & ~(size_t)7));
}

static void publish_code(void *thread, struct sfb_shared_code *code, size_t size)
{
    const uint64_t first = sfb_heap_open_record(thread, SFB_HEAP_CODE);

    memcpy(&code->head, &first, sizeof first);
    sfb_heap_close_record(thread, (uint32_t)((size + 7) & ~(size_t)7));
}

/* What one ring holds several times. */
enum { NEW_FUNCTIONS = SFB_SHARED_CALLS_MAX };

static __attribute__((noinline)) uint32_t read_calls(struct sfb_heap_thread *t,
                                                     struct sfb_python_runs *runs)
{
    const struct sfb_python_sink sink = {
        t, reserve_code, publish_code, NEW_FUNCTIONS, true
    }; /* a handler may allocate, in the midst of a call */

    return sfb_python_read(&t->python, runs, &sink, (uint64_t)t->tid);
}

/* PYTHONMALLOC, -X dev, or a second Py_Initialize() has set other allocators. Said once. */
static void miss_objects(void)
{
    uint32_t before = SFB_HEAP_OBJECTS_WRAPPED;

    if (__atomic_compare_exchange_n(&sfb_heap.objects, &before, SFB_HEAP_OBJECTS_MISSED, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        sfb_agent_lose(SFB_LOSS_PYTHON_OBJECTS);
}

uint64_t sfb_heap_stack_with_python(struct sfb_heap_thread *t, const struct sfb_regs *caller,
                                    uint64_t hash)
{
    struct sfb_python_runs *runs = &t->python_runs;
    uint32_t calls = 0;

    runs->count = 0;
    if (sfb_python_is_read() && read_calls(t, runs) > 0) {
        if (__atomic_load_n(&sfb_heap.objects, __ATOMIC_RELAXED) == SFB_HEAP_OBJECTS_WRAPPED)
            miss_objects();
        hash ^= sfb_python_hash(&t->python);
        hash += hash == 0; /* 0 means: no stack */
    }
    if (__builtin_expect(sfb_heap_is_known(hash), 1))
        return hash;
    if (runs->count > 0) {
        sfb_marks_place_from(caller, runs->marks, runs->count, SFB_STACK_NAME_FRAMES);
        calls = sfb_python_place(&t->python, runs);
    }
    return sfb_heap_tell_stack(t, caller, hash, calls);
}
