/*
 * Every instruction: the trap flag stops the program after each one, and both walks start from
 * there. That is where asynchronous unwinding is hard: prologues, epilogues, PLT stubs, the
 * loader's resolver, trampolines.
 */
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "support/compiler.h"
#include "support/test.h"
#include "support/trap_flag.h"
#include "support/ways.h"

static volatile int sink;
static struct trace ours, theirs, first_ours, first_theirs;
static struct trace way_ours, way_reference;
static unsigned stacks, different, unlike;
static uint32_t by_source[SFB_SOURCE_COUNT];

/* [start, end) of the code that the kernel maps into every process; start 0: it has not. */
static uint64_t vdso_start, vdso_end;
static unsigned in_vdso, by_its_table;

static void find_vdso(void)
{
    const Elf64_Ehdr *ehdr = (const void *)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Phdr *phdrs = ehdr ? (const void *)((const char *)ehdr + ehdr->e_phoff) : NULL;

    for (unsigned i = 0; ehdr && i < ehdr->e_phnum; i++)
        if (phdrs[i].p_type == PT_LOAD) {
            vdso_start = (uintptr_t)ehdr;
            vdso_end = vdso_start + phdrs[i].p_memsz;
        }
}

static uint8_t alternate[1 << 18];
static size_t deepest; /* bytes of stack that a walk took, at most */

/*
 * Paints what is free of the alternate stack, below the frame of its caller, too, and as far as a walk
 * may come: a longer one would take time of each stop.
 */
enum { CALLERS_FRAME = 1024, PAINTED = 16 << 10 };

/*
 * The vDSO's clock reads again where a tick has come meanwhile. Some forty instructions, each with a trap
 * and four walks, may take longer than a tick, and then it would never end: behind this many stops it goes
 * on without traps.
 */
enum { MAX_IN_VDSO = 500 };

static void trap_no_more(ucontext_t *uc)
{
    uc->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
}

NOINLINE static void paint(const uint8_t *frame)
{
    if (!sanitized())
        memset(alternate + (frame - alternate) - PAINTED, 0xcd, PAINTED - CALLERS_FRAME);
}

static void look_at_paint(const uint8_t *frame)
{
    const uint8_t *at = frame - PAINTED;

    while (*at == 0xcd)
        at++;
    if (deepest < (size_t)(frame - at))
        deepest = (size_t)(frame - at);
}

static void on_trap(int number, siginfo_t *si, void *ucontext)
{
    static uint8_t buffer[2048];
    const uint8_t *frame = __builtin_frame_address(0);
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t size;

    (void)number;
    (void)si;
    paint(frame);
    size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    look_at_paint(frame);
    trace_decode(&ours, buffer, size);
    linked_libunwind_walk(&theirs, ucontext);
    stacks++;
    if (ways_differ(ucontext, &way_ours, &way_reference))
        unlike++;
    for (unsigned s = 0; s < SFB_SOURCE_COUNT; s++)
        by_source[s] += info.by_source[s];
    if (ours.address[0] - vdso_start < vdso_end - vdso_start) {
        if (++in_vdso >= MAX_IN_VDSO)
            trap_no_more(ucontext);
        by_its_table += info.by_source[SFB_SOURCE_LIBUNWIND] == 0 &&
                        info.by_source[SFB_SOURCE_FRAME_POINTER] == 0;
    }
    if (trace_differs(&ours, 0, &theirs, 0) == SIZE_MAX && ours.end == theirs.end &&
        ours.error == SFB_OK)
        return;
    if (different++ == 0) {
        first_ours = ours;
        first_theirs = theirs;
    }
}

static void on_user(int number)
{
    trap_on();
    sink += number;
}

