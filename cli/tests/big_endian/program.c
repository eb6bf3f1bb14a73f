/*
 * A big-endian program that takes its own stack through the library's front door, says what it
 * took, and what it knows of its stack by itself. cli/tests/command/big_endian.c compares the two.
 *
 *     case plain                 which stack
 *     cbf 021f...                what sframe_backtrace_cbf() wrote, twice
 *     info 0x1 0x1 0xe ...       why the walk ended, and how many frames each source found
 *     array 0x4001f0 ...         the same stack by sframe_backtrace()
 *     calls 0x4003a0 ...         where each function returns to, by the function itself
 *     records 0x4003a0 ...       the chain of frame records, where all code keeps one
 *     signed 0x2                 words on the stack that are return addresses, but for a signature
 *
 * The functions differ in what their rows have to say: no frame at all, frames that need offsets of
 * one, two and four bytes, and a CFA that is counted from x29.
 */
#include <alloca.h>
#include <asm/unistd.h>
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "calls.h"
#include "sframe_backtrace.h"
#include "system.h"

/* Everything is called, and from where it is written; nothing is known of what is called. */
#define FUNCTION __attribute__((noipa)) static uint64_t

enum { FRAMES_MAX = 64, BUFFER_SIZE = 512 };

uint64_t calls[FRAMES_MAX];
unsigned call_count;
static volatile uint64_t sink;

/* --- What was taken, and what is true --------------------------------------------------------- */

/* How a stack is taken; all zero: from the caller, all of it. */
struct how {
    const ucontext_t *context;
    uint32_t max_frames, outermost;
};

/* `xpaclri`: the processor itself says which bits authenticate an address. */
static uint64_t without_signature(uint64_t address)
{
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint 7" : "+r"(x30));
    return x30;
}

static void print_list(const char *name, const uint64_t *list, unsigned count)
{
    print_text(name);
    for (unsigned i = 0; i < count; i++)
        print_number(list[i]);
    print_line();
}

static void print_info(const struct sframe_backtrace_info *info)
{
    print_text("info");
    print_number(info->end);
    for (unsigned s = 0; s < SFB_SOURCE_COUNT; s++)
        print_number(info->by_source[s]);
    print_line();
}

/* @param inner  functions running that are further in than where the walk begins */
static void print_calls(unsigned inner)
{
    print_text("calls");
    for (unsigned i = call_count - inner; i-- > 0;)
        print_number(calls[i]);
    print_line();
}

#ifdef FRAME_RECORDS
/*
 * AAPCS64, "The Frame Pointer": a record is the caller's fp, which leads to its record, and the
 * address that the function returns to.
 *
 * @param lr  the link register of an interrupted function that keeps no record, a leaf; 0: none
 */
static void print_records(const uint64_t *fp, uint64_t lr)
{
    print_text("records");
    if (lr)
        print_number(without_signature(lr));
    for (unsigned i = 0; fp && i < FRAMES_MAX; i++) {
        print_number(without_signature(fp[1]));
        fp = (const uint64_t *)fp[0];
    }
    print_line();
}
#endif

/* So that nobody takes a processor that signs nothing for addresses that were cleaned. */
static void print_signed(const uint64_t *sp)
{
    uint64_t count = 0;

    for (; sp < stack_begin; sp++) {
        uint64_t address = without_signature(*sp);

        for (unsigned i = 0; i < call_count && address != *sp; i++)
            if (calls[i] == address) {
                count++;
                break;
            }
    }
    print_text("signed");
    print_number(count);
    print_line();
}

FUNCTION take(const char *name, const struct how *how, unsigned inner)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = how->context,
                                                .max_frames = how->max_frames,
                                                .outermost = how->outermost };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t buffer[BUFFER_SIZE];
    uint64_t addresses[FRAMES_MAX];
    int count;

    ENTER();
    print_text("case ");
    print_text(name);
    print_line();
    /* Twice: what the second call finds in the cache of rules the first one has looked up. */
    for (unsigned i = 0; i < 2; i++) {
        bool defaults = !how->context && how->max_frames == 0;
        ssize_t size =
            sframe_backtrace_cbf(buffer, sizeof buffer, defaults ? NULL : &options, &info);

        print_text("cbf ");
        print_bytes(buffer, size > 0 ? (size_t)size : 0);
        print_line();
    }
    print_info(&info);
    if (!how->context) {
        count = sframe_backtrace((void **)addresses, FRAMES_MAX);
        print_list("array", addresses, (unsigned)count);
    }
    print_calls(inner);
