/*
 * Code whose rows say something else than its instructions: what is known by the instruction at an
 * interrupted pc, a caller's sp that stays, and words that are no frames.
 *
 * Each function stops itself at the instruction in question: behind `int3` the pc is that of the next.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "support/compiler.h"
#include "support/test.h"
#include "support/trace.h"

int at_ret(void);
int to_at_ret(void);
int at_stub(void);
int at_jump(void);
int pops(void);
int calls_leaf(void);
int goes_astray(void);
int behind_leave(void);
int behind_lea(void);
int before_jump(void);
int behind_pop(void);
int before_move(void);
int calls_pushing(void);
int by_retpoline(void);
int by_retpoline_without_rows(void);
extern const char retpoline_call[], retpoline_call_without_rows[];
extern const char leaf_call[], astray_call[], limited_call[], inner_call[], outer_call[];

static volatile int sink;
static struct trace ours;
static struct sframe_backtrace_info info;
static void *addresses[64];
static ssize_t count;
static struct sframe_backtrace_info of_addresses;

void capture_here(void);

__asm__(".text\n"
        ".globl capture_here\n"
        /* The row of what was before holds on behind `lea`: gcc's -mfunction-return=thunk. */
        "at_ret: .cfi_startproc\n"
        "push %rbx\n .cfi_def_cfa_offset 16\n"
        "pop %rbx\n"
        "xor %eax, %eax\n"
        "int3\n"
        "ret\n .cfi_endproc\n"
        /* It returns to where no call is, as a fiber's first function does. */
        "to_at_ret: .cfi_startproc\n"
        "lea 1f(%rip), %rax\n"
        "push %rax\n"
        "jmp at_ret\n"
        ".fill 8, 1, 0x90\n"
        "1: xor %eax, %eax\n"
        "ret\n .cfi_endproc\n"
        /* Of a stub of the PLT, by a linker that counts what another stub has pushed. */
        "at_stub: .cfi_startproc\n .cfi_def_cfa_offset 24\n"
        "int3\n"
        "endbr64\n"
        "jmp *target(%rip)\n .cfi_endproc\n"
        "at_jump: .cfi_startproc\n .cfi_def_cfa_offset 24\n"
        "jmp 1f\n"
        "0: xor %eax, %eax\n ret\n"
        ".byte 0xf3, 0x0f, 0x1e, 0xfa\n"
        "2: jmp *target(%rip)\n"
        "1: lea 2b(%rip), %rax\n"
        "pushfq\n orl $0x100, (%rsp)\n popfq\n" /* the next instruction runs, and traps */
        "jmp *%rax\n .cfi_endproc\n"
        ".section .data\n .p2align 3\n"
        "target: .quad returns_zero\n"
        "kept: .quad 0\n"
        ".text\n"
        "returns_zero: .cfi_startproc\n xor %eax, %eax\n ret\n .cfi_endproc\n"
        /* OCaml's way into C: the return address is kept elsewhere, and its word stays as it is. */
        "pops: .cfi_startproc\n"
        "pop kept(%rip)\n .cfi_adjust_cfa_offset -8\n"
        "int3\n"
        "push kept(%rip)\n .cfi_adjust_cfa_offset 8\n"
        "xor %eax, %eax\n"
        "ret\n .cfi_endproc\n"
        /* Hand-written, without rows, called by a pointer, while rbp is no frame pointer. */
        "calls_leaf: .cfi_startproc\n"
        "push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_offset %rbp, -16\n"
        "xor %ebp, %ebp\n"
        "lea leaf(%rip), %rax\n"
        "call *%rax\n"
        "leaf_call: pop %rbp\n .cfi_adjust_cfa_offset -8\n"
        "ret\n .cfi_endproc\n"
        "leaf: int3\n"
        "lea 1f(%rip), %rax\n"
        "jmp *%rax\n" /* where to, the code does not say */
        "1: xor %eax, %eax\n"
        "ret\n"
        /* Its row takes the 6 for its return address. */
        "goes_astray: .cfi_startproc\n"
        "push $6\n"
        "call capture_here\n"
        "astray_call: add $8, %rsp\n"
        "xor %eax, %eax\n"
        "ret\n .cfi_endproc\n");

/*
 * Functions that realign their stack, as gcc makes them: a row that says where fp leads to holds on behind `leave`. Two
 * callers with records of their own, of which one would be passed over.
 */
