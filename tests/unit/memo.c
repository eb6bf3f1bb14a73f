/* When a memo is believed, and in whose hands it is. Walks with one are live.fast_walk's business. */
#include "unwind/capture/memo.h"

#include "unwind/capture/fast_walk.h"

#include "sframe_backtrace.h"
#include "support/test.h"

enum { FRAMES = 4, SP = 0x10000, OUTER_SP = SP + 0x3000, KEY = 0x1000 };

static uint64_t storage[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES) / 8];
static struct sfb_memo *const memo = (void *)storage;
static struct sfb_memo_walk walk;

/* Of two frames, with nothing behind the second. */
static void remember(uint64_t hi)
{
    memo->hi = hi;
    memo->count = 2;
    memo->complete = true;
    memo->frame[1] = (struct sfb_memo_frame){ .key = KEY, .sp = SP };
    memo->frame[0] = (struct sfb_memo_frame){ .key = KEY + 64, .sp = OUTER_SP };
}

/* @return whether a walk that comes to the inner frame may go on by the memo */
static bool is_believed(uint64_t hi)
{
    struct sfb_fast_walk fast = { .hi = hi };

    sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
    cr_assert(walk.memo == memo);
    cr_assert(sfb_memo_find(&walk, KEY, SP, 0, false) == &memo->frame[1]);
    return sfb_memo_check(&walk, fast.hi, UINT32_MAX, &fast.seen);
}

Test(memo, is_believed_as_far_as_the_stack_is_known)
{
    remember(OUTER_SP);
    cr_expect(is_believed(OUTER_SP));
    cr_expect(eq(u32, walk.matched, 2));
    sfb_memo_end(&walk, false, NULL);
    cr_expect(eq(u32, memo->count, 2));
    cr_expect(memo->complete);

    /* This walk came there over another stack, and knows one page of this one. */
    cr_expect(not(is_believed(SP + 0x1000)));
    cr_expect(eq(u32, walk.matched, 0));
    cr_expect(eq(u32, walk.outer, 0));
    sfb_memo_end(&walk, false, NULL);
    cr_expect(eq(u32, memo->count, 0));
    cr_expect(not(memo->complete));
}

/*
 * Of a module that no frame is in not a byte may be read: another thread may be unloading it. (It
 * is one that was never there: to ask after it would be to forget the memo.)
 */
Test(memo, asks_after_no_module_but_those_of_its_frames)
{
    static uint64_t stack[8] = { [3] = KEY + 64 };
    struct sfb_fast_walk fast = { .hi = (uintptr_t)(stack + 8) };

    memo->hi = fast.hi;
    memo->count = 2;
    memo->any_modules = true;
    memo->modules[0] = 1u << 5;
    memo->frame[1] = (struct sfb_memo_frame){ .key = KEY, .sp = (uintptr_t)stack };
    memo->frame[0] = (struct sfb_memo_frame){ .key = KEY + 64,
                                              .sp = (uintptr_t)(stack + 4),
                                              .fp_at = (uintptr_t)(stack + 3),
                                              .fp_word = KEY + 64 };
    sfb_memo_begin(&walk, storage, sizeof storage, fast.hi, false);
    cr_assert(walk.memo == memo);
    cr_assert(sfb_memo_find(&walk, KEY, (uintptr_t)stack, 0, false) == &memo->frame[1]);
    cr_expect(sfb_memo_check(&walk, fast.hi, UINT32_MAX, &fast.seen));
    cr_expect(eq(u32, walk.matched, 2));
    cr_expect(eq(u64, memo->modules[0], 0), "it has nothing to do with this memo");
}

/* Where nothing is ever recognised it is tried less and less often; a hit begins that anew. */
Test(memo, is_left_alone_for_longer_and_longer)
{
    unsigned used = 0, walks = 4000;

    for (unsigned i = 0; i < walks; i++) {
        sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
        if (walk.memo) {
            used++;
            sfb_memo_end(&walk, false, NULL);
        }
    }
    cr_expect(lt(u32, 8, used));
    cr_expect(lt(u32, used, walks / 50));
    while (memo->idle > 0)
        sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
    memo->misses = 0;
    remember(OUTER_SP);
    cr_assert(is_believed(OUTER_SP));
    sfb_memo_end(&walk, true, NULL);
    cr_expect(eq(u32, memo->doubled, 0));
}

Test(memo, is_given_back)
{
    remember(OUTER_SP);
    memo->idle = 2;
    for (unsigned left = 2; left > 0; left--) {
        sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
        cr_expect(walk.memo == NULL, "it is left alone");
        cr_expect(eq(u32, memo->idle, left - 1));
        cr_expect(eq(u32, memo->busy, 0));
    }
    sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
    cr_expect(walk.memo == memo);
    cr_expect(eq(u32, memo->busy, 1));
    sfb_memo_end(&walk, false, NULL);
    cr_expect(eq(u32, memo->busy, 0));
}
