/*
 * Every instruction, where there is no trap flag to ask for (an emulator's user mode has none): a
 * breakpoint is set behind each one, wherever it may go, and all walks start from there. Prologues,
 * epilogues, leaves, PLT stubs, lazy binding, libc, signal handlers.
 *
 * Whoever sees every instruction needs no oracle: a call pushes a return address and a return takes
 * it off again, and what is left is the stack. Others are asked, too: where they are right it is
 * that very stack, and what they make of the rest is printed. (WITH_LIBUNWIND: libunwind, too,
 * which stops at functions that sign return addresses.)
 *
 * Their tables are wrong in three places, for which glibc 2.36 and GNU ld are to blame:
 *
 * - PLT stubs have no table at all;
 * - that of _dl_runtime_resolve() does not know of what the PLT pushed, so that every walk out of
 *   the loader while it binds a function is wrong from the second frame on;
 * - that of longjmp() counts from the jump buffer.
 */
#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "support/compiler.h"
#include "support/ways.h"
#include "unwind/machine/arch.h"

static volatile int zero;

/* --- Breakpoints ------------------------------------------------------------------------------ */

/* The numbers of `brk`: where stepping begins and ends, and what is put over other code. */
enum { BRK_BEGIN = 1, BRK_STOP = 2, BRK_STEP = 0x3ff };

#define BRK(number) (0xd4200000u | (uint32_t)(number) << 5)

struct breakpoints {
    uint32_t *at[8];
    uint32_t code[8];
    unsigned count;
};

static struct breakpoints set; /* in the code now */

static void put_code(uint32_t *at, uint32_t code)
{
    *at = code;
    __builtin___clear_cache((char *)at, (char *)(at + 1));
}

static void add_breakpoint(uint64_t address)
{
    uint32_t *at = (uint32_t *)(uintptr_t)address;

    for (unsigned i = 0; i < set.count; i++)
        if (set.at[i] == at)
            return;
    if (set.count == sizeof set.at / sizeof *set.at)
        abort();
    set.at[set.count] = at;
    set.code[set.count++] = *at;
    put_code(at, BRK(BRK_STEP));
}

/* @return whether one of them was at pc */
static bool remove_breakpoints(uint64_t pc)
{
    bool here = false;

    for (unsigned i = 0; i < set.count; i++)
        here |= (uintptr_t)set.at[i] == pc;
    if (here) {
        for (unsigned i = 0; i < set.count; i++)
            put_code(set.at[i], set.code[i]);
        set.count = 0;
    }
    return here;
}

static int make_writable(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = (info->dlpi_addr + p->p_vaddr) & ~(uintptr_t)4095;
        uintptr_t end = info->dlpi_addr + p->p_vaddr + p->p_memsz;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) &&
            mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            perror(info->dlpi_name);
    }
    return 0;
}

/* --- Instructions: Arm ARM, "Branches, Exception Generating and System instructions" ------------
 */

static int64_t field(uint32_t code, unsigned low, unsigned bits)
{
    return (int64_t)((uint64_t)code << (64 - low - bits)) >> (64 - bits);
}

static bool is_branch_and_link(uint32_t code)
{
    return code >> 26 == 0x25 || (code & 0xfefff000) == 0xd63f0000; /* bl; blr, blraa and so on */
}

/* ret, retaa, retab; br x30, by which longjmp() ends */
static bool is_return(uint32_t code)
{
    return (code & 0xfffff000) == 0xd65f0000 || code == 0xd61f03c0;
}

static bool is_jump_to_register(uint32_t code)
{
    return (code & 0xfefff000) == 0xd61f0000; /* br, braa and so on */
}

static bool is_load_exclusive(uint32_t code)
{
    return (code & 0x3f400000) == 0x08400000 && !(code & 1u << 23);
}

static bool is_store_exclusive(uint32_t code)
{
    return (code & 0x3f400000) == 0x08000000 && !(code & 1u << 23);
}

/* @return where a branch that names its target goes, 0: this is none */
static uint64_t branch_target(uint64_t pc, uint32_t code)
{
    if ((code & 0x7c000000) == 0x14000000) /* b, bl */
        return pc + (uint64_t)field(code, 0, 26) * 4;
    if ((code & 0xff000010) == 0x54000000 || (code & 0x7e000000) == 0x34000000)
        return pc + (uint64_t)field(code, 5, 19) * 4; /* b.cond, cbz, cbnz */
    if ((code & 0x7e000000) == 0x36000000)
        return pc + (uint64_t)field(code, 5, 14) * 4; /* tbz, tbnz */
    return 0;
}