__asm__(
    ".macro realign register offset\n"
    "lea \\offset(%rsp), \\register\n .cfi_def_cfa \\register, 0\n"
    "and $-64, %rsp\n"
    "push -8(\\register)\n"
    "push %rbp\n"
    "mov %rsp, %rbp\n .cfi_escape 0x10, 6, 2, 0x76, 0\n" /* rbp: at [rbp + 0] */
    ".endm\n"
    ".macro with_record label what\n"
    ".cfi_startproc\n"
    "push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
    "call \\what\n"
    "\\label: pop %rbp\n .cfi_def_cfa %rsp, 8\n"
    "ret\n .cfi_endproc\n"
    ".endm\n"
    ".text\n"
    /* Hand-written, without rows: what it pushes is found by what it pops. rbp leads to a record further out. */
    "calls_pushing: .cfi_startproc\n"
    "sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n"
    "lea pushing(%rip), %rdi\n"
    "call outer\n"
    "add $8, %rsp\n .cfi_adjust_cfa_offset -8\n"
    "ret\n .cfi_endproc\n"
    "pushing: push %rbx\n push %r12\n sub $40, %rsp\n"
    "mov $2, %ecx\n"
    "0: int3\n"
    "dec %ecx\n"
    "jnz 0b\n"
    "call 1f\n"
    "add $40, %rsp\n pop %r12\n pop %rbx\n xor %eax, %eax\n ret\n"
    "1: push %rcx\n int3\n pop %rcx\n ret\n"
    "behind_leave: lea realigns(%rip), %rdi\n"
    "jmp outer\n"
    "behind_lea: lea realigns_by_r13(%rip), %rdi\n"
    "jmp outer\n"
    "before_jump: lea realigns_and_jumps(%rip), %rdi\n"
    "jmp outer\n"
    "behind_pop: lea realigns_late(%rip), %rdi\n"
    "jmp outer\n"
    "before_move: lea realigns_later(%rip), %rdi\n"
    "jmp outer\n"
    "outer: with_record outer_call, inner\n"
    "inner: with_record inner_call, *%rdi\n"
    "realigns: .cfi_startproc\n"
    "realign %r10, 8\n"
    "leave\n"
    "int3\n"
    "lea -8(%r10), %rsp\n .cfi_def_cfa %rsp, 8\n"
    "ret\n .cfi_endproc\n"
    "realigns_by_r13: .cfi_startproc\n"
    "push %r13\n .cfi_def_cfa_offset 16\n .cfi_offset %r13, -16\n"
    "realign %r13, 16\n"
    "pop %rbp\n"
    "lea -16(%r13), %rsp\n .cfi_def_cfa %rsp, 16\n"
    "int3\n"
    "pop %r13\n .cfi_def_cfa_offset 8\n"
    "ret\n .cfi_endproc\n"
    "realigns_and_jumps: .cfi_startproc\n"
    "realign %r10, 8\n"
    "leave\n"
    "lea -8(%r10), %rsp\n .cfi_def_cfa %rsp, 8\n"
    "int3\n"
    "jmp returns_zero\n .cfi_endproc\n"
    /* gcc 15 and later move the result between, and whatever else has nothing to do with it. */
    "realigns_late: .cfi_startproc\n"
    "realign %r10, 8\n"
    "pop %rbp\n"
    "int3\n"
    "movl $7, -16(%r10)\n"
    "xor %edx, %edx\n"
    "lea -8(%r10), %rsp\n .cfi_def_cfa %rsp, 8\n"
    "mov %rdx, %rax\n"
    "ret\n .cfi_endproc\n"
    "realigns_later: .cfi_startproc\n"
    "realign %r10, 8\n"
    "xor %edx, %edx\n"
    "pop %rbp\n"
    "lea -8(%r10), %rsp\n .cfi_def_cfa %rsp, 8\n"
    "int3\n"
    "mov %rdx, %rax\n"
    "pxor %xmm0, %xmm0\n"
    "ret\n .cfi_endproc\n");

/*
 * Retpolines: calls through a pointer, which goes to the stack and is returned to. As gcc makes them, with rows, and as clang
 * does. The function called lies directly behind a call that does not return.
 */
__asm__(".text\n"
        "by_retpoline: .cfi_startproc\n"
        "push %rbx\n .cfi_def_cfa_offset 16\n"
        "lea behind_call(%rip), %rax\n"
        "call thunk\n"
        "retpoline_call: pop %rbx\n .cfi_def_cfa_offset 8\n"
        "ret\n .cfi_endproc\n"
        "thunk: .cfi_startproc\n"
        "call 1f\n"
        "0: pause\n jmp 0b\n"
        "1: .cfi_def_cfa_offset 16\n"
        "mov %rax, (%rsp)\n"
        "int3\n"
        "ret\n .cfi_endproc\n"
        "by_retpoline_without_rows: .cfi_startproc\n"
        "push %rbx\n .cfi_def_cfa_offset 16\n"
        "lea behind_call(%rip), %r11\n"
        "call thunk_without_rows\n"
        "retpoline_call_without_rows: pop %rbx\n .cfi_def_cfa_offset 8\n"
        "ret\n .cfi_endproc\n"
        "thunk_without_rows: call 1f\n"
        "0: pause\n jmp 0b\n"
        "1: pushfq\n orl $0x100, (%rsp)\n popfq\n"
        "mov %r11, (%rsp)\n"
        "ret\n"
        "call abort@plt\n"
        "behind_call: .cfi_startproc\n"
        "xor %eax, %eax\n"
        "ret\n .cfi_endproc\n");

