#include "fibers.h"

/*
 * Pushes what a call preserves, changes the stack, and pops it there. swapcontext() would do, but
 * its system call for the signal mask takes longer than a walk.
 */
void fibers_switch(void **save, void *to);
__asm__(".pushsection .text\n"
        ".type fibers_switch, @function\n"
        "fibers_switch:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    ret\n"
        ".size fibers_switch, . - fibers_switch\n"
        ".popsection\n");

struct fiber fibers[FIBERS];

static void *outside; /* where the stack was left */
static struct fiber *running;
static struct batch *asked; /* what the running fiber is to do next */

static __attribute__((noinline, section("code_parked"))) void leaf_parked(struct chain *chain)
{
    struct fiber *self = running;

    getcontext(&self->context);
    for (;;) {
        fibers_switch(&self->sp, outside);
        chain->batch = asked;
        asked->inner(chain);
    }
}

static void begin(void)
{
    chain_enter(&running->order, leaf_parked, NULL);
}

void fibers_start(enum chain_set set, uint8_t *stacks)
{
    enum { SEED = 100, REGISTERS = 6 };

    for (unsigned i = 0; i < FIBERS; i++) {
        struct fiber *fiber = &fibers[i];
        uintptr_t *top;

        fiber->stack = stacks + (size_t)i * FIBER_STACK;
        /*
         * As a call of begin() would have left it, with sp at the return address, behind the six
         * registers that the first switch pops and begin() itself, to which it returns. The tops
         * differ, or all innermost frames would share a few sets of the cache.
         */
        top = (uintptr_t *)((uintptr_t)fiber->stack + FIBER_STACK - 16 - (size_t)i % 32 * 208);
        top[-1] = 0;
        top[-2] = (uintptr_t)begin;
        for (int r = 0; r < REGISTERS; r++) {
            top[-3 - r] = 0;
        }
        fiber->sp = top - 2 - REGISTERS;
        chain_order_make(&fiber->order, set, chain_count(set), SEED + i);
        running = fiber;
        fibers_switch(&outside, fiber->sp);
    }
}

void fiber_run(unsigned number, struct batch *batch)
{
    running = &fibers[number];
    asked = batch;
    batch->stack_start = (uintptr_t)running->stack;
    batch->stack_end = batch->stack_start + FIBER_STACK;
    fibers_switch(&outside, running->sp);
}
