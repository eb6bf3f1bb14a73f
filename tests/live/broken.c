/* Crashes: the registers and stacks that a handler finds when a program went wrong. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "support/compiler.h"
#include "support/guarded.h"
#include "support/machine.h"
#include "support/test.h"

static struct trace overflow; /* what a handler found */

/* What does not come back at all is a failure, too. */
static ssize_t walk(ucontext_t *uc, struct sframe_backtrace_info *info, struct trace *out)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = uc };
    uint8_t buffer[4096];
    ssize_t size;

    info->size = sizeof *info;
    size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, info);
    trace_decode(out, buffer, size);
    return size;
}

/* Registers of this function with some of them replaced. */
static ucontext_t here(void)
{
    ucontext_t uc;

    memset(&uc, 0, sizeof uc);
    getcontext(&uc);
    return uc;
}

Test(broken, registers_full_of_garbage_are_survived)
{
    static const uint64_t values[] = { 0,
                                       1,
                                       8,
                                       0x1000,
                                       0x7fffffffffff,
                                       0x7ffffffff000,
                                       0x8000000000000000,
                                       0xffffffffff600000,
                                       ~0ull,
                                       ~7ull };
    enum { N = sizeof values / sizeof *values };
    ucontext_t good = here();
    const struct sfb_regs regs = machine_regs(&good);

    for (unsigned i = 0; i < N * N * N; i++) {
        for (unsigned keep = 0; keep < 8; keep++) {
            struct sframe_backtrace_info info;
            ucontext_t uc = good;
            struct trace t;

            machine_set_ucontext(&uc, keep & 1 ? regs.pc : values[i % N],
                                 keep & 2 ? regs.sp : values[i / N % N],
                                 keep & 4 ? regs.fp : values[i / N / N]);
            machine_set_lr(&uc, values[(i + keep) % N]);
            cr_assert(lt(int, 0, (int)walk(&uc, &info, &t)));
            cr_assert(eq(int, t.error, SFB_OK));
            /*
             * A pc, and sp or fp, whichever its rule counts from: less than that finds no end, or
             * says that it guessed.
             */
            cr_assert(t.end == 0 || (keep % 2 == 1 && keep > 1) ||
                      info.by_source[SFB_SOURCE_FRAME_POINTER] > 0);
        }
    }
}

Test(broken, a_stack_that_ends_in_nothing_stops_at_its_edge)
{
    uint64_t *map =
        mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucontext_t uc = here();
    const uint64_t pc = machine_regs(&uc).pc;

    cr_assert(ne(ptr, map, MAP_FAILED));
    mprotect((char *)map + 2 * 4096, 4096, PROT_NONE);
    for (unsigned i = 0; i < 2 * 512; i++)
        map[i] = pc; /* return addresses all over */
    for (unsigned i = 0; i < 2 * 512; i++) {
        struct sframe_backtrace_info info;
        struct trace t;

        machine_set_ucontext(&uc, pc, (uintptr_t)(map + i), (uintptr_t)(map + i));
        cr_assert(lt(int, 0, (int)walk(&uc, &info, &t)));
        cr_assert(not(t.end));
    }
}

/* Never set, which no compiler can know. */
static volatile int enough;

/* --- a context next to the handler's own stack ---------------------------------------------------
 */

static ucontext_t forged;
static ssize_t forged_size;

static void on_neighbour(int number)
{
    struct sframe_backtrace_info info;
    struct trace *t = &overflow;

    (void)number;
    forged_size = walk(&forged, &info, t);
}

