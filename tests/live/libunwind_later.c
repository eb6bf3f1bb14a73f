/*
 * A libunwind that is newer than this library: each member of the accessors that it may call is
 * there, and one that is not known turns the fallback off, instead of being believed.
 */
#include <stdio.h>

#include "live/libs/later_libunwind.h"
#include "support/odd_capture.h"

static struct later_libunwind *later;

static void find_later(void)
{
    static void *library; /* stays */
    void *symbol = NULL;

    library = dlopen(SFB_ARCH_LIBUNWIND, RTLD_NOW | RTLD_NOLOAD);
    if (library)
        symbol = dlsym(library, "later_libunwind");
    cr_assert(symbol != NULL, "the test means something: the later one is loaded");
    later = symbol;
}

Test(libunwind_later, whose_accessors_are_not_known_is_off)
{
    const struct sframe_backtrace_info *info;

    find_later();
    cr_expect(eq(u32, later->missing, 0), "members that are NULL");
    later->unknown = LATER_UNKNOWN;
    info = odd_capture();
    cr_expect(eq(u32, later->steps, 1), "it was asked");
    cr_expect(eq(int, later->file_name, -UNW_ENOINFO));
    cr_expect(eq(int, later->ip_range, -UNW_ENOINFO));
    cr_expect(eq(u64, later->mask, ~SFB_ARCH_CODE_MASK));
    cr_expect(eq(u32, info->by_source[SFB_SOURCE_LIBUNWIND], 0), "and not believed");
    cr_expect(ne(int, info->end, SFB_END));
    fprintf(stderr, "libunwind_later: the walk ended: %s\n", sfb_status_str(info->end));

    info = odd_capture();
    cr_expect(eq(u32, later->steps, 1), "nor asked again");
    cr_expect(eq(u32, info->by_source[SFB_SOURCE_LIBUNWIND], 0));
}

Test(libunwind_later, that_calls_the_last_of_them_is_off)
{
    find_later();
    later->unknown = LATER_MEMBERS - 1;
    cr_expect(eq(u32, odd_capture()->by_source[SFB_SOURCE_LIBUNWIND], 0));
    cr_expect(eq(u32, later->steps, 1));
}
