/*
 * Walks without libunwind, in every build: by .sframe and .eh_frame alone to the outermost frame.
 * The oracle is libgcc, as glibc's backtrace() uses it. (Not backtrace() itself: sanitizers put one
 * of their own before it.)
 */
#include <stdlib.h>
#include <unwind.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"

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

    cr_assert(lt(int, 0, (int)size));
    cr_assert(eq(int, sfb_cbf_decoder_init(&d, buffer, (size_t)size, &expand, NULL), SFB_OK));
    for (; sfb_cbf_decoder_next(&d, &item, NULL) == SFB_OK; n++) {
        cr_assert(lt(int, n, theirs.count));
        /* The first frames are two calls of one function. */
        cr_expect(n == 0 || item.value == theirs.address[n], "frame %d", n);
    }
    cr_expect(not(sfb_cbf_decoder_truncated(&d)));
    cr_expect(eq(int, info.end, SFB_END), "%s", sfb_status_str(info.end));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_SFRAME] + info.by_source[SFB_SOURCE_EH_FRAME],
                 (uint32_t)n - 1));
    cr_expect(lt(u32, 0, info.by_source[SFB_SOURCE_SFRAME]));
    cr_expect(lt(u32, 0, info.by_source[SFB_SOURCE_EH_FRAME]));
    return (unsigned)n - 1;
}

NOINLINE static unsigned deep(int depth)
{
    unsigned n = depth > 0 ? deep(depth - 1) : compare_with_backtrace();

    sink++;
    return n;
}

Test(tables_only, reach_the_outermost_frame)
{
    cr_expect(ge(u32, deep(50), 51));
}

static unsigned in_comparator;

static int compare(const void *a, const void *b)
{
    in_comparator = compare_with_backtrace();
    return *(const int *)a - *(const int *)b;
}

Test(tables_only, cross_libc_on_the_way)
{
    int v[] = { 2, 1 };

    qsort(v, 2, sizeof *v, compare);
    cr_expect(ge(u32, in_comparator, 5));
}
