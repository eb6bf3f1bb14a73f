/*
 * Code made at run time: no module holds it, no table covers it, and it keeps frame pointers, as
 * JIT compilers' does. The walk goes on through it and says that it guessed.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "oracles/linked.h"
#include "support/compiler.h"
#include "support/test.h"

static struct trace ours;
static struct sframe_backtrace_info info, of_addresses;
static ssize_t address_count;
static volatile int sink;

NOINLINE static void capture(void)
{
    uint8_t buffer[1024];
    void *addresses[64];

    info.size = of_addresses.size = sizeof info;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info));
    address_count = sframe_backtrace_addresses(addresses, 64, NULL, &of_addresses);
    sink++;
}

typedef void made_fn(void (*)(void));

static made_fn *make(const uint8_t *code, size_t size)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    made_fn *function;

    cr_assert(page != MAP_FAILED);
    memcpy(page, code, size);
    cr_assert(eq(int, mprotect(page, 4096, PROT_READ | PROT_EXEC), 0));
    memcpy(&function, &page, sizeof page);
    return function;
}

NOINLINE static int call(made_fn *function)
{
    function(capture);
    return sink;
}

Test(made_code, with_frame_pointers_is_walked_through_and_marked_as_a_guess)
{
    /* push %rbp; mov %rsp, %rbp; call *%rdi; leave; ret */
    static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0xc9, 0xc3 };
    made_fn *function = make(code, sizeof code);

    call(function);
    cr_expect(ours.end, "%s", sfb_status_str(info.end));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_FRAME_POINTER], 1));
    cr_assert(lt(sz, 4, ours.count));
    cr_expect(eq(u64, ours.address[1], (uintptr_t)function + 6));
    cr_expect(lt(u64, (uintptr_t)call, ours.address[2]));
    cr_expect(lt(u64, ours.address[2], (uintptr_t)call + 64));
}

Test(made_code, without_them_ends_the_walk)
{
    /* push %rbp; xor %ebp, %ebp; call *%rdi; pop %rbp; ret */
    static const uint8_t code[] = { 0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0xc3 };
    made_fn *function = make(code, sizeof code);

    call(function);
    cr_expect(not(ours.end));
    cr_expect(eq(int, info.end, SFB_NO_MODULE));
    cr_expect(eq(sz, ours.count, 2));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_FRAME_POINTER], 0));
}

/*
 * A goroutine, as Go starts it on x86-64, in a module without tables: rbp is 0, and above the outermost
 * function's frame lies an address that no call precedes, that of the second instruction of `goexit`. Below
 * its record a return address is left over.
 */
__asm__(".text\n"
        ".p2align 4, 0xcc\n"
        "goroutine:\n"
        "push %rbp\n"
        "push %rbx\n"
        "mov %rsp, %rbx\n"
        "lea 1 + goroutine_end(%rip), %rax\n"
        "jmp 1f\n"
        ".p2align 4, 0xcc\n"
        "goroutine_end: nop\n"
        "call 0f\n"
        "nop\n"
        "0: mov %rbx, %rsp\n"
        "pop %rbx\n"
        "pop %rbp\n"
        "ret\n"
        ".p2align 4, 0xcc\n"
        "1: push %rax\n"
        "xor %ebp, %ebp\n"
        "sub $16, %rsp\n"
        "mov %rbp, 8(%rsp)\n"
        "lea 8(%rsp), %rbp\n"
        "mov %rax, (%rsp)\n"
        "call *%rdi\n"
        "mov 8(%rsp), %rbp\n"
        "add $16, %rsp\n"
        "ret\n"
        ".p2align 4, 0xcc\n");

Test(made_code, of_a_goroutine_is_walked_to_where_go_started_it)
{
    extern const char goroutine[], goroutine_end[];
    made_fn *function;

    memcpy(&function, &(const void *){ goroutine }, sizeof function);
    call(function);
    cr_expect(eq(int, info.end, SFB_END), "%s", sfb_status_str(info.end));
    cr_assert(eq(sz, ours.count, 3));
    cr_expect(eq(u64, ours.address[2], (uintptr_t)goroutine_end + 1));
    cr_expect(eq(int, of_addresses.end, SFB_END));
    cr_expect(eq(sz, (size_t)address_count, ours.count));
}

/*
 * asyncPreempt of Go, as its compiler writes it on x86-64, made to look called by a function that was
 * interrupted at `preempted_at`, behind no call.
 */
void (*preempt_callback)(void);

__asm__(".text\n"
        ".p2align 4, 0xcc\n"
        "preempted:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "mov %rdi, preempt_callback(%rip)\n"
        "lea preempted_at(%rip), %rax\n"
        "push %rax\n"
        "jmp 0f\n"
        "nop\n"
        "preempted_at: pop %rbp\n"
        "ret\n"
        ".p2align 4, 0xcc\n"
        "0: push %rbp\n"
        "mov %rsp, %rbp\n"
        "pushf\n"
        "sub $0x170, %rsp\n"
        ".set place, 0\n"
        ".irp register, rax, rcx, rdx, rbx, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15\n"
        "mov %\\register, place(%rsp)\n"
        ".set place, place + 8\n"
        ".endr\n"
        ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "movups %xmm\\number, 112 + 16 * \\number(%rsp)\n"
        ".endr\n"
        "call 1f\n"
        ".irp number, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0\n"
        "movups 112 + 16 * \\number(%rsp), %xmm\\number\n"
        ".endr\n"
        ".irp register, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbx, rdx, rcx, rax\n"
        ".set place, place - 8\n"
        "mov place(%rsp), %\\register\n"
        ".endr\n"
        "add $0x170, %rsp\n"
        "popf\n"
        "pop %rbp\n"
        "ret\n"
        ".p2align 4, 0xcc\n"
        "1: push %rbp\n" /* asyncPreempt2 */
        "mov %rsp, %rbp\n"
        "push $0\n"
        "call *preempt_callback(%rip)\n"
        "leave\n"
        "ret\n"
        ".p2align 4, 0xcc\n");