NOINLINE static void take(void *ucontext)
{
    static uint8_t buffer[2048];
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };

    info.size = of_addresses.size = sizeof info;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    count = sframe_backtrace_addresses(addresses, 64, &options, &of_addresses);
}

void capture_here(void)
{
    take(NULL);
    sink++;
}

/* The trap flag, if it was set, goes: one instruction is enough. */
static void on_trap(int number, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;

    (void)number;
    (void)si;
    uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    take(uc);
}

NOINLINE static int call(int (*function)(void))
{
    return function() + sink;
}

static void stop_in(int (*function)(void))
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

    sigaction(SIGTRAP, &action, NULL);
    ours.count = 0;
    call(function);
}

static void expect_caller(const char *what, size_t index)
{
    uint64_t at = ours.count > index ? ours.address[index] - (uintptr_t)call : UINT64_MAX;

    cr_expect(ours.end, "%s: %zu frames, %s", what, ours.count, sfb_status_str(info.end));
    cr_expect(at < 64, "%s: no frame of its caller", what);
    cr_expect(eq(sz, (size_t)count, ours.count), "%s", what);
    for (size_t i = 0; i < ours.count && i < (size_t)count; i++)
        cr_expect(eq(u64, (uintptr_t)addresses[i], ours.address[i]), "%s: %zu", what, i);
}

Test(wrong_rows, are_not_believed_where_the_instruction_says_more)
{
    for (int round = 0; round < 2; round++) { /* and what is remembered does not change it */
        stop_in(at_ret);
        expect_caller("ret", 1);
        cr_expect(eq(u32, info.by_source[SFB_SOURCE_CODE_PATTERN], 1));
        stop_in(at_stub);
        expect_caller("endbr64 of a stub", 1);
        stop_in(at_jump);
        expect_caller("its jump", 1);
    }
}

Test(wrong_rows, are_not_remembered_where_the_instruction_says_more)
{
    stop_in(to_at_ret);
    stop_in(at_ret);
    expect_caller("ret", 1);
}

static void expect_both_records(const char *what)
{
    cr_expect(ours.end, "%s: %zu frames, %s", what, ours.count, sfb_status_str(info.end));
    cr_assert(lt(sz, 4, ours.count), "%s", what);
    cr_expect(eq(u64, ours.address[1], (uintptr_t)inner_call), "%s", what);
    cr_expect(eq(u64, ours.address[2], (uintptr_t)outer_call), "%s", what);
    cr_expect(lt(u64, ours.address[3] - (uintptr_t)call, 64), "%s", what);
}

Test(wrong_rows, of_fp_are_not_believed_where_it_is_restored)
{
    for (int round = 0; round < 2; round++) {
        stop_in(behind_leave);
        expect_both_records("behind leave");
        stop_in(behind_lea);
        expect_both_records("behind lea");
        stop_in(before_jump);
        expect_both_records("before a jump");
        stop_in(behind_pop);
        expect_both_records("behind pop, and lea is further down");
        stop_in(before_move);
        expect_both_records("before a move of the result");
    }
}

/* Interrupted three times: it stops in the function that it calls last. */
Test(wrong_rows, are_none_and_the_code_is_followed)
{
    stop_in(calls_pushing);
    cr_expect(ours.end, "%zu frames, %s", ours.count, sfb_status_str(info.end));
    cr_assert(lt(sz, 5, ours.count));
    cr_expect(eq(u64, ours.address[2], (uintptr_t)inner_call));
    cr_expect(eq(u64, ours.address[3], (uintptr_t)outer_call));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_FRAME_POINTER], 2));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_UNPROVEN], 0));
}

Test(wrong_rows, are_right_where_ret_jumps)
{
    for (int round = 0; round < 2; round++) {
        stop_in(by_retpoline);
        expect_caller("ret of a retpoline", 2);
        cr_expect(eq(u64, ours.address[1], (uintptr_t)retpoline_call));
        stop_in(by_retpoline_without_rows);
        expect_caller("ret of a retpoline without rows", 2);
        cr_expect(eq(u64, ours.address[1], (uintptr_t)retpoline_call_without_rows));
    }
}

Test(wrong_rows, may_leave_sp_where_it_is)
{
    stop_in(pops);
    expect_caller("pop of the return address", 1);
}

