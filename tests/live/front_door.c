/* The options of sframe_backtrace_cbf(), each against the whole stack taken without them. */
#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "support/compiler.h"
#include "support/test.h"

static volatile int sink;
static struct trace whole, part;
static struct sframe_backtrace_info whole_info, info;
static struct sframe_backtrace_options options;
static uint8_t buffer[8192];
static size_t room;

/* Alternates, so that no two frames in a row are equal and a `rep` does not hide the counts. */
NOINLINE static int odd(int depth, void (*leaf)(void));

NOINLINE static int even(int depth, void (*leaf)(void))
{
    if (depth == 0)
        leaf();
    else
        odd(depth - 1, leaf);
    return sink++;
}

NOINLINE static int odd(int depth, void (*leaf)(void))
{
    if (depth == 0)
        leaf();
    else
        even(depth - 1, leaf);
    return sink--;
}

NOINLINE static int same(int depth, void (*leaf)(void))
{
    if (depth == 0)
        leaf();
    else
        same(depth - 1, leaf);
    return sink++;
}

/* One call site for both captures, so that all addresses must agree. */
NOINLINE static ssize_t capture(void *to, size_t size, const struct sframe_backtrace_options *how,
                                struct sframe_backtrace_info *what)
{
    ssize_t n;

    what->size = sizeof *what;
    n = sframe_backtrace_cbf(to, size, how, what);
    sink++;
    return n;
}

static void take(void)
{
    uint8_t all[8192];
    ssize_t n = 0;

    options.size = sizeof options;
    for (volatile int i = 0; i < 2; i++) { /* volatile: an unrolled loop has two call sites */
        n = capture(i ? buffer : all, i ? room : sizeof all, i ? &options : NULL,
                    i ? &info : &whole_info);
        trace_decode(i ? &part : &whole, i ? buffer : all, n);
    }
}

static void run_anywhere(int depth, struct sframe_backtrace_options how)
{
    options = how;
    room = sizeof buffer;
    even(depth, take);
    cr_assert(eq(int, whole.error, SFB_OK));
    cr_assert(eq(int, part.error, SFB_OK));
    cr_expect(eq(u32, info.frames, (uint32_t)part.count));
    cr_expect(eq(u32, info.omitted, (uint32_t)part.omitted));
}

static void run(int depth, struct sframe_backtrace_options how)
{
    run_anywhere(depth, how);
    cr_assert(whole.end);
}

static void expect_frames(size_t at, size_t count, size_t from)
{
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(u64, part.address[at + i], whole.address[from + i]), "frame %zu", at + i);
}

Test(front_door, skip_leaves_inner_frames_out)
{
    for (uint32_t skip = 0; skip < 20; skip++) {
        run(30, (struct sframe_backtrace_options){ .skip = skip });
        cr_assert(eq(sz, part.count, whole.count - skip));
        expect_frames(0, part.count, skip);
        cr_expect(part.end);
        cr_expect(eq(u32, info.omitted, 0), "skipped frames are not omitted ones");
    }
    run(5, (struct sframe_backtrace_options){ .skip = 1000 });
    cr_expect(eq(sz, part.count, 0));
    cr_expect(part.end);
}

Test(front_door, max_frames_cuts_the_outer_end)
{
    run(30, (struct sframe_backtrace_options){ 0 });
    for (uint32_t max = 1; max <= whole.count + 2; max++) {
        run(30, (struct sframe_backtrace_options){ .max_frames = max });
        cr_assert(eq(sz, part.count, max < whole.count ? max : whole.count));
        expect_frames(0, part.count, 0);
        /* As many frames as allowed, and no more: that is the end, not a cut. */
        cr_expect(eq(int, part.end, max >= whole.count), "%u", max);
        cr_expect(eq(int, info.end, max >= whole.count ? SFB_END : SFB_FRAME_LIMIT), "%u", max);
    }
}

Test(front_door, outermost_keeps_both_ends)
{
    run(60, (struct sframe_backtrace_options){ 0 });
    for (uint32_t max = 1; max <= whole.count + 2; max++) {
        for (uint32_t outer = 1; outer <= max && outer < 20; outer++) {
            run(60, (struct sframe_backtrace_options){ .max_frames = max, .outermost = outer });
            cr_expect(part.end);
            cr_expect(eq(int, info.end, SFB_END));
            if (max >= whole.count) {
                cr_assert(eq(sz, part.count, whole.count));
                cr_expect(eq(u32, info.omitted, 0));
                expect_frames(0, part.count, 0);
                continue;
            }
            cr_assert(eq(sz, part.count, max));
            cr_assert(eq(u64, part.omitted, whole.count - max));
            cr_assert(eq(sz, part.omit_at, max - outer));
            expect_frames(0, max - outer, 0);
            expect_frames(max - outer, outer, whole.count - outer);
        }
    }
}

