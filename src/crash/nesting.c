#include "crash/nesting.h"

#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

#include "crash/registers.h"
#include "unwind/process/pages.h"

/* Each count is a signal: a test that varies the sizes of frames is built with fewer. */
#ifndef SFB_BELOW_STACK_MAX
#define SFB_BELOW_STACK_MAX (1 << 16)
#endif

enum {
    REACH = 1 << 20,    /* the handler's own stack is within */
    ROOM = 8 << 10,     /* for a report without the kernel's frame: it takes 4 KiB to 7 */
    NEAR = 8 << 20,     /* one previous handler's own stack is within */
    GUARD = 64 << 10,   /* the same, of nearly all of them */
    RED_ZONE = 128,     /* below sp, which the kernel leaves alone on some machines */
    OFF_STACK_MAX = 16, /* in a row, with an sp that is in no memory */
    BELOW_STACK_MAX = SFB_BELOW_STACK_MAX /* with one that is: for code on a stack right below */
};

/* Per thread: no system call is needed to identify the thread. */
static _Thread_local struct {
    volatile bool inside;
    volatile int number; /* the signal */
    volatile int thread; /* a child of vfork() uses this memory, too */
    volatile uint64_t at, lo, hi;
    volatile uint32_t deferred;
    unsigned below; /* see sfb_nesting_is_spent() */
    struct sfb_nesting_pass pass;
} self __attribute__((tls_model("initial-exec")));

static bool is_on_stack(uint64_t sp)
{
    return sp > self.lo && sp <= self.hi;
}

bool sfb_nesting_is_inside(const void *ucontext)
{
    uint64_t sp = sfb_crash_sp(ucontext);

    return self.inside && sp < self.at && self.at - sp < REACH;
}

void sfb_nesting_begin(int number, const void *frame, const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    self.inside = false;
    atomic_signal_fence(memory_order_seq_cst);
    self.lo = self.hi = 0;
    if (!(uc->uc_stack.ss_flags & SS_DISABLE)) {
        self.lo = (uintptr_t)uc->uc_stack.ss_sp;
        self.hi = self.lo + uc->uc_stack.ss_size;
    }
    self.at = (uintptr_t)frame;
    self.number = number;
    self.thread = 0;
    self.deferred = 0;
    atomic_signal_fence(memory_order_seq_cst);
    self.inside = true;
}

void sfb_nesting_is_of(int thread)
{
    self.thread = thread;
}

void sfb_nesting_end(void)
{
    self.inside = false;
}

int sfb_nesting_number(void)
{
    return self.number;
}

int sfb_nesting_thread(void)
{
    return self.thread;
}

bool sfb_nesting_is_overwritten(const void *frame)
{
    return (uintptr_t)frame >= self.at;
}

bool sfb_nesting_is_spent(const void *ucontext)
{
    uint64_t sp = sfb_crash_sp(ucontext);
    unsigned max = BELOW_STACK_MAX;

    if (!self.pass.at || !is_on_stack(self.pass.at))
        return false;
    /* Continues on the stack. Not all kernels check the end of the stack. */
    if (is_on_stack(sp) && self.at < sp)
        return sp < self.pass.at && self.at < self.lo + ROOM;
    if (!is_on_stack(self.at))
        return false;
    /* If sp is on the stack and its red zone is not, that counts as below, too. */
    if (!is_on_stack(sp) && (sp > self.lo || self.lo - sp > NEAR)) {
        self.below = 0;
        return false;
    }
    if (sp + GUARD >= self.lo && !sfb_pages_probe(sp - RED_ZONE, 1))
        max = OFF_STACK_MAX;
    return ++self.below > max;
}

struct sfb_nesting_pass sfb_nesting_pass(void)
{
    struct sfb_nesting_pass before = self.pass;

    self.pass.at = self.at;
    self.inside = false;
    return before;
}

void sfb_nesting_returned(struct sfb_nesting_pass before)
{
    self.pass = before;
    self.below = 0;
}

void sfb_nesting_defer(int number)
{
    self.deferred |= (uint32_t)1 << number;
}

uint32_t sfb_nesting_deferred(void)
{
    return self.deferred;
}

uint64_t sfb_nesting_stack(void)
{
    return is_on_stack(self.at) ? self.lo : 0;
}
