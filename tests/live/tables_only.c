/*
 * Walks without libunwind, in every build: right as far as tables and frame records reach, and then
 * an honest `trunc`. (Where frame records reach the end: frame_records_aarch64.c.) The oracle is
 * libgcc, as glibc's backtrace() uses it. (Not backtrace() itself: sanitizers put one of their own
 * before it.)
 */
#include <stdlib.h>
#include <unwind.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"
#include "unwind/arch.h"

static volatile int sink;
static const struct sframe_backtrace_options by_tables = { .size = sizeof by_tables,
                                                           .flags = SFRAME_BACKTRACE_NO_LIBUNWIND };

struct list {
    uintptr_t address[128];
    int count;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *context, void *arg)
{
    struct list *list = arg;

    if (list->count == 128)
        return _URC_END_OF_STACK;
    list->address[list->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* Both from one frame; @return how many frames of ours there are, after the first */
NOINLINE static unsigned compare_with_backtrace(void)
{
    struct sframe_backtrace_info info = { .size = sizeof info };
    struct sfb_cbf_decoder_options expand = { .size = sizeof expand, .flags = SFB_CBF_EXPAND };
    struct sfb_cbf_decoder d;
    struct sfb_cbf_item item;
    uint8_t buffer[1024];
    struct list theirs = { .count = 0 };
    ssize_t size = sframe_backtrace_cbf(buffer, sizeof buffer, &by_tables, &info);
    int n = 0;

    _Unwind_Backtrace(collect, &theirs);

    cr_assert(gt(int, (int)size, 0));
    cr_assert(eq(int, sfb_cbf_decoder_init(&d, buffer, (size_t)size, &expand, NULL), SFB_OK));
    for (; sfb_cbf_decoder_next(&d, &item, NULL) == SFB_OK; n++) {
        cr_assert(lt(int, n, theirs.count));
        /* The first frames are two calls of one function. */
        cr_expect(n == 0 || item.value == theirs.address[n], "frame %d", n);
    }
    cr_expect(sfb_cbf_decoder_truncated(&d));
    /* clang links the sanitizers' runtime, which has no rows, into the program, which has. */
    if (SFB_ARCH_FRAME_RECORDS) /* through libraries and back: this program's code keeps none */
        cr_expect(eq(int, info.end, SFB_NO_REGISTER));
    else
        cr_expect(info.end == SFB_NO_SECTION || (sanitized() && info.end == SFB_NO_FDE), "%s",
                  sfb_status_str(info.end));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_LIBUNWIND], 0));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_SFRAME] + info.by_source[SFB_SOURCE_FRAME_POINTER],
                 (uint32_t)n - 1));
    cr_expect(SFB_ARCH_FRAME_RECORDS || info.by_source[SFB_SOURCE_FRAME_POINTER] == 0);
    return (unsigned)n - 1;
}

NOINLINE static unsigned deep(int depth)
{
    unsigned n = depth > 0 ? deep(depth - 1) : compare_with_backtrace();

    sink++;
    return n;
}

Test(tables_only, right_until_the_first_module_without_a_section)
{
    cr_expect(ge(u32, deep(50), 51));
}

static unsigned in_comparator;

static int compare(const void *a, const void *b)
{
    in_comparator = compare_with_backtrace();
    return *(const int *)a - *(const int *)b;
}

Test(tables_only, stop_at_libc_on_the_way)
{
    int v[] = { 2, 1 };

    qsort(v, 2, sizeof *v, compare);
    cr_expect(ge(u32, in_comparator, 1));
    cr_expect(le(u32, in_comparator, 4), "qsort has no .sframe");
}
