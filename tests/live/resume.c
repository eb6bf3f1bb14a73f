/*
 * A walk that goes on: what it refuses, and where it ends. (That its frames are those of one walk, strides.c and
 * single_step.c show.)
 */
#include <signal.h>
#include <string.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"

enum { PART = 3, FRAMES = 64 };

static struct sframe_backtrace_resume state;
static void *whole[FRAMES], *part[FRAMES];
static volatile int sink;
static ssize_t result;

/* From the caller on. */
NOINLINE static ssize_t take(void **out, size_t count, struct sframe_backtrace_info *info)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    options.skip = 1;
    options.resume = &state;
    count = (size_t)sframe_backtrace_addresses(out, count, &options, info);
    sink++;
    return (ssize_t)count;
}

typedef void inner_fn(void);

NOINLINE static void deep(unsigned depth, inner_fn *inner)
{
    if (depth > 0)
        deep(depth - 1, inner);
    else
        inner();
    sink++;
}

/* As deep() is, with frames of another size, which overwrite what deep() left. */
NOINLINE static void other(unsigned depth, inner_fn *inner)
{
    char space[400];

    memset(space, 1, sizeof space);
    KEEP_WHOLE(space);
    if (depth > 0)
        other(depth - 1, inner);
    else
        inner();
    sink += space[depth];
}

NOINLINE static void stop_here(void)
{
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;

    memset(&state, 0, sizeof state);
    cr_expect(eq(long, take(part, PART, &info), PART));
    cr_expect(eq(int, (int)info.end, SFB_FRAME_LIMIT));
}

NOINLINE static void stop_and_go_on(void)
{
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    ssize_t count = 0, more;
    int all = sframe_backtrace(whole, FRAMES);

    memset(&state, 0, sizeof state);
    do {
        more = take(part + count, PART, &info);
        cr_assert(more > 0);
        count += more;
    } while (info.end == SFB_FRAME_LIMIT && count <= FRAMES - PART);
    cr_assert(eq(long, count, all));
    /* The first one's call is another. */
    cr_expect(eq(int, memcmp(part + 1, whole + 1, (size_t)(all - 1) * sizeof *part), 0));
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(long, take(part, PART, &info), 0), "all were given");
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(int, (int)info.frames, 0));
}

Test(resume, gives_each_frame_once_and_then_none)
{
    deep(20, stop_and_go_on);
}

NOINLINE static ssize_t go_on_deeper(unsigned depth, void **out)
{
    ssize_t count = depth > 0 ? go_on_deeper(depth - 1, out) : take(out, FRAMES, NULL);

    sink++;
    return count;
}

NOINLINE static void stop_then_go_on_deeper(void)
{
    void *first[FRAMES], *second[FRAMES];
    struct sframe_backtrace_resume copy;
    ssize_t count;

    stop_here();
    copy = state;
    count = take(first, FRAMES, NULL);
    state = copy;
    cr_expect(count > 0);
    cr_expect(eq(long, go_on_deeper(5, second), count), "from a callee, by a copy");
    cr_expect(eq(int, memcmp(first, second, (size_t)count * sizeof *first), 0));
}

Test(resume, goes_on_from_any_callee_by_a_copy)
{
    deep(20, stop_then_go_on_deeper);
}

Test(resume, refuses_a_frame_that_has_returned)
{
    deep(20, stop_here);
    cr_expect(eq(long, take(part, FRAMES, NULL), -SFB_STACK_CHANGED));
}

NOINLINE static void go_on_here(void)
{
    result = take(part, FRAMES, NULL);
}

Test(resume, refuses_a_frame_with_another_return_address)
{
    deep(20, stop_here);
    /* Deeper than before: the frame's place is on the stack again. */
    other(40, go_on_here);
    cr_expect(eq(long, result, -SFB_STACK_CHANGED));
}

Test(resume, refuses_states_that_no_call_filled)
{
    memset(&state, 0x5a, sizeof state);
    cr_expect(eq(long, take(part, FRAMES, NULL), -SFB_BAD_ARGUMENT));
}

Test(resume, is_not_for_outermost_frames)
{
    uint8_t buffer[512];
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    memset(&state, 0, sizeof state);
    options.resume = &state;
    options.max_frames = 8;
    options.outermost = 4;
    cr_expect(
        eq(long, sframe_backtrace_cbf(buffer, sizeof buffer, &options, NULL), -SFB_BAD_ARGUMENT));
}

Test(resume, writes_a_cbf_without_frames_behind_the_end)
{
    uint8_t buffer[512];
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    ssize_t size;

    memset(&state, 0, sizeof state);
    options.resume = &state;
    cr_expect(sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info) > 2);
    cr_expect(eq(int, (int)info.end, SFB_END));
    size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    cr_expect(eq(long, size, 2), "the info byte, and an end");
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(int, (int)info.frames, 0));
}
