#define UNW_LOCAL_ONLY
#include "oracles/linked.h"

#include <libunwind.h>

__attribute__((noinline)) void linked_libunwind_walk(struct trace *out, void *ucontext)
{
    unw_context_t here;
    unw_cursor_t cursor;
    unw_word_t pc;
    int result = 1;

    out->count = 0;
    out->omitted = 0;
    out->error = SFB_OK;
    /* Its cache is not told of dlclose() and goes on with the rules of a library that is gone. */
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
    if (ucontext) {
        unw_init_local2(&cursor, ucontext, UNW_INIT_SIGNAL_FRAME);
    } else {
        unw_getcontext(&here);
        unw_init_local(&cursor, &here);
        result = unw_step(&cursor); /* out of this function */
    }
    for (; result > 0 && out->count < TRACE_MAX; result = unw_step(&cursor)) {
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        out->kind[out->count] = SFB_FRAME_RA;
        out->address[out->count++] = pc;
    }
    out->end = result == 0;
}