/* An overflow into the guard page right above an alternate stack: near is not the same stack. */
Test(broken, an_sp_in_the_guard_page_above_the_handlers_stack_is_probed)
{
    enum { SIZE = 256 * 1024 };
    char *map = mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t on = { .ss_sp = map, .ss_size = SIZE };
    struct sigaction action = { .sa_handler = on_neighbour, .sa_flags = SA_ONSTACK };

    cr_assert(ne(ptr, map, MAP_FAILED));
    mprotect(map + SIZE, 4096, PROT_NONE);
    forged = here();
    machine_set_ucontext(&forged, machine_regs(&forged).pc, (uintptr_t)(map + SIZE + 16),
                         (uintptr_t)(map + SIZE + 16));
    sigaltstack(&on, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    cr_expect(lt(int, 0, (int)forged_size));
    cr_expect(not(overflow.end));
}

/* --- a rule for sp that leads to itself ----------------------------------------------------------
 */

extern const char turns_in_place[];
__asm__(".text\n.p2align 4\n.globl turns_in_place\n"
        "turns_in_place:\n"
        ".cfi_startproc\n" MACHINE_SP_FROM_FP "nop\nnop\nnop\nnop\n"
        ".cfi_endproc\n");

Test(broken, a_rule_that_leads_back_to_itself_ends)
{
    static uint64_t stack[64];
    const uint64_t pc = (uintptr_t)turns_in_place + MACHINE_NOP * 2;
    ucontext_t uc = here();
    struct sframe_backtrace_info info;
    struct trace t;

    for (unsigned i = 0; i < 64; i++)
        stack[i] = pc;
    machine_set_ucontext(&uc, pc, (uintptr_t)stack, (uintptr_t)stack);
    cr_expect(lt(int, 0, (int)walk(&uc, &info, &t)));
    cr_expect(not(t.end));
    cr_expect(lt(sz, t.count, 100));
}

/* --- words that lead to where stacks begin ------------------------------------------------------
 */

extern const char called[], begins_stacks[], behind_its_call[];
__asm__(".text\n.p2align 4\n"
        ".globl called, begins_stacks, behind_its_call\n"
        "called:\n"
        ".cfi_startproc\nnop\nnop\n.cfi_endproc\n"
        "begins_stacks:\n"
        ".cfi_startproc\n.cfi_undefined " MACHINE_RA "\n"
        ".cfi_escape 0\n" /* a no-op, which gas 2.40 makes no .sframe of: it would drop the other */
        "nop\nnop\n" MACHINE_CALL " called\n"
        "behind_its_call: nop\nnop\nnop\nnop\n.cfi_endproc\n");

static struct trace from_called(uint64_t ra, enum sfb_status *end)
{
    static uint64_t stack[64];
    ucontext_t uc = here();
    struct sframe_backtrace_info info;
    struct trace t;

    stack[0] = ra;
    machine_set_lr(&uc, ra);
    machine_set_ucontext(&uc, (uintptr_t)called, (uintptr_t)stack, (uintptr_t)stack);
    cr_expect(lt(int, 0, (int)walk(&uc, &info, &t)));
    cr_expect(eq(sz, t.count, 2));
    *end = info.end;
    return t;
}

Test(broken, an_end_that_no_call_leads_to_is_none)
{
    enum sfb_status end;

    for (unsigned again = 0; again < 2; again++) {
        cr_expect(not(from_called((uintptr_t)behind_its_call + MACHINE_NOP, &end).end));
        cr_expect(eq(int, end, SFB_NOT_A_CALL));
        cr_expect(from_called((uintptr_t)behind_its_call, &end).end);
        cr_expect(eq(int, end, SFB_END));
    }
}

/* --- a table that leads to itself
 * ----------------------------------------------------------------
 */

extern const char goes_round[];
__asm__(".text\n.p2align 4\n.globl goes_round\n"
        "goes_round:\n"
        ".cfi_startproc\n"
        ".cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff\n" /* CFA: DW_OP_skip, back to itself */
        "nop\nnop\nnop\nnop\n"
        ".cfi_endproc\n");

/* libunwind is asked, too, and would not come back (seen with 1.6.2). */
Test(broken, an_expression_that_goes_round_ends)
{
    static uint64_t stack[64];
    ucontext_t uc = here();
    struct sframe_backtrace_info info;
    struct trace t;

    machine_set_ucontext(&uc, (uintptr_t)goes_round + MACHINE_NOP * 2, (uintptr_t)stack,
                         (uintptr_t)stack);
    cr_expect(lt(int, 0, (int)walk(&uc, &info, &t)));
    cr_expect(not(t.end));
    cr_expect(lt(sz, t.count, 4)); /* AArch64 may guess at one more */
}

/* --- overwritten stacks ------------------------------------------------------------------------
 */

/* The same numbers every time. */
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* What overflows and stray pointers leave behind: anything, code, and places on the stack. */
static uint64_t wild_word(const uint64_t *stack, const ucontext_t *uc)
{
    uint64_t r = next_random();

    switch (r >> 62) {
    case 0: return r;
    case 1: return r & 0x7fffffffffff;
    case 2: return machine_regs(uc).pc + (r & 0xffff);
    default: return (uintptr_t)stack + (r & 0x3fff & ~7u);
    }
}

enum { COPY_WORDS = 512, TRIALS = 100000 };

NOINLINE static void copy_stack(int depth, uint64_t *copy, ucontext_t *uc)
{
    if (depth > 0) {
        copy_stack(depth - 1, copy, uc);
        enough = 0; /* work behind the call, so that it is one */
        return;
    }
    *uc = here();
    memcpy(copy, (const void *)(uintptr_t)machine_regs(uc).sp, COPY_WORDS * sizeof *copy);
}

/*
 * The walk goes over a copy of this stack that ends at an unmapped page, a few words of it
 * overwritten. Whatever it finds, it comes back, with a whole CBF.
 */
Test(broken, overwritten_words_are_survived)
{
    struct guarded g = guarded_new(COPY_WORDS * 8);
    uint64_t good[COPY_WORDS];
    uint64_t *copy = (uint64_t *)(void *)g.end - COPY_WORDS;
    unsigned ends = 0;
    uint64_t pc;
    ucontext_t uc;

    if (sanitized())
        cr_skip("the copy reads over the sanitizer's red zones");
    copy_stack(20, good, &uc);
    pc = machine_regs(&uc).pc;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct sframe_backtrace_info info;
        struct trace t;

        memcpy(copy, good, sizeof good);
        for (uint64_t n = next_random() % 8 + 1; n > 0; n--)
            copy[next_random() % COPY_WORDS] = wild_word(copy, &uc);
        machine_set_ucontext(&uc, pc, (uintptr_t)copy, wild_word(copy, &uc));
        machine_set_lr(&uc, wild_word(copy, &uc));
        cr_assert(lt(int, 0, (int)walk(&uc, &info, &t)));
        cr_assert(eq(int, t.error, SFB_OK));
        ends += t.end != 0;
    }
    /* Two zeros in a row, where a return address and fp are looked for, are an end like any. */
    cr_expect(lt(u32, ends, TRIALS / 100));
}

