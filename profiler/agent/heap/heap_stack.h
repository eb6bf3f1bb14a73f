/*
 * The stack of an event, with the functions of Python in it. They run in an ordinary call, so nothing of them changes
 * meanwhile.
 */
#ifndef PROFILER_AGENT_HEAP_HEAP_STACK_H
#define PROFILER_AGENT_HEAP_HEAP_STACK_H

#include "profiler/agent/heap/event.h"

/*
 * sfb_heap_stack() of a process with an interpreter.
 *
 * @param hash  of the C stack
 */
uint64_t sfb_heap_stack_with_python(struct sfb_heap_thread *thread, const struct sfb_regs *caller,
                                    uint64_t hash);

/* @return the hash of the caller's stack, known to the recorder; 0: lost */
static inline uint64_t sfb_heap_stack(struct sfb_heap_thread *t, const struct sfb_regs *caller)
{
    const uint64_t hash = sfb_stack_name(&t->namer, caller);

    if (__builtin_expect(sfb_python_is_linked(), 0))
        return sfb_heap_stack_with_python(t, caller, hash);
    return __builtin_expect(sfb_heap_is_known(hash), 1) ? hash
                                                        : sfb_heap_tell_stack(t, caller, hash, 0);
}

#endif
