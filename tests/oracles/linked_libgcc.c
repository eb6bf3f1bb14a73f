#include <stdbool.h>
#include <unwind.h>

#include "oracles/linked.h"

struct progress {
    struct trace *out;
    uint64_t interrupted;
    unsigned skip; /* frames of ours */
};

/* The frame behind the outermost one has no pc. */
static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct progress *p = arg;
    struct trace *t = p->out;
    int exact = 0;
    uint64_t pc = _Unwind_GetIPInfo(context, &exact);

    if (p->skip > 0) {
        p->skip--;
        return _URC_NO_REASON;
    }
    if (p->interrupted && t->count == 0 && !(exact && pc == p->interrupted))
        return _URC_NO_REASON;
    if (pc == 0) {
        t->end = 1;
        return _URC_END_OF_STACK;
    }
    if (t->count == TRACE_MAX)
        return _URC_END_OF_STACK;
    t->kind[t->count] = exact ? SFB_FRAME_PC : SFB_FRAME_RA;
    t->address[t->count++] = pc;
    return _URC_NO_REASON;
}

__attribute__((noinline)) void linked_libgcc_walk(struct trace *out, uint64_t interrupted)
{
    struct progress p = { .out = out, .interrupted = interrupted, .skip = 1 };

    out->count = 0;
    out->omitted = 0;
    out->omit_at = 0;
    out->error = SFB_OK;
    out->end = 0;
    _Unwind_Backtrace(on_frame, &p);
}