/* --- stack overflow --------------------------------------------------------------------------- */

static sigjmp_buf back;
static struct sframe_backtrace_info overflow_info;
static struct sframe_backtrace_options overflow_options;

static void on_overflow(int number, siginfo_t *si, void *ucontext)
{
    static uint8_t buffer[4096];
    ssize_t size;

    (void)number;
    (void)si;
    overflow_options = (struct sframe_backtrace_options){
        .size = sizeof overflow_options, .context = ucontext, .max_frames = 64, .outermost = 16
    };
    overflow_info.size = sizeof overflow_info;
    size = sframe_backtrace_cbf(buffer, sizeof buffer, &overflow_options, &overflow_info);
    trace_decode(&overflow, buffer, size);
    siglongjmp(back, 1);
}

NOINLINE static int forever(int n)
{
    volatile char space[500];

    space[0] = (char)n;
    if (enough)
        return 0;
    return forever(n + 1) + space[0];
}

Test(broken, a_stack_overflow_is_walked_from_both_ends)
{
    static char alternate[256 * 1024];
    stack_t on = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigaltstack(&on, NULL);
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back, 1) == 0)
        forever(0);
    cr_expect(eq(int, overflow.error, SFB_OK));
    cr_expect(overflow.end, "%s", sfb_status_str(overflow_info.end));
    cr_expect(eq(sz, overflow.count, 64));
    cr_expect(lt(u64, 1000, overflow.omitted));
    cr_expect(eq(int, overflow.kind[0], SFB_FRAME_PC));
}