static bool is_unconditional(uint32_t code)
{
    return (code & 0x7c000000) == 0x14000000;
}

static uint64_t jump_register(const ucontext_t *uc, uint32_t code)
{
    unsigned number = code >> 5 & 31;

    /* retaa and retab name no register. */
    if ((code & 0xfffffbff) == 0xd65f0bff)
        number = 30;
    return uc->uc_mcontext.regs[number] & SFB_ARCH_CODE_MASK;
}

static uint32_t code_at(uint64_t address)
{
    return *(const uint32_t *)(uintptr_t)address;
}

/* Puts breakpoints wherever the instruction at pc may go. */
static void break_behind(const ucontext_t *uc)
{
    uint64_t pc = uc->uc_mcontext.pc, target;
    uint32_t code = code_at(pc);

    if (is_load_exclusive(code)) {
        /* A trap before the store would make it fail, for ever: all of it is one step. */
        for (uint64_t end = pc + 16 * 4; pc < end && !is_store_exclusive(code_at(pc)); pc += 4) {
            target = branch_target(pc, code_at(pc));
            if (target)
                add_breakpoint(target);
        }
        add_breakpoint(pc + 4);
        return;
    }
    if (is_return(code) || is_jump_to_register(code) || (code & 0xfefff000) == 0xd63f0000) {
        add_breakpoint(jump_register(uc, code));
        return;
    }
    target = branch_target(pc, code);
    if (target)
        add_breakpoint(target);
    if (!target || !is_unconditional(code))
        add_breakpoint(pc + 4);
}

/* --- The stack, from the instructions --------------------------------------------------------- */

/* Return addresses, innermost last; where a signal interrupted its address is a pc. */
static struct trace truth;

/* Stepped code that was interrupted by a signal whose handler is stepped, too. */
static struct {
    struct breakpoints set;
    size_t count; /* of truth */
} outer[4];
static unsigned outer_count;

/*
 * How much of the stack there was at each return, the last ones: longjmp() goes back to where
 * setjmp() returned to.
 */
enum { RETURNS = 4096 };
static struct {
    uint64_t to;
    size_t count;
} returns[RETURNS];
static unsigned return_count;
static unsigned jumps;

static void push(uint64_t address, enum sfb_frame_kind kind)
{
    if (truth.count == TRACE_MAX)
        abort();
    truth.kind[truth.count] = (uint8_t)kind;
    truth.address[truth.count++] = address;
}

/* @return how much of the stack a jump back to there leaves, 0: nothing returned there */
static size_t count_before(uint64_t to)
{
    for (unsigned i = return_count; i > 0 && return_count - i < RETURNS; i--)
        if (returns[(i - 1) % RETURNS].to == to)
            return returns[(i - 1) % RETURNS].count;
    return 0;
}

/* What the instruction at pc is about to do to the stack. */
static void follow(const ucontext_t *uc)
{
    uint64_t pc = uc->uc_mcontext.pc, to;
    uint32_t code = code_at(pc);

    if (is_branch_and_link(code)) {
        push(pc + 4, SFB_FRAME_RA);
    } else if (is_return(code)) {
        to = jump_register(uc, code);
        if (truth.count > 0 && truth.address[truth.count - 1] == to) {
            truth.count--;
        } else {
            truth.count = count_before(to);
            jumps++;
        }
        returns[return_count % RETURNS].to = to;
        returns[return_count++ % RETURNS].count = truth.count;
    }
}

/* --- Walks, and what they came to ------------------------------------------------------------- */

static struct trace got;
static struct trace wanted;
static struct trace wanted_after; /* inside of longjmp(): the stack that it goes back to */
static volatile bool jumping;

/* Where a walk starts: the tables of most code are right, and these have none or wrong ones. */
enum place { PLAIN, IN_STUB, IN_LOADER, IN_LONGJMP, PLACES };
static enum place place;

enum { RIGHT, CUT, WRONG, RESULTS }; /* cut: right as far as it goes, which is not to the end */