Test(wrong_rows, are_none_and_the_word_at_sp_is_a_guess)
{
    stop_in(calls_leaf);
    cr_expect(eq(int, info.end, SFB_UNPROVEN_END), "%s", sfb_status_str(info.end));
    cr_assert(lt(sz, 3, ours.count));
    cr_expect(eq(u64, ours.address[1], (uintptr_t)leaf_call));
    cr_expect(lt(u64, ours.address[2] - (uintptr_t)call, 64));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_UNPROVEN], 1));
}

static uint32_t sum(const struct sframe_backtrace_info *i)
{
    uint32_t n = 0;

    for (unsigned s = 0; s < SFB_SOURCE_ROOM; s++)
        n += i->by_source[s];
    return n;
}

Test(wrong_rows, that_lead_to_no_code_give_no_frame)
{
    for (int round = 0; round < 2; round++) { /* by the walker, and by the fast walk */
        call(goes_astray);
        cr_expect(eq(int, info.end, SFB_NO_MODULE), "%s", sfb_status_str(info.end));
        cr_expect(not(ours.end));
        cr_assert(eq(sz, ours.count, 3), "%d", round); /* of take(), capture_here(), and this */
        cr_expect(eq(u64, ours.address[2], (uintptr_t)astray_call));
        cr_expect(eq(u32, info.frames, 3));
        cr_expect(eq(u32, sum(&info), 3));
        cr_expect(eq(i64, count, 3));
        cr_expect(eq(u64, (uintptr_t)addresses[2], (uintptr_t)astray_call));
        cr_expect(eq(u32, of_addresses.frames, 3));
        cr_expect(eq(u32, sum(&of_addresses), 3));
    }
}

/* It is in the ring of outermost frames then, or was never written. */
NOINLINE static void with_options(struct sframe_backtrace_options options, size_t frames)
{
    uint8_t buffer[256];

    options.size = sizeof options;
    info.size = sizeof info;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    cr_expect(eq(sz, ours.count, frames));
    cr_expect(eq(u32, info.frames, (uint32_t)frames));
    cr_expect(eq(u32, sum(&info), (uint32_t)frames));
    for (size_t i = 0; i < ours.count; i++)
        cr_expect(ne(u64, ours.address[i], 6));
}

void capture_with_options(void);

void capture_with_options(void)
{
    with_options((struct sframe_backtrace_options){ .max_frames = 2, .outermost = 1 }, 1);
    with_options((struct sframe_backtrace_options){ .max_frames = 3, .outermost = 1 }, 2);
    with_options((struct sframe_backtrace_options){ .skip = 2 }, 1);
    with_options((struct sframe_backtrace_options){ .skip = 3 }, 0);
    sink++;
}

int goes_astray_again(void);
__asm__("goes_astray_again: .cfi_startproc\n"
        "push $6\n"
        "call capture_with_options\n"
        "add $8, %rsp\n"
        "xor %eax, %eax\n"
        "ret\n .cfi_endproc\n");

Test(wrong_rows, that_lead_to_no_code_give_no_frame_at_the_outer_end)
{
    call(goes_astray_again);
    call(goes_astray_again);
}

/* --- the first walk of a thread ----------------------------------------------------------------------- */

static bool as_cbf;

void capture_limited(void);

NOINLINE static void limited(void)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    options.max_frames = 4; /* with with_options() */
    if (as_cbf) {
        with_options(options, 4);
        cr_expect(eq(u64, ours.address[3], (uintptr_t)limited_call));
    } else {
        of_addresses.size = sizeof of_addresses;
        count = sframe_backtrace_addresses(addresses, 3, NULL, &of_addresses);
        cr_expect(eq(i64, count, 3));
        cr_expect(eq(u64, (uintptr_t)addresses[2], (uintptr_t)limited_call));
    }
    sink++;
}

void capture_limited(void)
{
    limited();
    sink++;
}

int goes_astray_limited(void);
__asm__("goes_astray_limited: .cfi_startproc\n"
        "push $6\n"
        "call capture_limited\n"
        "limited_call: add $8, %rsp\n"
        "xor %eax, %eax\n"
        "ret\n .cfi_endproc\n");

/* Far below the thread's first frame, whose page is known from the start. */
static void *in_thread(void *argument)
{
    volatile char room[1 << 16];

    room[0] = 0;
    sink += room[0];
    call(goes_astray_limited);
    return argument;
}

/* It goes on behind the limit, to learn the thread's stack: what is not real there was not given. */
Test(wrong_rows, behind_a_limit_take_no_frame_away)
{
    for (int i = 0; i < 4; i++) {
        pthread_t thread;

        as_cbf = i % 2 == 0;
        cr_assert(zero(int, pthread_create(&thread, NULL, in_thread, NULL)));
        pthread_join(thread, NULL);
    }
}
