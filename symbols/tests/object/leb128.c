#include "util/leb128.h"

#include "base/leb128.h"
#include "support/test.h"

/* Examples of DWARF 5, tables 7.7 and 7.8, and the ends of what 64 bits say. */
Test(leb128, writes_the_examples_of_its_standard)
{
    static const struct {
        int64_t value;
        const char *bytes;
        size_t size;
        bool is_signed;
    } cases[] = {
        { 0, "\x00", 1, false },
        { 2, "\x02", 1, false },
        { 127, "\x7f", 1, false },
        { 128, "\x80\x01", 2, false },
        { 129, "\x81\x01", 2, false },
        { 12857, "\xb9\x64", 2, false },
        { -1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, false }, /* UINT64_MAX */
        { 0, "\x00", 1, true },
        { 2, "\x02", 1, true },
        { -2, "\x7e", 1, true },
        { 63, "\x3f", 1, true },
        { 64, "\xc0\x00", 2, true },
        { -64, "\x40", 1, true },
        { -65, "\xbf\x7f", 2, true },
        { 127, "\xff\x00", 2, true },
        { -127, "\x81\x7f", 2, true },
        { 128, "\x80\x01", 2, true },
        { -128, "\x80\x7f", 2, true },
        { INT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, true },
        { INT64_MIN, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t out[SFB_LEB128_MAX];
        const size_t size = cases[i].is_signed ? sfb_sleb_put(out, cases[i].value)
                                               : sfb_uleb_put(out, (uint64_t)cases[i].value);

        cr_assert_eq(size, cases[i].size, "%ld", (long)cases[i].value);
        cr_expect_arr_eq(out, cases[i].bytes, size, "%ld", (long)cases[i].value);
    }
}

/* Around each power of two: the reader of the library takes what is written, and all of it. */
Test(leb128, is_read_back)
{
    for (unsigned bit = 0; bit < 64; bit++)
        for (int step = -1; step <= 1; step++) {
            const uint64_t value = ((uint64_t)1 << bit) + (uint64_t)step;
            uint8_t out[SFB_LEB128_MAX];
            struct sfb_reader unsigned_one = { .pos = out, .left = sfb_uleb_put(out, value) };

            cr_expect_eq(sfb_reader_uleb(&unsigned_one), value, "%lx", (long)value);
            cr_expect_not(unsigned_one.failed);
            cr_expect_eq(unsigned_one.left, 0);

            struct sfb_reader signed_one = { .pos = out,
                                             .left = sfb_sleb_put(out, (int64_t)value) };

            cr_expect_eq(sfb_reader_sleb(&signed_one), (int64_t)value, "%lx", (long)value);
            cr_expect_not(signed_one.failed);
            cr_expect_eq(signed_one.left, 0);
        }
}