struct score {
    const char *name;
    unsigned count[PLACES][RESULTS];
};

static struct score score_ours = { .name = "sframe-backtrace" },
                    score_records = { .name = "the same without libunwind" },
                    score_libgcc = { .name = "libgcc" }, score_libunwind = { .name = "libunwind" };

static unsigned stacks, unexplained, unlike;
static uint32_t by_source[SFB_SOURCE_COUNT];

/* @param first  a frame before those; 0: none */
static void want(struct trace *out, const ucontext_t *uc, uint64_t first, size_t outer_frames)
{
    out->count = 0;
    out->kind[0] = SFB_FRAME_PC;
    out->address[out->count++] = uc->uc_mcontext.pc;
    if (first) {
        out->kind[out->count] = SFB_FRAME_RA;
        out->address[out->count++] = first;
    }
    for (size_t i = outer_frames; i > 0; i--) {
        out->kind[out->count] = truth.kind[i - 1];
        out->address[out->count++] = truth.address[i - 1];
    }
    out->end = 1;
}

static bool in_loader(uint64_t address)
{
    static uint64_t loader, end;
    struct dl_find_object object;

    if (!loader) {
        loader = getauxval(AT_BASE);
        if (_dl_find_object((void *)(uintptr_t)loader, &object) == 0)
            end = (uintptr_t)object.dlfo_map_end;
    }
    return address - loader < end - loader;
}

/* What is to be found from here. */
static void prepare(const ucontext_t *uc)
{
    uint64_t lr = uc->uc_mcontext.regs[30] & SFB_ARCH_CODE_MASK;

    want(&wanted, uc, 0, truth.count);
    want(&wanted_after, uc, lr, count_before(lr));
    place = jumping ? IN_LONGJMP : PLAIN;
    for (size_t i = 0; i < wanted.count; i++)
        if (in_loader(wanted.address[i]))
            place = IN_LOADER;
}

static void judge(struct score *score, const struct trace *t, enum sfb_status end)
{
    size_t at = trace_differs(t, 0, &wanted, 0);
    int result = WRONG;

    if (at != SIZE_MAX && place == IN_LONGJMP && trace_differs(t, 0, &wanted_after, 0) == SIZE_MAX)
        at = SIZE_MAX;
    if (at == SIZE_MAX && t->end)
        result = RIGHT;
    else if ((at == SIZE_MAX || at == t->count) && !t->end)
        result = CUT;
    score->count[place][result]++;
    /*
     * Ours is right everywhere, but for the few instructions of longjmp() that have loaded one
     * stack's lr and not its sp; and by frame records, which are a guess, it may have to give up.
     */
    if (result == RIGHT || score == &score_libgcc || score == &score_libunwind ||
        (result == CUT &&
         (score == &score_records || (place == IN_LONGJMP && end == SFB_NO_REGISTER))))
        return;
    if (unexplained++ < 5)
        trace_print(score->name, t, &wanted);
}

static void walk_ours(struct score *score, ucontext_t *uc, uint32_t flags)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = uc,
                                                .flags = flags };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t buffer[4096];

    trace_decode(&got, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    for (size_t i = 0; i < got.count && i < wanted.count; i++)
        if (got.kind[i] != wanted.kind[i] && place != IN_LONGJMP)
            got.address[i] = 0; /* as wrong as an address */
    if (got.error != SFB_OK)
        got.count = 0;
    if (flags == 0) {
        for (unsigned s = 0; s < SFB_SOURCE_COUNT; s++)
            by_source[s] += info.by_source[s];
        if (info.by_source[SFB_SOURCE_CODE_PATTERN] && place == PLAIN)
            place = IN_STUB;
    }
    judge(score, &got, info.end);
}

/* With what is remembered of earlier walks, and without. */
static void compare_ways(const ucontext_t *uc)
{
    static struct trace ours, reference;
    const char *way = ways_differ(uc, &ours, &reference);

    if (way && unlike++ == 0)
        trace_print(way, &ours, &reference);
}

/* Wrong tables lead the others to pages that are not there. */
static sigjmp_buf crashed;

static void on_crash(int number, siginfo_t *si, void *context)
{
    (void)si;
    (void)context;
    siglongjmp(crashed, number);
}

