/* Names that are near a typed one. */
#include "util/nearest.h"

#include <string.h>

#include "support/test.h"

static size_t distance(const char *a, const char *b, size_t most)
{
    return edit_distance(a, strlen(a), b, strlen(b), most);
}

Test(nearest, counts_what_is_to_be_changed)
{
    static const struct {
        const char *a, *b;
        size_t want;
    } cases[] = {
        { "", "", 0 },
        { "a", "", 1 },
        { "top", "top", 0 },
        { "TOP", "top", 0 },
        { "tpo", "top", 1 },
        { "recrod", "record", 1 },
        { "reprot", "report", 1 },
        { "tree", "threads", 4 },
        { "abc", "xyz", 3 },
        { "ca", "abc", 3 }, /* a letter is moved once: not "ac", then "abc" */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(distance(cases[i].a, cases[i].b, 9), cases[i].want, "%s", cases[i].a);
        cr_expect_eq(distance(cases[i].b, cases[i].a, 9), cases[i].want, "%s", cases[i].a);
    }
    cr_expect_eq(distance("abcdef", "uvwxyz", 2), 3);
    cr_expect_eq(distance("a", "abcdef", 2), 3);
}

/* Texts of any length: none is longer than there is room for. */
Test(nearest, takes_long_names_for_far)
{
    char a[300], b[300];

    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    cr_expect_eq(edit_distance(a, 128, b, 128, 3), 0);
    cr_expect_eq(edit_distance(a, 129, b, 129, 3), 4);
    cr_expect_eq(edit_distance(a, 300, b, 300, 3), 4);
}

static struct nearest nearest_of(const char *typed, const char *const *names)
{
    struct nearest nearest;

    nearest_begin(&nearest, typed, strlen(typed));
    for (; *names; names++)
        nearest_add(&nearest, *names, *names);
    nearest_end(&nearest);
    return nearest;
}

Test(nearest, gives_the_nearest_first_and_none_twice)
{
    static const char *const names[] = { "aggregate", "tree", "three", "tres",
                                         "tree",      "free", "trees", NULL };
    struct nearest nearest = nearest_of("tree", names);

    cr_assert_eq(nearest.count, NEAREST_MAX);
    cr_expect_str_eq(nearest.names[0].name, "tree");
    cr_expect_str_eq(nearest.names[1].name, "three");
    cr_expect_str_eq(nearest.names[2].name, "tres");

    nearest = nearest_of("output-file", (const char *const[]){ "output", "input", NULL });
    cr_assert_eq(nearest.count, 1);
    cr_expect_str_eq(nearest.names[0].name, "output");

    nearest = nearest_of("xyz", names);
    cr_expect_eq(nearest.count, 0);
    nearest = nearest_of("", names);
    cr_expect_eq(nearest.count, 0);
}
