/* Freed blocks that the table remembers, and who asks for blocks. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/live/block_find.h"
#include "profiler/agent/live/live_stacks.h"
#include "profiler/tests/live_heap/blocks.h"

#define MIB ((uint64_t)1 << 20)

static void begin(void)
{
    const struct sfb_live_how how = { .size = 4 * MIB, .freed = 64, .no_file = true };

    cr_assert(sfb_live_start(&how));
}

/* As the hook of free() does it. */
static void free_remembered(void *p)
{
    const struct sfb_regs caller = { .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
                                     .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),
                                     .fp = *(uint64_t *)__builtin_frame_address(0) };

    if (sfb_live_remembers())
        sfb_live_remember(p, malloc_usable_size(p), &caller);
    sfb_live_freed(p, malloc_usable_size(p));
}

static void *free_it(void *p)
{
    free_remembered(p);
    return NULL;
}

struct seen {
    unsigned freed, with_stack, with_freed_stack;
};

static void see(void *user, size_t index, const struct sframe_backtrace_heap_block *block)
{
    struct seen *seen = user;

    (void)index;
    if (block->state != SFRAME_BACKTRACE_HEAP_BLOCK_FREED)
        return;
    seen->freed++;
    seen->with_stack += block->cbf != NULL;
    seen->with_freed_stack += block->freed_cbf != NULL;
}

static struct seen seen_of(void *p)
{
    const uint64_t address = (uintptr_t)p;
    struct seen seen = { 0, 0, 0 };

    cr_assert_eq(sfb_live_find(&address, 1, see, &seen), SFB_OK);
    return seen;
}

Test(remembered, the_first_call_of_a_thread_is_a_free)
{
    pthread_t thread;
    struct seen seen;
    void *p;

    begin();
    p = block_new(100);
    cr_assert_eq(pthread_create(&thread, NULL, free_it, p), 0);
    pthread_join(thread, NULL);
    seen = seen_of(p);
    cr_expect(seen.freed == 1 && seen.with_stack == 1 && seen.with_freed_stack == 1, "%u, %u, %u",
              seen.freed, seen.with_stack, seen.with_freed_stack);
    free(p);
    sfb_live_stop();
    cr_expect(!sfb_live_remembers());
}

/* Its place has another stack, whose generation has the same last bits. */
Test(remembered, a_stack_of_eight_generations_later_is_another)
{
    struct sfb_live_stack *stack;
    uint32_t id;
    void *p;

    begin();
    p = block_new(100);
    free_remembered(p);
    cr_expect_eq(seen_of(p).with_stack, 1);
    id = sfb_live_stack_of(sfb_live_table.freed[0].what);
    stack = &sfb_live_table.stacks[id];
    for (uint32_t passed = 1; passed <= 2 * SFB_LIVE_GENERATIONS; passed++) {
        stack->state += 1 << 2;
        cr_expect_eq(seen_of(p).with_stack, 0, "%u generations", passed);
    }
    free(p);
    sfb_live_stop();
}

/* --- one call at a time --------------------------------------------------------------------------- */

static sigjmp_buf out;

static void fault(void *user, size_t index, const struct sframe_backtrace_heap_block *block)
{
    (void)index;
    (void)block;
    ++*(unsigned *)user;
    raise(SIGSEGV);
}

static void leave(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

static pid_t faulting;

static void *fault_in_thread(void *p)
{
    const uint64_t address = (uintptr_t)p;
    unsigned calls = 0;

    faulting = (pid_t)syscall(SYS_gettid);
    if (sigsetjmp(out, 1) == 0)
        sfb_live_find(&address, 1, fault, &calls);
    return NULL;
}

static void ask_within(void *user, size_t index, const struct sframe_backtrace_heap_block *block)
{
    (void)index;
    ++*(unsigned *)user;
    seen_of((void *)(uintptr_t)block->address);
}

Test(remembered, a_call_that_a_fault_ended_hinders_no_other)
{
    const struct sigaction action = { .sa_handler = leave };
    uint64_t addresses[2];
    pthread_t thread;
    unsigned calls = 0;
    void *p, *q;

    sigaction(SIGSEGV, &action, NULL);
    begin();
    p = block_new(100);
    q = block_new(200);
    free_remembered(p);

    fault_in_thread(p);
    cr_expect_eq(seen_of(p).freed, 1, "of the same thread");
    cr_assert_eq(pthread_create(&thread, NULL, fault_in_thread, p), 0);
    pthread_join(thread, NULL);
    /* It is joined a moment before its end. */
    while (syscall(SYS_tgkill, getpid(), faulting, 0) == 0)
        sched_yield();
    cr_expect_eq(seen_of(p).freed, 1, "of a thread that has ended");

    /* What a later call has overwritten is not reported. */
    addresses[0] = addresses[1] = (uintptr_t)q;
    cr_expect_eq(sfb_live_find(addresses, 2, ask_within, &calls), SFB_NO_RESOURCE);
    cr_expect_eq(calls, 1);
    cr_expect_eq(seen_of(p).freed, 1);
    block_free(q);
    free(p);
    sfb_live_stop();
}

static int asked[2], answered[2];

static void wait_inside(void *user, size_t index, const struct sframe_backtrace_heap_block *block)
{
    char byte = 'x';

    (void)user;
    (void)index;
    (void)block;
    cr_assert_eq(write(asked[1], &byte, 1), 1);
    cr_assert_eq(read(answered[0], &byte, 1), 1);
}

static void *ask_and_wait(void *p)
{
    const uint64_t address = (uintptr_t)p;

    cr_expect_eq(sfb_live_find(&address, 1, wait_inside, NULL), SFB_OK);
    return NULL;
}

Test(remembered, another_thread_in_the_call_is_left_alone)
{
    struct seen seen = { 0, 0, 0 };
    pthread_t thread;
    uint64_t address;
    char byte;
    void *p;

    cr_assert(pipe(asked) == 0 && pipe(answered) == 0);
    begin();
    p = block_new(100);
    address = (uintptr_t)p;
    cr_assert_eq(pthread_create(&thread, NULL, ask_and_wait, p), 0);
    cr_assert_eq(read(asked[0], &byte, 1), 1);
    cr_expect_eq(sfb_live_find(&address, 1, see, &seen), SFB_NO_RESOURCE);
    cr_assert_eq(write(answered[1], &byte, 1), 1);
    pthread_join(thread, NULL);
    cr_expect_eq(sfb_live_find(&address, 1, see, &seen), SFB_OK);
    block_free(p);
    sfb_live_stop();
}
