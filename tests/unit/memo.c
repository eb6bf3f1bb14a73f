/* When a memo is believed, and in whose hands it is. Walks with one are live.fast_walk's business. */
#include "unwind/capture/memo.h"

#include <string.h>

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

    sfb_seen_modules_begin(&fast.seen);
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
    sfb_memo_end(&walk, OUTER_SP, false, NULL);
    cr_expect(eq(u32, memo->count, 2));
    cr_expect(memo->complete);

    /* This walk came there over another stack, and knows one page of this one. */
    cr_expect(not(is_believed(SP + 0x1000)));
    cr_expect(eq(u32, walk.matched, 0));
    cr_expect(eq(u32, walk.outer, 0));
    sfb_memo_end(&walk, OUTER_SP, false, NULL);
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

    sfb_seen_modules_begin(&fast.seen);
    memo->hi = fast.hi;
    memo->count = 2;
    memo->words = 1;
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

/* Where nothing is ever recognised it is tried less and less often; a walk that pays begins that anew. */
Test(memo, is_left_alone_for_longer_and_longer)
{
    unsigned used = 0, walks = 4000;

    for (unsigned i = 0; i < walks; i++) {
        sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
        if (walk.memo) {
            used++;
            sfb_memo_end(&walk, OUTER_SP, false, NULL);
        }
    }
    cr_expect(lt(u32, 8, used));
    cr_expect(lt(u32, used, walks / 50));
    while (memo->idle > 0)
        sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
    memo->balance = 0;
    remember(OUTER_SP);
    cr_assert(is_believed(OUTER_SP));
    walk.outer = 0;
    walk.matched = 8; /* as if it had given so many */
    sfb_memo_end(&walk, OUTER_SP, true, NULL);
    cr_expect(eq(u32, memo->doubled, 0));
}

/*
 * As many walks as it takes until it is left alone, if each recognises so many frames, writes so many down, and looks
 * for so many modules. 0: it is not
 */
static unsigned walks_until_left_alone(uint32_t given, uint32_t written, uint8_t modules)
{
    enum { WALKS_MAX = 1000 };
    static uint64_t large[SFRAME_BACKTRACE_MEMO_SIZE(256) / 8];
    struct sfb_memo *m = (void *)large;
    unsigned n = 0;

    for (; n < WALKS_MAX && m->idle == 0; n++) {
        sfb_memo_begin(&walk, large, sizeof large, OUTER_SP, false);
        cr_assert(walk.memo == m);
        walk.outer = 1;
        walk.matched = 1 + given;
        walk.fresh = walk.capacity - written;
        m->checked = modules;
        sfb_memo_end(&walk, OUTER_SP, false, NULL);
    }
    memset(large, 0, sizeof large);
    return n < WALKS_MAX ? n : 0;
}

Test(memo, is_left_alone_where_less_is_recognised_than_what_writing_costs)
{
    cr_expect(eq(u32, walks_until_left_alone(100, 10, 0), 0));
    cr_expect(eq(u32, walks_until_left_alone(56, 8, 0), 0));
    cr_expect(eq(u32, walks_until_left_alone(8, 0, 0), 0));
    cr_expect(lt(u32, 0, walks_until_left_alone(20, 10, 0)));
    cr_expect(lt(u32, 3, walks_until_left_alone(20, 10, 0)), "not after a few");
    cr_expect(lt(u32, 0, walks_until_left_alone(25, 7, 0)), "32 frames, of which 7 are others");
    cr_expect(eq(u32, walks_until_left_alone(0, 100, 0), 4));
}

Test(memo, is_left_alone_where_each_frame_is_in_another_library)
{
    cr_expect(eq(u32, walks_until_left_alone(8, 0, 1), 0));
    cr_expect(lt(u32, 0, walks_until_left_alone(8, 0, 8)));
    cr_expect(eq(u32, walks_until_left_alone(40, 0, 8), 0));
}

/* A walk that is cut, and goes further out than the last one. @return frames that the memo has then */
static uint32_t frames_after_a_walk_to(uint64_t sp)
{
    remember(OUTER_SP);
    memo->complete = false;
    cr_assert(is_believed(OUTER_SP));
    walk.outer = 0; /* it has come to frame 0 */
    sfb_memo_diverge(&walk);
    cr_expect(walk.beyond, "it tells nothing of what comes now");
    cr_expect(eq(u32, walk.matched, 2));
    sfb_memo_end(&walk, sp, false, NULL);
    return memo->count;
}

Test(memo, is_emptied_where_most_of_a_walk_lies_further_out)
{
    enum { SPAN = OUTER_SP - SP };

    cr_expect(eq(u32, frames_after_a_walk_to(OUTER_SP + 16), 2));
    cr_expect(eq(u32, memo->frame[1].sp, SP));
    cr_expect(eq(u32, frames_after_a_walk_to(OUTER_SP + SPAN), 2));
    cr_expect(eq(u32, frames_after_a_walk_to(OUTER_SP + SPAN + 8), 0));
    /* And if each of them is one more. */
    for (unsigned n = 0; n < 3; n++)
        cr_expect(eq(u32, frames_after_a_walk_to(OUTER_SP + 16), 2));
    cr_expect(eq(u32, frames_after_a_walk_to(OUTER_SP + 16), 0));
}

/* Of two old frames for each new one the second is compared with it; what was passed by is found later. */
Test(memo, is_searched_by_two_frames_at_a_time)
{
    remember(OUTER_SP);
    memo->complete = false;
    sfb_memo_begin(&walk, storage, sizeof storage, OUTER_SP, false);
    cr_expect(sfb_memo_find(&walk, KEY, SP - 8, 0, false) == NULL);
    cr_expect(eq(u32, walk.outer, 2));
    cr_expect(sfb_memo_find(&walk, KEY, SP, 1, false) == NULL, "another fp");
    cr_expect(sfb_memo_find(&walk, KEY, SP, 0, true) == NULL, "interrupted");
    cr_expect(sfb_memo_find(&walk, KEY + 64, OUTER_SP, 0, false) == &memo->frame[0]);
    cr_expect(eq(u32, walk.matched, 1));
    cr_expect(eq(u32, walk.outer, 0));
    sfb_memo_discard_inner(&walk);
    cr_expect(sfb_memo_find(&walk, KEY, OUTER_SP, 0, false) == NULL, "nothing is left of it");
    walk.outer = 2;
    cr_expect(sfb_memo_find(&walk, KEY, OUTER_SP + 8, 0, false) == NULL);
    cr_expect(eq(u32, walk.outer, 0));
    sfb_memo_end(&walk, OUTER_SP, false, NULL);
}

/* The last walk of these is for sfb_memo_begin(), which gives it a second chance. */
Test(memo, rests_for_all_walks_but_the_last)
{
    remember(OUTER_SP);
    cr_expect(not(sfb_memo_rests(storage, sizeof storage)));
    memo->idle = 2;
    cr_expect(sfb_memo_rests(storage, sizeof storage));
    cr_expect(eq(u32, memo->idle, 1));
    cr_expect(not(sfb_memo_rests(storage, sizeof storage)));
    cr_expect(eq(u32, memo->idle, 1));
    memo->idle = 2;
    cr_expect(not(sfb_memo_rests((uint8_t *)storage + 1, sizeof storage)), "misaligned");
    cr_expect(not(sfb_memo_rests(storage, sizeof *memo - 1)), "too small");
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
    sfb_memo_end(&walk, OUTER_SP, false, NULL);
    cr_expect(eq(u32, memo->busy, 0));
}
