/*
 * Built into the program, and eight times as a library. Each is at another place of its page (PART): no two return
 * addresses are to have one place in the cache, or the count would depend on where libraries are loaded.
 */
#include "part.h"

#include <ucontext.h>

__asm__(".pushsection .text\n\t.skip 16 + " PART " * 176\n\t.popsection");

__attribute__((visibility("default"))) void part_step(struct walk *w)
{
    (*w->next++)(w);
    __asm__ volatile("");
}

/* Another one: a function that calls itself is a special case of CBF. */
__attribute__((visibility("default"))) void part_turn(struct walk *w)
{
    __asm__ volatile("");
    (*w->next++)(w);
    __asm__ volatile("");
}

__attribute__((visibility("default"))) void part_walk(struct walk *w)
{
    ucontext_t context;

    switch (w->kind) {
    case WALK_SHORT: w->result = sframe_backtrace(w->addresses, w->size); break;
    case WALK_CONTEXT:
        getcontext(&context);
        w->options.context = &context;
        /* fall through */
    case WALK_ADDRESSES:
        w->result = (int)sframe_backtrace_addresses(w->addresses, 64, &w->options, NULL);
        break;
    case WALK_INFO:
        w->info.size = sizeof w->info;
        w->result = (int)sframe_backtrace_addresses(w->addresses, 64, &w->options, &w->info);
        break;
    case WALK_CBF:
        w->result = (int)sframe_backtrace_cbf(w->cbf, sizeof w->cbf, &w->options, NULL);
        break;
    }
    __asm__ volatile("");
}