static ucontext_t main_context, fiber_context;

/* No table says where a fiber begins. */
static void in_fiber(void)
{
    run_anywhere(60, (struct sframe_backtrace_options){ .max_frames = 20, .outermost = 5 });
    swapcontext(&fiber_context, &main_context);
}

Test(front_door, outermost_with_a_walk_that_stops_keeps_the_last_that_were_reached)
{
    static char space[512 * 1024];

    getcontext(&fiber_context);
    fiber_context.uc_stack.ss_sp = space;
    fiber_context.uc_stack.ss_size = sizeof space;
    makecontext(&fiber_context, in_fiber, 0);
    swapcontext(&main_context, &fiber_context);
    cr_expect(not(part.end));
    cr_expect(eq(int, info.end, SFB_NO_CFI), "%s", sfb_status_str(info.end));
    cr_assert(eq(sz, part.count, 20));
    cr_expect(lt(u64, 0, part.omitted));
    expect_frames(15, 5, 15 + part.omitted);
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_LIBUNWIND], 0));
}

Test(front_door, any_buffer_size_gives_a_whole_cbf)
{
    for (uint32_t outer = 0; outer <= 4; outer += 2) {
        for (size_t size = 2; size < 400; size++) {
            memset(buffer, 0xa5, sizeof buffer);
            options = (struct sframe_backtrace_options){ .outermost = outer };
            room = size;
            even(50, take);
            cr_assert(eq(int, part.error, SFB_OK), "%zu", size);
            for (size_t i = size; i < sizeof buffer; i++)
                cr_assert(eq(int, buffer[i], 0xa5), "wrote behind %zu", size);
            if (part.omitted == 0) {
                expect_frames(0, part.count, 0);
                cr_assert(eq(int, part.end, part.count == whole.count), "%zu", size);
                cr_assert(eq(int, info.end, part.end ? SFB_END : SFB_BUFFER_FULL), "%zu", size);
            } else {
                cr_assert(eq(u64, part.omitted + part.count, whole.count), "%zu", size);
                expect_frames(0, part.omit_at, 0);
                expect_frames(part.omit_at, part.count - part.omit_at, part.omit_at + part.omitted);
                cr_assert(part.end);
            }
        }
    }
}

Test(front_door, self_recursion_costs_a_few_bytes)
{
    options = (struct sframe_backtrace_options){ 0 };
    room = 100;
    same(900, take);
    cr_expect(part.end);
    cr_expect(lt(sz, 900, part.count));
    expect_frames(0, part.count, 0);
    /* ... but counts frame by frame towards the limit. */
    options.max_frames = 100;
    same(900, take);
    cr_expect(eq(sz, part.count, 100));
    cr_expect(eq(int, info.end, SFB_FRAME_LIMIT));
}

Test(front_door, counts_frames_by_source)
{
    uint32_t sum = 0;

    run(30, (struct sframe_backtrace_options){ 0 });
    for (unsigned s = 0; s < SFB_SOURCE_COUNT; s++)
        sum += info.by_source[s];
    cr_expect(eq(u32, sum, info.frames));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_START], 1));
    cr_expect(ge(u32, info.by_source[SFB_SOURCE_SFRAME], 30));
}

static struct sframe_backtrace_info of_cbf, of_addresses;

/* With its own memo each, twice, and without: (of_cbf, of_addresses) are compared after each. */
static void take_both(void)
{
    static uint64_t memos[2][SFRAME_BACKTRACE_MEMO_SIZE(64) / 8];
    void *addresses[256];

    for (volatile int i = 0; i < 3; i++) {
        for (volatile int door = 0; door < 2; door++) {
            struct sframe_backtrace_options how = SFRAME_BACKTRACE_OPTIONS_INIT;
            struct sframe_backtrace_info *what = door ? &of_addresses : &of_cbf;

            how.skip = options.skip;
            how.memo = i > 0 ? memos[door] : NULL;
            how.memo_size = sizeof memos[door];
            *what = (struct sframe_backtrace_info)SFRAME_BACKTRACE_INFO_INIT;
            if (door)
                sframe_backtrace_addresses(addresses, 256, &how, what);
            else
                sframe_backtrace_cbf(buffer, sizeof buffer, &how, what);
        }
        cr_expect(eq(int, memcmp(&of_cbf, &of_addresses, sizeof of_cbf), 0), "%d", i);
        cr_expect(eq(u32, of_addresses.memo_used, i > 0));
        cr_expect(lt(u32, 20, of_addresses.frames));
    }
}

