/*
 * libgcc as an oracle: _Unwind_Backtrace(), which C++ exceptions go by.
 *
 * On AArch64 it reads what libunwind 1.6.2 refuses, code that signs return addresses, and it is the
 * strictest judge of that: it authenticates each of them with the CFA that it computed.
 *
 * It starts where it is called, in the handler, and comes to the interrupted frame through the
 * signal's: the frames before that are left out. It says which frames a signal interrupted, and
 * ends in a frame without a pc where a table said that there is no caller; where there is no table
 * it ends in that frame.
 */
#include <dlfcn.h>
#include <unwind.h>

#include "oracles/loaded.h"
#include "oracles/machine.h"
#include "oracles/stubs.h"

static __typeof__(_Unwind_Backtrace) *unwind_backtrace;
static __typeof__(_Unwind_GetIPInfo) *unwind_get_ip_info;
static __typeof__(_Unwind_GetCFA) *unwind_get_cfa;

/*
 * Stubs have no tables everywhere, and libgcc does not know them: where one was interrupted it is
 * shown the call that led there instead, and the stub is put before it.
 */
struct progress {
    struct oracle_state *state;
    struct stack *out;
    ucontext_t *uc; /* of the frame given last, if a signal interrupted it */
    uint64_t start; /* pc of the first frame that is wanted */
    size_t stubs_met;
    bool begun, complete;
};

static void put(struct progress *p, uint64_t address, enum sfb_frame_kind kind)
{
    if (p->out->count < FRAMES_MAX) {
        p->out->address[p->out->count] = address;
        p->out->kind[p->out->count++] = (uint8_t)kind;
    }
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct progress *p = argument;
    const struct stub *stub = &p->state->stubs[p->stubs_met];
    int interrupted = 0;
    uint64_t ip = unwind_get_ip_info(context, &interrupted);

    p->begun |= interrupted && ip == p->start;
    if (!p->begun)
        return _URC_NO_REASON;
    if (ip == 0) {
        p->complete = true;
    } else if (interrupted && p->stubs_met < p->state->stub_count && ip == stub->call) {
        put(p, stub->pc, SFB_FRAME_PC);
        put(p, stub->ra, SFB_FRAME_RA);
        p->stubs_met++;
    } else {
        put(p, ip, interrupted ? SFB_FRAME_PC : SFB_FRAME_RA);
    }
    /* What the frame before calls its CFA is this one's sp. */
    if (oracle_at_trampoline(ip))
        p->uc = machine_signal_context(unwind_get_cfa(context));
    return p->out->count < FRAMES_MAX ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

/* @return whether the walk ended in a stub, and it is worth while to walk again */
static bool leave_stub(struct progress *p)
{
    const struct stack *out = p->out;
    struct stub *stub = &p->state->stubs[p->state->stub_count];

    if (p->complete || p->state->stub_count == STUBS_MAX || out->count == 0 ||
        out->kind[out->count - 1] != SFB_FRAME_PC || !stubs_contain(out->address[out->count - 1]))
        return false;
    stub->uc = p->uc;
    stub->pc = machine_pc(stub->uc);
    p->state->stub_count++; /* from here on it will be put right again */
    stub->ra = machine_leave_stub(stub->uc);
    stub->call = machine_pc(stub->uc);
    return stub->ra != 0;
}

static void walk(struct oracle_state *s, struct stack *out, ucontext_t *uc)
{
    struct progress p = { .state = s, .out = out };

    do {
        out->count = 0;
        p.uc = uc;
        p.start = machine_pc(uc);
        p.stubs_met = 0;
        p.begun = false;
        out->status = (int)unwind_backtrace(on_frame, &p);
    } while (leave_stub(&p));
    out->end = p.complete ? END_OUTERMOST : out->count == FRAMES_MAX ? END_LIMIT : END_STOPPED;
}

static bool load(void)
{
    void *lib = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    static struct oracle_state warm_up;
    static struct stack stack;
    ucontext_t uc;

    if (!lib || !oracle_bind(lib, &unwind_backtrace, "_Unwind_Backtrace") ||
        !oracle_bind(lib, &unwind_get_ip_info, "_Unwind_GetIPInfo") ||
        !oracle_bind(lib, &unwind_get_cfa, "_Unwind_GetCFA"))
        return false;
    /* Its first walk fills tables, once and under a lock: not for a handler. */
    getcontext(&uc);
    walk(&warm_up, &stack, &uc);
    return true;
}

const struct oracle oracle_libgcc = { .name = "libgcc", .load = load, .walk = walk };
