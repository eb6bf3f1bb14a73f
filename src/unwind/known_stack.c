/*
 * The stack of the main thread ends where the kernel put the program's name, at the very top, and
 * is one mapping from there down to the stack pointer.
 *
 * C libraries put what belongs to a thread, where the thread pointer leads, on top of the thread's
 * stack, in one mapping, with a guard page below. So if all pages from one with a stack pointer up
 * to the thread pointer can be read, they are that stack, which stays while the thread does;
 * anything else that a stack pointer may be on, a coroutine's stack or an alternate one, is found
 * to be below a gap. This does not hold for the main thread, whose thread pointer leads elsewhere,
 * and is not tried where it is not known which thread that is.
 *
 * What is known is only ever used above a stack pointer, so it does not matter if pages below are
 * protected again, as some virtual machines do.
 */
#include "unwind/known_stack.h"

#include <sys/auxv.h>
#include <sys/resource.h>

#include "unwind/arch.h"
#include "unwind/memory.h"

#define PAGE 4096u

/*
 * The kernel maps nothing else within 128 MiB below the top of the main stack, whatever the limit
 * says, so an address this near is on the stack, or in the gap below it.
 */
#define MAIN_STACK_MAX (128u << 20)

/* So much of a stack is looked at in one walk, for 0.4 us; the next ones go on from there. */
#define PROBES_MAX 3

/* Of stacks that are larger, what is so far from the thread pointer is probed in each walk. */
#define THREAD_STACK_MAX (64u << 20)

_Thread_local struct sfb_known_stack sfb_known_stack
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Set once at load; before that nothing is known. */
static uint64_t main_lo, main_hi, main_thread_pointer;

SFB_EARLY static void find_main_stack(void)
{
    uint64_t name = getauxval(AT_EXECFN), here = (uintptr_t)__builtin_frame_address(0);
    struct rlimit limit;
    uint64_t size = MAIN_STACK_MAX;

    if (name == 0)
        return;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur;
    main_hi = (name | (PAGE - 1)) + 1;
    main_lo = main_hi > size ? main_hi - size : 0;
    /* Another thread may have loaded this library. */
    if (here >= main_lo && here < main_hi) {
        main_thread_pointer = sfb_arch_thread_pointer();
        sfb_known_stack_extend(here, true);
    }
}

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

/* In this order: a handler that comes between sees an hi of 0, or what was known before. */
static void learn(uint64_t lo, uint64_t hi)
{
    if (sfb_known_stack.hi == 0 || lo < sfb_known_stack.lo)
        sfb_known_stack.lo = lo;
    sfb_known_stack.hi = hi;
}

/* From what is known of the stack of a thread down to sp, as far as this walk's share goes. */
static bool extend_down(uint64_t sp, uint64_t thread)
{
    struct sfb_known_stack *known = &sfb_known_stack;
    uint64_t lo = known->hi ? known->lo : thread;

    for (unsigned i = 0; i < PROBES_MAX && lo > sp; i++) {
        uint64_t page = page_of(lo - 1);

        if (!sfb_memory_probe(page, 1))
            break;
        lo = page;
        learn(lo, thread);
    }
    return lo <= sp;
}

bool sfb_known_stack_extend(uint64_t sp, bool running)
{
    uint64_t thread = sfb_arch_thread_pointer() & ~(uint64_t)7;
    bool is_main = thread == (main_thread_pointer & ~(uint64_t)7);

    if (sp >= main_lo && sp < main_hi) {
        if (!is_main || !(running || sfb_memory_probe(page_of(sp), 1)))
            return false;
        learn(page_of(sp), main_hi);
        return true;
    }
    /* Not so far down as to be anything else. */
    return main_thread_pointer != 0 && !is_main && sp < thread && thread - sp < THREAD_STACK_MAX &&
           extend_down(sp, thread);
}