Test(front_door, tells_the_same_of_addresses_as_of_cbf)
{
    for (unsigned skip = 0; skip < 3; skip++) {
        options.skip = skip;
        even(30, take_both);
    }
}

static void take_with_memos(void)
{
    static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(64) / 8];
    static const struct {
        const char *name;
        size_t from, size; /* of the memo */
        uint32_t flags, used;
    } cases[] = {
        { "none", 0, 0, 0, 0 },
        { "good", 0, sizeof memo, 0, 1 },
        { "the smallest", 0, SFRAME_BACKTRACE_MEMO_SIZE(1), 0, 1 },
        { "too small", 0, SFRAME_BACKTRACE_MEMO_SIZE(1) - 1, 0, 0 },
        { "misaligned", 4, sizeof memo - 8, 0, 0 },
        { "with doubt", 0, sizeof memo, SFRAME_BACKTRACE_DOUBT, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(memo, 0, sizeof memo);
        options = (struct sframe_backtrace_options)SFRAME_BACKTRACE_OPTIONS_INIT;
        options.memo = cases[i].size ? (uint8_t *)memo + cases[i].from : NULL;
        options.memo_size = cases[i].size;
        options.flags = cases[i].flags;
        cr_expect(lt(int, 0, (int)capture(buffer, sizeof buffer, &options, &info)));
        cr_expect(eq(u32, info.memo_used, cases[i].used), "%s", cases[i].name);
    }
}

Test(front_door, tells_whether_a_memo_is_used)
{
    even(10, take_with_memos);
}

Test(front_door, judges_its_arguments)
{
    static const struct {
        const char *name;
        struct sframe_backtrace_options options;
        ssize_t want; /* 1: a backtrace */
    } cases[] = {
        { "good", { .size = sizeof options }, 1 },
        { "size 0", { .size = 0 }, -SFB_NO_SIZE },
        { "size of no struct", { .size = sizeof options - 1 }, -SFB_NO_SIZE },
        { "unknown flag", { .size = sizeof options, .flags = 0x8000 }, -SFB_BAD_ARGUMENT },
        { "outermost above max",
          { .size = sizeof options, .max_frames = 3, .outermost = 4 },
          -SFB_BAD_ARGUMENT },
        { "outermost alone", { .size = sizeof options, .outermost = 4 }, 1 },
        { "all outermost", { .size = sizeof options, .max_frames = 4, .outermost = 4 }, 1 },
    };
    struct sframe_backtrace_info small = { .size = 4 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ssize_t n = sframe_backtrace_cbf(buffer, sizeof buffer, &cases[i].options, NULL);

        cr_expect(eq(int, n > 0 ? 1 : (int)n, (int)cases[i].want), "%s", cases[i].name);
    }
    cr_expect(eq(int, (int)sframe_backtrace_cbf(NULL, 100, NULL, NULL), -SFB_BAD_ARGUMENT));
    cr_expect(eq(int, (int)sframe_backtrace_cbf(buffer, 100, NULL, &small), -SFB_NO_SIZE));
    cr_expect(eq(int, (int)sframe_backtrace_cbf(buffer, 1, NULL, NULL), -SFB_BUFFER_TOO_SMALL));
    cr_expect(eq(int, (int)sframe_backtrace_cbf(buffer, 0, NULL, NULL), -SFB_BUFFER_TOO_SMALL));
    cr_expect(eq(int, (int)sframe_backtrace_cbf(buffer, 2, NULL, NULL), 2), "info byte and trunc");
    cr_expect(eq(int, buffer[1], 1));
}

Test(front_door, leaves_errno_alone)
{
    options = (struct sframe_backtrace_options){ 0 };
    room = sizeof buffer;
    errno = 4711;
    even(10, take);
    cr_expect(eq(int, errno, 4711));
}