static void walk_all(ucontext_t *uc)
{
    stacks++;
    prepare(uc);
    walk_ours(&score_ours, uc, 0);
    walk_ours(&score_records, uc, SFRAME_BACKTRACE_NO_LIBUNWIND);
    compare_ways(uc);
    if (place == IN_LOADER && stacks % 16 != 0)
        return; /* where they are wrong, and take their time */
    if (sigsetjmp(crashed, 1) == 0)
        linked_libgcc_walk(&got, uc->uc_mcontext.pc);
    else
        got.address[got.count++] = 0;
    judge(&score_libgcc, &got, SFB_OK);
    if (WITH_LIBUNWIND && stacks % 2 == 0) { /* it takes ten times as long as all the rest */
        if (sigsetjmp(crashed, 1) == 0)
            linked_libunwind_walk(&got, uc);
        else
            got.address[got.count++] = 0;
        judge(&score_libunwind, &got, SFB_OK);
    }
}

/* From each instruction of the trampoline, which cannot be stepped: handlers return through it. */
static void walk_from_trampoline(const ucontext_t *uc, uint64_t trampoline)
{
    ucontext_t there = *uc;

    for (unsigned i = 0; i < 2; i++) {
        there.uc_mcontext.pc = trampoline + i * 4;
        stacks++;
        prepare(&there);
        walk_ours(&score_ours, &there, 0);
        walk_ours(&score_records, &there, SFRAME_BACKTRACE_NO_LIBUNWIND);
    }
}

/* Takes what the first walk says for the stack, when stepping begins. */
static void begin(ucontext_t *uc)
{
    if (set.count > 0) { /* in a handler of stepped code */
        outer[outer_count].set = set;
        outer[outer_count++].count = truth.count;
        set.count = 0;
    }
    linked_libgcc_walk(&got, uc->uc_mcontext.pc);
    truth.count = 0;
    for (size_t i = got.count; i > 1; i--)
        push(got.address[i - 1], (enum sfb_frame_kind)got.kind[i - 1]);
}

static bool is_trampoline(uint64_t address)
{
    return code_at(address) == 0xd2801168 && code_at(address + 4) == 0xd4000001;
}

static void on_trap(int number, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;
    uint32_t code;

    (void)number;
    (void)si;
    if (!remove_breakpoints(uc->uc_mcontext.pc))
        begin(uc);
    walk_all(uc);
    code = code_at(uc->uc_mcontext.pc);
    if (code == BRK(BRK_BEGIN) || code == BRK(BRK_STOP)) {
        uc->uc_mcontext.pc += 4;
        if (code == BRK(BRK_STOP))
            return;
        add_breakpoint(uc->uc_mcontext.pc);
        return;
    }
    follow(uc);
    if (is_return(code) && is_trampoline(jump_register(uc, code)) && outer_count > 0) {
        walk_from_trampoline(uc, jump_register(uc, code));
        /* What was interrupted goes on, and the breakpoint is still there. */
        set = outer[--outer_count].set;
        truth.count = outer[outer_count].count;
        return;
    }
    break_behind(uc);
}

void step_on(void);
void step_off(void);
__asm__(".text\n"
        ".globl step_on, step_off\n"
        "step_on: .cfi_startproc\n hint 34\n brk 1\n ret\n .cfi_endproc\n"
        "step_off: .cfi_startproc\n hint 34\n brk 2\n ret\n .cfi_endproc\n");

/* --- What is stepped through ------------------------------------------------------------------ */

static void on_user(int number, siginfo_t *si, void *context)
{
    (void)si;
    (void)context;
    step_on();
    zero = number == 0;
}

NOINLINE static int leaf(int n)
{
    return n + zero;
}

NOINLINE static int saves_registers(int n)
{
    int a = leaf(n), b = leaf(a), c = leaf(b), d = leaf(c);

    return leaf(a + b) + leaf(c + d) + a * b * c * d;
}

NOINLINE static int moves_the_stack(size_t n)
{
    volatile char *space = __builtin_alloca(n);

    space[0] = 1;
    return leaf(space[0]) + leaf(space[0]);
}

NOINLINE static int big_frame(int n)
{
    volatile char space[5000];

    space[n] = 1;
    return leaf(space[n]) + leaf(1);
}

NOINLINE static int huge_frame(int n)
{
    volatile char space[200000];

    space[n] = 1;
    return leaf(space[n]) + leaf(1);
}

