#include "util/base64.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "util/base64_group.h"

/* The vectors of RFC 4648, 10, and a byte of each kind. */
static const struct {
    const char *bytes;
    size_t size;
    const char *text;
} vectors[] = {
    { "", 0, "" },
    { "f", 1, "Zg==" },
    { "fo", 2, "Zm8=" },
    { "foo", 3, "Zm9v" },
    { "foob", 4, "Zm9vYg==" },
    { "fooba", 5, "Zm9vYmE=" },
    { "foobar", 6, "Zm9vYmFy" },
    { "\0\0\0", 3, "AAAA" },
    { "\xff\xff\xff", 3, "////" },
    { "\xfb\xef\xbe", 3, "++++" },
};

enum { VECTORS = sizeof vectors / sizeof *vectors };

/* @return what is written of bytes; to be freed */
static char *text_of(const char *bytes, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);

    cr_assert_not_null(to);
    base64_print(to, (const uint8_t *)bytes, size);
    fclose(to);
    cr_expect_eq(length, BASE64_SIZE(size));
    return text;
}

Test(base64, writes_the_vectors_of_its_standard)
{
    for (size_t i = 0; i < VECTORS; i++) {
        char *text = text_of(vectors[i].bytes, vectors[i].size);

        cr_expect_str_eq(text, vectors[i].text);
        free(text);
    }
}

/* What lies behind the bytes is not read: it is a copy of as many bytes. */
Test(base64, writes_a_group_of_what_is_left)
{
    for (size_t i = 0; i < VECTORS; i++)
        for (size_t at = 0; at < vectors[i].size; at += 3) {
            const size_t left = vectors[i].size - at;
            uint8_t *bytes = malloc(left);
            char group[SFB_BASE64_GROUP];

            cr_assert_not_null(bytes);
            memcpy(bytes, vectors[i].bytes + at, left);
            sfb_base64_group(group, bytes, left);
            cr_expect_arr_eq(group, vectors[i].text + at / 3 * 4, sizeof group, "%s at %zu",
                             vectors[i].text, at);
            free(bytes);
        }
}

Test(base64, reads_what_it_writes)
{
    for (size_t i = 0; i < VECTORS; i++) {
        const size_t size = strlen(vectors[i].text);
        uint8_t bytes[16];
        size_t count = 99;

        cr_assert_eq(base64_length(vectors[i].text, size), size);
        cr_assert_null(base64_read(vectors[i].text, size, bytes, &count));
        cr_assert_eq(count, vectors[i].size);
        cr_expect_arr_eq(bytes, vectors[i].bytes, count);
    }
}

Test(base64, names_what_is_wrong)
{
    static const struct {
        const char *text, *cause;
    } cases[] = {
        { "Z", "base64 that is cut off" },
        { "Zg", "base64 that is cut off" },
        { "Zg=", "base64 that is cut off" },
        { "Zh==", "base64 with bits behind its end" },
        { "Zm9=", "base64 with bits behind its end" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[8];
        size_t count;
        const char *cause = base64_read(cases[i].text, strlen(cases[i].text), bytes, &count);

        cr_assert_not_null(cause, "%s", cases[i].text);
        cr_expect_str_eq(cause, cases[i].cause);
    }
}