NOINLINE static int leaf(int n)
{
    return n + sink;
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
    return leaf(space[0]);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* What is stepped through. Each call of libc for the first time goes through the resolver. */
NOINLINE static void work(void)
{
    int v[] = { 4, 2, 3, 1 };
    char text[64];
    struct timespec now;

    sink += saves_registers(3);
    sink += moves_the_stack(100 + (size_t)(sink & 15));
    qsort(v, 4, sizeof *v, compare);
    snprintf(text, sizeof text, "%d %s %5.2f", v[0], "text", 1.5);
    sink += (int)strtol(text, NULL, 10);
    clock_gettime(CLOCK_MONOTONIC, &now);
    trap_on(); /* see MAX_IN_VDSO */
    raise(SIGUSR1);
}

/* Until this many outer frames, the two stacks are the same. */
static size_t common_outer_frames(const struct trace *a, const struct trace *b)
{
    size_t n = 0;

    while (n < a->count && n < b->count &&
           a->address[a->count - 1 - n] == b->address[b->count - 1 - n])
        n++;
    return n;
}

static sigjmp_buf target;
static struct trace reference;
static unsigned astray;

/* Like on_trap(), but the oracle is the stack as it was before: see the test. */
static void on_jump_trap(int number, siginfo_t *si, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    uint8_t buffer[2048];

    (void)number;
    (void)si;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, NULL));
    linked_libunwind_walk(&theirs, ucontext);
    stacks++;
    astray += common_outer_frames(&theirs, &reference) < reference.count - 2;
    if ((!ours.end || common_outer_frames(&ours, &reference) < reference.count - 2) &&
        different++ == 0) {
        first_ours = ours;
        first_theirs = theirs;
    }
}

NOINLINE static void jump(int depth)
{
    if (depth > 0)
        jump(depth - 1);
    else
        siglongjmp(target, 1);
    sink++;
}

NOINLINE static int set_and_jump(void)
{
    uint8_t buffer[2048];

    trace_decode(&reference, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, NULL, NULL));
    if (sigsetjmp(target, 0) == 0) {
        trap_on();
        jump(3);
    }
    trap_off();
    return sink++;
}

static void on_alternate_stack(void (*handler)(int, siginfo_t *, void *))
{
    stack_t on = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigaltstack(&on, NULL);
    sigaction(SIGTRAP, &action, NULL);
}

/*
 * Half-way through longjmp() the tables describe the frame that is jumped to, whose sp is in a
 * register of its own. libunwind takes the CFA for it, which is the jump buffer, and goes astray;
 * so here the oracle is the stack that the jump goes back to.
 */
Test(single_step, stays_on_the_right_stack_inside_of_longjmp)
{
    on_alternate_stack(on_jump_trap);
    set_and_jump();
    fprintf(stderr,
            "single_step: %u stacks on the way through longjmp, %u wrong, of libunwind %u\n",
            stacks, different, astray);
    if (different)
        trace_print("the first that is wrong", &first_ours, &first_theirs);
    cr_expect(lt(u32, 50, stacks));
    cr_expect(eq(u32, different, 0));
}

Test(single_step, agrees_with_libunwind_at_every_instruction)
{
    struct sigaction user = { .sa_handler = on_user };

    find_vdso();
    on_alternate_stack(on_trap);
    sigaction(SIGUSR1, &user, NULL);
    trap_on();
    work();
    trap_off();

    fprintf(stderr,
            "single_step: %u stacks, %u different; frames: %u by .sframe, %u by signal "
            "frames, %u by libunwind; %u stacks inside of the vDSO; at most %zu bytes of stack\n",
            stacks, different, by_source[SFB_SOURCE_SFRAME], by_source[SFB_SOURCE_SIGNAL],
            by_source[SFB_SOURCE_LIBUNWIND], in_vdso, deepest);
    if (different)
        trace_print("the first difference", &first_ours, &first_theirs);
    cr_expect(lt(u32, 2000, stacks));
    cr_expect(eq(u32, different, 0));
    cr_expect(eq(u32, unlike, 0), "the rule cache or a memo gave something else");
    cr_expect(lt(u32, 1000, by_source[SFB_SOURCE_SFRAME]));
    cr_expect(le(u32, 5, by_source[SFB_SOURCE_SIGNAL]));
    /* Walks that start again, in _dl_runtime_resolve(), are the ones that take most. */
    if (!sanitized())
        cr_expect(le(sz, deepest, 6 * 1024));
    if (vdso_start)
        cr_expect(lt(u32, 10, in_vdso));
    cr_expect(eq(u32, by_its_table, in_vdso), "it is a module like others");
}
