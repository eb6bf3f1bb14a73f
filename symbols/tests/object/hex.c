#include "util/hex.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "util/hex_text.h"

Test(object_hex, knows_digits_of_either_case_and_no_other_character)
{
    static const char digits[] = "0123456789abcdefABCDEF";

    for (int c = -128; c < 128; c++) {
        const char *at = c ? memchr(digits, (uint8_t)c, sizeof digits - 1) : NULL;
        const int want = at ? (int)(at - digits) - (at - digits > 15 ? 6 : 0) : -1;

        cr_expect(eq(int, hex_digit((char)c), want), "%d", c);
    }
}

Test(object_hex, reads_numbers_up_to_their_end)
{
    static const struct {
        const char *text;
        size_t size, digits;
        uint64_t value;
    } cases[] = {
        { "0", 1, 1, 0 },
        { "7fFf-8000", 9, 4, 0x7fff },
        { "7fff", 2, 2, 0x7f }, /* what lies behind is not read */
        { "ffffffffffffffff", 16, 16, UINT64_MAX },
        { "0000000000000000000000012", 25, 25, 0x12 },
        { "10000000000000000", 17, 0, 77 }, /* 65 bits */
        { "", 0, 0, 77 },
        { "0x1", 3, 1, 0 },
        { "-1", 2, 0, 77 },
        { " 1", 2, 0, 77 },
        { "g", 1, 0, 77 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 77;

        cr_expect(eq(sz, hex_number(cases[i].text, cases[i].size, &value), cases[i].digits), "%s",
                  cases[i].text);
        cr_expect(eq(u64, value, cases[i].value), "%s", cases[i].text);
    }
}

Test(object_hex, says_which_character_of_bytes_is_wrong)
{
    static const struct {
        const char *text, *cause;
        size_t offset;
    } cases[] = {
        { "0g", "not a hexadecimal digit", 1 },
        { "00 x0", "not a hexadecimal digit", 3 },
        { "00 1", "a byte needs two hexadecimal digits", 3 },
        { "1 2", "a byte needs two hexadecimal digits", 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t text[16];
        size_t size = strlen(cases[i].text), offset = 77;
        const char *cause;

        memcpy(text, cases[i].text, size);
        cause = hex_bytes(text, &size, &offset);
        cr_assert_not_null(cause, "%s", cases[i].text);
        cr_expect_str_eq(cause, cases[i].cause);
        cr_expect(eq(sz, offset, cases[i].offset), "%s", cases[i].text);
    }
}

Test(object_hex, reads_what_it_writes)
{
    uint8_t bytes[256], text[3 * sizeof bytes + 1];
    char written[2 * sizeof bytes + 1];
    size_t size = 0, at;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    sfb_hex_text(written, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) /* a line a byte */
        size += (size_t)sprintf((char *)text + size, "%.2s\n", written + 2 * i);
    cr_expect_null(hex_bytes(text, &size, &at));
    cr_assert(eq(sz, size, sizeof bytes));
    cr_expect(eq(int, memcmp(text, bytes, size), 0));
}
