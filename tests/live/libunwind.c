/*
 * libunwind steps where no table of ours makes a rule, whichever version of it was there when the
 * library was built and is there now: the matrix runs this with a library that another release built.
 */
#include <stdio.h>

#include "support/odd_capture.h"

Test(libunwind, steps_over_a_row_that_makes_no_rule)
{
    const struct sframe_backtrace_info *info = odd_capture();

    cr_expect(eq(u32, info->by_source[SFB_SOURCE_LIBUNWIND], 1));
    cr_expect(eq(int, info->end, SFB_END), "%s", sfb_status_str(info->end));
    cr_expect(lt(u32, 5, info->frames), "leaf, deep three times, and this");
    fprintf(stderr, "libunwind: %u frames, 1 of them by libunwind\n", info->frames);
}
