/* libunwind as an oracle, as everybody uses it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "oracles/loaded.h"
#include "oracles/machine.h"
#include "oracles/stubs.h"

static int (*unwind_init)(unw_cursor_t *, unw_context_t *, int);
static int (*unwind_step)(unw_cursor_t *);
static int (*unwind_get_reg)(unw_cursor_t *, int, unw_word_t *);
static int (*unwind_get_save_loc)(unw_cursor_t *, int, unw_save_loc_t *);
static int (*unwind_name)(unw_cursor_t *, char *, size_t, unw_word_t *);

/* unw_save_loc_t with room: on AArch64 it is larger in libunwind 1.8 than in 1.6. */
union save_loc {
    unw_save_loc_t at;
    char room[64];
};

/* Where the frame's sp is stored, 0: nowhere, or in a register. */
static uint64_t place_of_sp(unw_cursor_t *cursor)
{
    union save_loc place;

    return unwind_get_save_loc(cursor, UNW_REG_SP, &place.at) == 0 &&
                   place.at.type == UNW_SLT_MEMORY
               ? place.at.u.addr
               : 0;
}

/*
 * Whether the step from a frame whose sp was stored at a place passed over a rule for sp. Where there
 * is none libunwind 1.6 leaves the place as it was, and 1.8 says the CFA.
 */
static bool has_passed_over(unw_cursor_t *cursor, uint64_t before)
{
    uint64_t place = place_of_sp(cursor);
    unw_word_t cfa = 0, sp = 0;

    unwind_get_reg(cursor, machine_libunwind_cfa, &cfa);
    unwind_get_reg(cursor, UNW_REG_SP, &sp);
    return place != before && place != cfa && sp == cfa;
}

/*
 * Where longjmp() and setcontext() are about to switch stacks, glibc's tables say in which
 * register, or where in the jump buffer, the next frame's sp is. unw_step() of libunwind 1.6 reads
 * that rule (the place changes, which no other rule does) and takes the CFA all the same, so it is
 * wrong from there on: stacks that were interrupted in such a place are told apart. That of 1.8
 * follows the rule, on x86-64 alone.
 *
 * unw_step() and not unw_backtrace(), whose trace cache takes short cuts.
 *
 * unw_is_signal_frame() would be the question to ask of a trampoline, but it answers no whenever
 * unw_step() got to the frame by .eh_frame, as it does in glibc, whose trampoline has one
 * (libunwind 1.6.2 sets the answer in its fallback alone). So the trampoline is told by its
 * address.
 */
static void walk(struct oracle_state *s, struct stack *out, ucontext_t *uc)
{
    unw_cursor_t *cursor = &s->cursor;
    bool interrupted = true;
    int status;

    /* On AArch64 libunwind 1.6.2 takes x0 to x3 from a part of the cursor that it does not set. */
    memset(cursor, 0, sizeof *cursor);
    status = unwind_init(cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME);
    while (status >= 0) {
        unw_word_t ip = 0;
        bool trampoline, may_switch;
        uint64_t place;

        if (out->count == FRAMES_MAX) {
            out->end = END_LIMIT;
            out->status = 1;
            return;
        }
        unwind_get_reg(cursor, UNW_REG_IP, &ip);
        out->address[out->count] = ip;
        out->kind[out->count++] = (uint8_t)(interrupted ? SFB_FRAME_PC : SFB_FRAME_RA);
        trampoline = oracle_at_trampoline(ip);
        may_switch = interrupted && !trampoline;
        place = may_switch ? place_of_sp(cursor) : 0;
        status = unwind_step(cursor);
        if (status <= 0)
            break;
        out->sp_rule |= may_switch && has_passed_over(cursor, place);
        interrupted = trampoline;
    }
    out->end = status == 0 ? END_OUTERMOST : END_STOPPED;
    out->status = status;
}

/*
 * By dlopen() and local, because libunwind exports _Unwind_* and backtrace, which would replace
 * those of libgcc and glibc in the program that is sampled.
 */
static bool load(void)
{
    void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    const struct {
        void *function;
        const char *name;
    } wanted[] = { { &unwind_init, "init_local2" },
                   { &unwind_step, "step" },
                   { &unwind_get_reg, "get_reg" },
                   { &unwind_name, "get_proc_name" },
                   { &unwind_get_save_loc, "get_save_loc" } };
    static struct oracle_state warm_up;
    static struct stack stack;
    ucontext_t uc;

    if (!lib)
        return false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s%s", machine_libunwind_prefix, wanted[i].name);
        if (!oracle_bind(lib, wanted[i].function, name))
            return false;
    }
    /* Its first walk opens pipes and sets up pools: not for a handler. */
    getcontext(&uc);
    walk(&warm_up, &stack, &uc);
    return true;
}

const struct oracle oracle_libunwind = { .name = "libunwind", .load = load, .walk = walk };

/*
 * The function at an address, also a local one: libunwind reads .symtab, dladdr() does not. It
 * names the function of a frame, so it is given one that stands there.
 */
void oracle_name(char *out, size_t size, uint64_t address)
{
    ucontext_t uc;
    unw_cursor_t cursor;
    unw_word_t offset;
    Dl_info info;
    const char *module = "no module";
    char function[128] = "?";

    if (dladdr((void *)(uintptr_t)address, &info) && info.dli_fname) { // NOLINT: an address
        module = strrchr(info.dli_fname, '/');
        module = module ? module + 1 : info.dli_fname;
    }
    getcontext(&uc);
    machine_set_pc(&uc, address);
    if (stubs_contain(address))
        snprintf(function, sizeof function, "stub");
    else if (unwind_init(&cursor, (unw_context_t *)&uc, UNW_INIT_SIGNAL_FRAME) != 0 ||
             unwind_name(&cursor, function, sizeof function, &offset) != 0)
        snprintf(function, sizeof function, "?");
    snprintf(out, size, "%s:%s", *module ? module : "program", function);
}