Test(made_code, that_go_preempts_has_the_interrupted_function)
{
    extern const char preempted[], preempted_at[];
    made_fn *function;

    memcpy(&function, &(const void *){ preempted }, sizeof function);
    call(function);
    cr_expect(eq(int, info.end, SFB_END), "%s", sfb_status_str(info.end));
    cr_assert(lt(sz, 5, ours.count));
    cr_expect(eq(u64, ours.address[3], (uintptr_t)preempted_at));
    cr_expect(eq(int, ours.kind[3], SFB_FRAME_PC));
    cr_expect(lt(u64, (uintptr_t)call, ours.address[4]));
    cr_expect(lt(u64, ours.address[4], (uintptr_t)call + 64));
    cr_expect(eq(int, of_addresses.end, SFB_END));
    cr_expect(eq(sz, (size_t)address_count, ours.count));
}

/* --- a call that went nowhere ------------------------------------------------------------------
 */

static volatile uint64_t nowhere;
static sigjmp_buf back;

static void on_fault(int number, siginfo_t *si, void *context)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = context };
    uint8_t buffer[1024];

    (void)number;
    (void)si;
    info.size = sizeof info;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    siglongjmp(back, 1);
}

NOINLINE static int call_nowhere(void)
{
    uint64_t address = nowhere;
    int (*function)(void);

    memcpy(&function, &address, sizeof function);
    return function() + sink;
}

Test(made_code, called_through_a_null_pointer_has_its_caller)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back, 1) == 0)
        call_nowhere();
    cr_assert(lt(sz, 3, ours.count));
    cr_expect(eq(u64, ours.address[0], 0));
    cr_expect(lt(u64, (uintptr_t)call_nowhere, ours.address[1]));
    cr_expect(lt(u64, ours.address[1], (uintptr_t)call_nowhere + 128));
    cr_expect(ours.end, "%s", sfb_status_str(info.end));
}

/* --- a function that leaves fp alone ----------------------------------------------------------- */

/* Calls what is in %rsi with the same first argument, and keeps a frame pointer. */
void framed(void (*callback)(void), made_fn *through);
extern const char framed_end[];

__asm__(".text\n"
        "framed: .cfi_startproc\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
        "call *%rsi\n"
        "pop %rbp\n .cfi_def_cfa %rsp, 8\n"
        "ret\n .cfi_endproc\n"
        "framed_end:\n");

static made_fn *leaves_fp;

NOINLINE static void again(void)
{
    framed(capture, leaves_fp);
    sink++;
}

static bool is_in_framed(uint64_t address)
{
    return address - (uintptr_t)framed < (uintptr_t)framed_end - (uintptr_t)framed;
}

/* Made code -> again() -> made code, each called by framed(). @return where the made code is returned to */
static uint64_t walk_through_code_that_leaves_fp(const uint8_t *code, size_t size)
{
    leaves_fp = make(code, size);
    framed(again, leaves_fp);
    cr_assert(lt(sz, 3, ours.count));
    /* Who asks for addresses alone is told the same. */
    cr_expect(eq(sz, (size_t)address_count, ours.count));
    cr_expect(eq(int, of_addresses.end, info.end));
    cr_expect(
        eq(u32, of_addresses.by_source[SFB_SOURCE_UNPROVEN], info.by_source[SFB_SOURCE_UNPROVEN]));
    return (uintptr_t)leaves_fp + 6;
}

static void expect_all_frames(uint64_t here)
{
    /* capture(), made code, framed(), again(), made code, framed() */
    cr_expect(eq(u64, ours.address[1], here));
    cr_expect(is_in_framed(ours.address[2]));
    cr_expect(eq(u64, ours.address[4], here));
    cr_expect(is_in_framed(ours.address[5]));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_UNPROVEN], 0));
}

/*
 * The frame record that fp leads to is that of a caller further out: a walk that follows it loses a
 * frame, and cannot know it. It may give all frames, or fewer, but then without an end.
 */
Test(made_code, that_leaves_fp_alone_claims_no_end_without_all_frames)
{
    /* sub $40, %rsp; call *%rdi; nop; add $40, %rsp; ret */
    static const uint8_t code[] = { 0x48, 0x83, 0xec, 40,   0xff, 0xd7,
                                    0x90, 0x48, 0x83, 0xc4, 40,   0xc3 };
    uint64_t here = walk_through_code_that_leaves_fp(code, sizeof code);

    if (ours.end) {
        expect_all_frames(here);
    } else {
        cr_expect(eq(int, info.end, SFB_UNPROVEN_END), "%s", sfb_status_str(info.end));
        cr_expect(lt(u32, 0, info.by_source[SFB_SOURCE_UNPROVEN]));
    }
}

Test(made_code, that_is_returned_to_at_its_epilogue_has_all_frames)
{
    /* sub $40, %rsp; call *%rdi; add $40, %rsp; ret */
    static const uint8_t code[] = { 0x48, 0x83, 0xec, 40, 0xff, 0xd7, 0x48, 0x83, 0xc4, 40, 0xc3 };
    uint64_t here = walk_through_code_that_leaves_fp(code, sizeof code);

    cr_expect(ours.end, "%s", sfb_status_str(info.end));
    expect_all_frames(here);
}