#ifdef FRAME_RECORDS
    if (how->context)
        print_records((const uint64_t *)how->context->uc_mcontext.regs[29],
                      how->context->uc_mcontext.regs[30]);
    else
        print_records(__builtin_frame_address(0), 0);
#endif
    print_signed((const uint64_t *)&info);
    LEAVE();
    return sink;
}

/* --- What is done at the inner end ------------------------------------------------------------ */

FUNCTION take_all(uint64_t n)
{
    ENTER();
    n += take("plain", &(struct how){ .max_frames = 0 }, 0);
    LEAVE();
    return n;
}

FUNCTION take_both_ends(uint64_t n)
{
    ENTER();
    n += take("both-ends", &(struct how){ .max_frames = 6, .outermost = 2 }, 0);
    LEAVE();
    return n;
}

FUNCTION take_behind_bare(uint64_t n)
{
    ENTER();
    n += take("bare", &(struct how){ .max_frames = 0 }, 0);
    LEAVE();
    return n;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;

    (void)info;
    /* Where the leaf returns to, which could not note it. */
    calls[call_count++] = without_signature(interrupted->uc_mcontext.regs[30]);
    ENTER();
    sink += (uint64_t)number;
    take("interrupted", &(struct how){ .context = interrupted }, 2);
    take("through-signal", &(struct how){ .context = NULL }, 0);
    LEAVE();
    LEAVE();
}

/* A leaf: where it returns to is in x30 alone, unless it asks for that; so it does not. */
FUNCTION send_signal(uint64_t n)
{
    system_call(__NR_kill, (uint64_t)system_call(__NR_getpid, 0, 0, 0, 0), SIGUSR1, 0, 0);
    return n;
}

/* --- The way there ---------------------------------------------------------------------------- */

FUNCTION through_pointer(action_fn *action, uint64_t n)
{
    ENTER();
    n = action(n) ^ 1;
    LEAVE();
    return n;
}

/* Needs more registers than are free, so it saves those that its caller may use. */
FUNCTION many_saved(action_fn *action, uint64_t n)
{
    uint64_t a = sink + 1, b = sink + 2, c = sink + 3, d = sink + 4, e = sink + 5, f = sink + 6;

    ENTER();
    n = through_pointer(action, n);
    sink = (a ^ b) * c + d;
    n += e ^ f;
    LEAVE();
    return n;
}

FUNCTION recurse(action_fn *action, uint64_t n)
{
    ENTER();
    n = n > 0 ? recurse(action, n - 1) + n : many_saved(action, sink);
    LEAVE();
    return n;
}

/* Too large for the instruction that stores a pair behind sp; CFA = sp + a number of two bytes */
FUNCTION big_frame(action_fn *action, uint64_t n)
{
    volatile uint64_t room[100];

    ENTER();
    room[n % 100] = n;
    n = recurse(action, 3) + room[n % 100];
    LEAVE();
    return n;
}

/* CFA = sp + a number of four bytes */
FUNCTION huge_frame(action_fn *action, uint64_t n)
{
    volatile uint64_t room[20000];

    ENTER();
    room[n % 20000] = n;
    n = big_frame(action, n) + room[n % 20000];
    LEAVE();
    return n;
}

/* CFA = x29 + 32 or so, whatever else is built without frame pointers */
FUNCTION with_alloca(action_fn *action, uint64_t n)
{
    volatile uint8_t *room = alloca(n + 16);

    ENTER();
    room[n] = (uint8_t)n;
    n = huge_frame(action, n) + room[n];
    LEAVE();
    return n;
}

FUNCTION small(action_fn *action, uint64_t n)
{
    ENTER();
    n = with_alloca(action, n) + 1;
    LEAVE();
    return n;
}

FUNCTION over_bare(action_fn *action, uint64_t n)
{
    ENTER();
    n = bare(action, n) + 1;
    LEAVE();
    return n;
}

struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    uint64_t flags;
    void (*restorer)(void); /* handlers return to the kernel's own trampoline */
    uint64_t mask;
};

__attribute__((noipa)) int program(void)
{
    struct kernel_sigaction action = { .handler = on_signal, .flags = SA_SIGINFO };

    ENTER();
    system_call(__NR_rt_sigaction, SIGUSR1, (uintptr_t)&action, 0, sizeof action.mask);
    sink = small(take_all, 8);
    sink += small(take_both_ends, 24);
    sink += small(send_signal, 40);
    sink += over_bare(take_behind_bare, 56);
    LEAVE();
    return 0;
}
