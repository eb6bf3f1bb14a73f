/* The oracle: libunwind, as everybody uses it. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

static int (*unwind_init)(unw_cursor_t *, unw_context_t *, int);
static int (*unwind_step)(unw_cursor_t *);
static int (*unwind_get_reg)(unw_cursor_t *, int, unw_word_t *);
static int (*unwind_get_save_loc)(unw_cursor_t *, int, unw_save_loc_t *);
static int (*unwind_name)(unw_cursor_t *, char *, size_t, unw_word_t *);

/* Where the kernel lets every handler return to. */
static uint64_t trampoline;
enum { TRAMPOLINE_SYSCALL = 7 }; /* mov $15,%rax is that long, the syscall is behind it */

/*
 * unw_step() and not unw_backtrace(), whose trace cache takes short cuts.
 *
 * unw_is_signal_frame() would be the question to ask of a trampoline, but it answers no whenever
 * unw_step() got to the frame by .eh_frame, as it does in glibc, whose trampoline has one
 * (libunwind 1.6.2 sets the answer in its fallback alone). So the trampoline is told by its
 * address.
 */
/*
 * Where longjmp() and setcontext() are about to switch stacks, glibc's tables say in which
 * register, or where in the jump buffer, the next frame's sp is. unw_step() reads that rule and
 * takes the CFA all the same, so it is wrong from there on: stacks that begin in such a place are
 * told apart.
 */
static bool has_sp_rule(unw_cursor_t *cursor)
{
    unw_save_loc_t place;

    return unwind_get_save_loc(cursor, UNW_X86_64_RSP, &place) == 0 &&
           (place.type == UNW_SLT_MEMORY ||
            (place.type == UNW_SLT_REG && place.u.regnum != UNW_X86_64_RSP));
}

void oracle_walk(struct stack *out, unw_cursor_t *cursor, ucontext_t *uc)
{
    bool interrupted = true;
    int status;

    out->count = 0;
    out->sp_rule = false;
    status = unwind_init(cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME);
    while (status >= 0) {
        unw_word_t ip = 0;

        if (out->count == FRAMES_MAX) {
            out->end = END_LIMIT;
            out->status = 1;
            return;
        }
        unwind_get_reg(cursor, UNW_REG_IP, &ip);
        out->address[out->count] = ip;
        out->kind[out->count++] = (uint8_t)(interrupted ? SFB_FRAME_PC : SFB_FRAME_RA);
        /* It may have been interrupted itself, between its two instructions. */
        interrupted = ip == trampoline || ip == trampoline + TRAMPOLINE_SYSCALL;
        status = unwind_step(cursor);
        if (out->count == 1 && status > 0)
            out->sp_rule = has_sp_rule(cursor);
        if (status <= 0)
            break;
    }
    out->end = status == 0 ? END_OUTERMOST : END_STOPPED;
    out->status = status;
}

/*
 * By dlopen() and local, because libunwind exports _Unwind_* and backtrace, which would replace
 * those of libgcc and glibc in the program that is sampled.
 */
bool oracle_load(void)
{
    void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    static const char prefix[] = "_ULx86_64_";
    static const char *const names[] = { "init_local2", "step", "get_reg", "get_proc_name",
                                         "get_save_loc" };
    void *address[5];
    ucontext_t uc;
    static struct stack warm_up;
    static unw_cursor_t cursor;

    if (!lib)
        return false;
    for (size_t i = 0; i < 5; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        address[i] = dlsym(lib, name);
        if (!address[i])
            return false;
    }
    /* Copied as bytes: ISO C has no conversion between pointers to objects and to functions. */
    memcpy(&unwind_init, &address[0], sizeof address[0]);
    memcpy(&unwind_step, &address[1], sizeof address[1]);
    memcpy(&unwind_get_reg, &address[2], sizeof address[2]);
    memcpy(&unwind_name, &address[3], sizeof address[3]);
    memcpy(&unwind_get_save_loc, &address[4], sizeof address[4]);

    /* Its first walk opens pipes and sets up pools: not for a handler. */
    getcontext(&uc);
    oracle_walk(&warm_up, &cursor, &uc);
    return true;
}

/*
 * Asks the kernel for the return address that glibc gave it with our handler; it is the same for
 * all. The library under test goes by the code bytes instead, so that neither can fool the other.
 */
bool oracle_find_trampoline(void)
{
    /* As the kernel has it, linux/arch/x86/include/uapi/asm/signal.h; glibc's struct differs. */
    struct {
        uint64_t handler, flags, restorer, mask;
    } action = { 0 };

    if (syscall(SYS_rt_sigaction, SIGPROF, NULL, &action, sizeof action.mask) != 0)
        return false;
    trampoline = action.restorer;
    return trampoline != 0;
}

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
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)address;
    if (unwind_init(&cursor, (unw_context_t *)&uc, UNW_INIT_SIGNAL_FRAME) != 0 ||
        unwind_name(&cursor, function, sizeof function, &offset) != 0)
        snprintf(function, sizeof function, "?");
    snprintf(out, size, "%s:%s", *module ? module : "program", function);
}