NOINLINE static int tail_call(int n)
{
    return leaf(n + 1);
}

NOINLINE static int recursion(int n)
{
    return n == 0 ? leaf(n) : recursion(n - 1) + leaf(n);
}

NOINLINE static double floats(double x)
{
    return x * leaf(2) + x / leaf(3);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The code behind this call, if there is any, is another function's. */
NOINLINE static void leaves(jmp_buf target)
{
    jumping = true;
    longjmp(target, 1);
}

NOINLINE static void jumps_out(jmp_buf target, int depth)
{
    if (depth > zero)
        jumps_out(target, depth - 1);
    else if (zero == 0)
        leaves(target);
    zero = 0;
}

static jmp_buf elsewhere;

NOINLINE static int sets_and_jumps(int on_stack)
{
    jmp_buf here;

    if (on_stack) {
        if (setjmp(here) == 0)
            jumps_out(here, 3);
    } else if (setjmp(elsewhere) == 0) {
        jumps_out(elsewhere, 3);
    }
    jumping = false;
    return zero;
}

/* Each call of libc for the first time goes through the loader's resolver. */
NOINLINE static int work(void)
{
    int (*volatile pointer)(int) = tail_call;
    int v[] = { 4, 2, 3, 1 }, sum = 0;
    char text[64];

    sum += saves_registers(3);
    sum += moves_the_stack(100 + (size_t)zero);
    sum += big_frame(7) + huge_frame(70000);
    sum += pointer(1) + recursion(4) + (int)floats(1.5);
    qsort(v, 4, sizeof *v, compare);
    snprintf(text, sizeof text, "%d %s %5.2f", v[0], "text", 1.5);
    sum += (int)strtol(text, NULL, 10);
    raise(SIGUSR1);
    sum += sets_and_jumps(1) + sets_and_jumps(0);
    return sum + zero;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

    sigaction(number, &action, NULL);
}

static void print_score(const struct score *s)
{
    static const char *const places[PLACES] = { "plain code", "PLT stubs", "lazy binding",
                                                "longjmp" };

    printf("  %s:", s->name);
    for (unsigned p = 0; p < PLACES; p++)
        printf("%s %s %u right, %u cut, %u wrong", p ? ";" : "", places[p], s->count[p][RIGHT],
               s->count[p][CUT], s->count[p][WRONG]);
    printf("\n");
}

static bool all_right(const struct score *s)
{
    return s->count[PLAIN][RIGHT] > 1000 && s->count[PLAIN][CUT] == 0 &&
           s->count[PLAIN][WRONG] == 0;
}

int main(void)
{
    static char alternate[1 << 18];
    stack_t on = { .ss_sp = alternate, .ss_size = sizeof alternate };
    int result;

    dl_iterate_phdr(make_writable, NULL);
    linked_libgcc_walk(&got, 0); /* the first time it sets itself up, with a lock */
    sigaltstack(&on, NULL);
    install(SIGTRAP, on_trap, SA_ONSTACK);
    install(SIGUSR1, on_user, 0);
    install(SIGSEGV, on_crash, 0);
    install(SIGBUS, on_crash, 0);

    step_on();
    result = work();
    step_off();

    printf("single_step: %u stacks, %u unexplained, %u unlike with a memo or the rule cache; "
           "frames: %u by .sframe, %u by signal frames, %u by "
           "stubs, %u by libunwind; %u jumps; result %d\n",
           stacks, unexplained, unlike, by_source[SFB_SOURCE_SFRAME], by_source[SFB_SOURCE_SIGNAL],
           by_source[SFB_SOURCE_CODE_PATTERN], by_source[SFB_SOURCE_LIBUNWIND], jumps, result);
    print_score(&score_ours);
    print_score(&score_records);
    print_score(&score_libgcc);
    if (WITH_LIBUNWIND)
        print_score(&score_libunwind);
    /* The stack that instructions make is the one that everybody sees, where tables are right. */
    return unexplained == 0 && unlike == 0 && stacks > 5000 && jumps == 2 &&
                   by_source[SFB_SOURCE_FRAME_POINTER] == 0 && all_right(&score_libgcc) &&
                   (!WITH_LIBUNWIND || all_right(&score_libunwind))
               ? 0
               : 1;
}
