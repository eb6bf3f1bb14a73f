/* LEB128 numbers, DWARF 5 section 7.6, at their edges. */
#include "base/leb128.h"

#include "support/guarded.h"
#include "support/test.h"

enum { SIZE_MAX_HERE = 12 };

struct number {
    size_t size;
    uint8_t at[SIZE_MAX_HERE];
    uint64_t want;
};

#define EIGHTY_8 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
#define FF_8     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

/* The examples of DWARF 5, figures C.1 and C.2 among them. */
static const struct number unsigned_numbers[] = {
    { 1, { 0x00 }, 0 },
    { 1, { 0x02 }, 2 },
    { 1, { 0x7f }, 127 },
    { 2, { 0x80, 0x01 }, 128 },
    { 2, { 0x81, 0x01 }, 129 },
    { 2, { 0xb9, 0x64 }, 12857 },
    { 3, { 0x80, 0x80, 0x00 }, 0 }, /* padded */
    { 3, { 0xff, 0x80, 0x00 }, 127 },
    { 9, { FF_8, 0x7f }, INT64_MAX },
    { 10, { EIGHTY_8, 0x80, 0x01 }, (uint64_t)1 << 63 },
    { 10, { FF_8, 0xff, 0x01 }, UINT64_MAX },
    { 11, { FF_8, 0xff, 0x81, 0x00 }, UINT64_MAX },
    { 12, { EIGHTY_8, 0x80, 0x80, 0x80, 0x00 }, 0 },
};

static const struct number signed_numbers[] = {
    { 1, { 0x00 }, 0 },
    { 1, { 0x02 }, 2 },
    { 1, { 0x7e }, (uint64_t)-2 },
    { 1, { 0x3f }, 63 },
    { 1, { 0x40 }, (uint64_t)-64 },
    { 2, { 0xff, 0x00 }, 127 },
    { 2, { 0x81, 0x7f }, (uint64_t)-127 },
    { 2, { 0x80, 0x01 }, 128 },
    { 2, { 0x80, 0x7f }, (uint64_t)-128 },
    { 2, { 0xff, 0x7e }, (uint64_t)-129 },
    { 4, { 0xff, 0xff, 0xff, 0x7f }, (uint64_t)-1 }, /* padded */
    { 4, { 0x82, 0x80, 0x80, 0x00 }, 2 },
    { 9, { FF_8, 0x3f }, INT64_MAX >> 1 },
    { 10, { FF_8, 0xff, 0x00 }, INT64_MAX },
    { 10, { EIGHTY_8, 0x80, 0x7f }, (uint64_t)INT64_MIN },
    { 11, { EIGHTY_8, 0x80, 0xff, 0x7f }, (uint64_t)INT64_MIN },
    { 12, { FF_8, 0xff, 0xff, 0xff, 0x7f }, UINT64_MAX },
};

/* More than 64 bits. */
static const struct number too_wide_unsigned[] = {
    { 10, { EIGHTY_8, 0x80, 0x02 }, 0 },
    { 10, { FF_8, 0xff, 0x7f }, 0 },
    { 11, { EIGHTY_8, 0x80, 0x80, 0x01 }, 0 },
    { 12, { EIGHTY_8, 0x80, 0x80, 0x80, 0x40 }, 0 },
};
static const struct number too_wide_signed[] = {
    { 10, { EIGHTY_8, 0x80, 0x01 }, 0 },   { 10, { FF_8, 0xff, 0x7e }, 0 },
    { 10, { FF_8, 0xff, 0x01 }, 0 },       { 11, { EIGHTY_8, 0x80, 0x80, 0x7f }, 0 },
    { 11, { FF_8, 0xff, 0xff, 0x00 }, 0 },
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t leb128(struct sfb_reader *r, bool sign)
{
    return sign ? (uint64_t)sfb_reader_sleb(r) : sfb_reader_uleb(r);
}

static void expect_numbers(const struct number *numbers, size_t count, bool sign)
{
    struct guarded g = guarded_new(SIZE_MAX_HERE);

    for (size_t i = 0; i < count; i++)
        for (size_t size = 0; size <= numbers[i].size; size++) {
            const uint8_t *at = guarded_copy(&g, numbers[i].at, size);
            struct sfb_reader r = { .pos = at, .left = size };
            const uint64_t got = leb128(&r, sign);

            cr_expect(eq(int, r.failed, size < numbers[i].size), "%zu, %zu bytes", i, size);
            cr_expect(eq(u64, got, r.failed ? 0 : numbers[i].want), "%zu, %zu bytes", i, size);
            if (!r.failed)
                cr_expect(eq(sz, r.left, 0), "%zu", i);
        }
    guarded_free(&g);
}

static void expect_refused(const struct number *numbers, size_t count, bool sign)
{
    for (size_t i = 0; i < count; i++) {
        struct sfb_reader r = { .pos = numbers[i].at, .left = numbers[i].size };

        cr_expect(eq(u64, leb128(&r, sign), 0), "%zu", i);
        cr_expect(r.failed, "%zu", i);
    }
}

Test(leb128, reads_unsigned_numbers_and_refuses_every_proper_prefix)
{
    expect_numbers(unsigned_numbers, COUNT(unsigned_numbers), false);
}

Test(leb128, reads_signed_numbers_and_refuses_every_proper_prefix)
{
    expect_numbers(signed_numbers, COUNT(signed_numbers), true);
}

Test(leb128, refuses_what_64_bits_do_not_hold)
{
    expect_refused(too_wide_unsigned, COUNT(too_wide_unsigned), false);
    expect_refused(too_wide_signed, COUNT(too_wide_signed), true);
}

/* A number without an end is as long as the window. */
Test(leb128, ends_with_the_window)
{
    struct guarded g = guarded_new(4096);
    uint8_t padding[4096];

    memset(padding, 0x80, sizeof padding);
    for (int sign = 0; sign < 2; sign++) {
        struct sfb_reader r = { .pos = guarded_copy(&g, padding, sizeof padding),
                                .left = sizeof padding };

        cr_expect(eq(u64, leb128(&r, sign), 0));
        cr_expect(r.failed);
    }
    guarded_free(&g);
}
