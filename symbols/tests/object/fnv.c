#include "util/fnv.h"

#include <string.h>

#include "support/test.h"

/* Values that the authors of FNV publish for their test vectors. */
Test(fnv, is_what_its_authors_compute)
{
    static const struct {
        const char *text;
        uint64_t want;
    } cases[] = {
        { "", UINT64_C(0xcbf29ce484222325) },
        { "a", UINT64_C(0xaf63dc4c8601ec8c) },
        { "b", UINT64_C(0xaf63df4c8601f1a5) },
        { "foobar", UINT64_C(0x85944171f73967e8) },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(sfb_fnv(SFB_FNV_START, cases[i].text, strlen(cases[i].text)), cases[i].want,
                     "%s", cases[i].text);
}

Test(fnv, of_two_pieces_is_that_of_the_whole)
{
    cr_expect_eq(sfb_fnv(sfb_fnv(SFB_FNV_START, "foo", 3), "bar", 3),
                 sfb_fnv(SFB_FNV_START, "foobar", 6));
}
