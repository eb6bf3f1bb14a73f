/* Counted nouns: one is a singular, and all else a plural. */
#include "util/counted.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    uint64_t count;
    const char *plural, *want;
} cases[] = {
    { 0, "stacks", "0 stacks" },
    { 1, "stacks", "1 stack" },
    { 2, "stacks", "2 stacks" },
    { UINT64_MAX, "stacks", "18446744073709551615 stacks" },
    { 1, "processes", "1 process" },
    { 1, "branches", "1 branch" },
    { 1, "libraries", "1 library" },
    { 1, "boxes", "1 box" },
    { 1, "sizes", "1 size" },
    { 1, "lost records", "1 lost record" },
    { 1, "frees of blocks", "1 free of blocks" },
    { 1, "samples: the thread's ring was full", "1 sample: the thread's ring was full" },
    { 1, "stacks are cut off", "1 stack is cut off" },
    { 2, "stacks are cut off", "2 stacks are cut off" },
    { 1, "processes have no agent", "1 process has no agent" },
    { 1, "rows were compared", "1 row was compared" },
    { 1, "blocks areas", "1 block areas" },
    { 1, "ms of CPU time", "1 ms of CPU time" },
    { 1, "", "1 " },
};

Test(counted, judges_each_case)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(counted(cases[i].count, cases[i].plural).text, cases[i].want);
    cr_expect_str_eq(counted_noun(1, "blocks").text, "block");
    cr_expect_str_eq(counted_noun(0, "blocks").text, "blocks");
}

/* Room is fixed: what is longer is cut, and ends. */
Test(counted, cuts_what_is_too_long)
{
    char plural[400];
    struct counted c;

    memset(plural, 'a', sizeof plural);
    memcpy(plural, "stacks ", 7);
    plural[sizeof plural - 1] = '\0';
    c = counted(1, plural);
    cr_expect(strncmp(c.text, "1 stack aaa", 11) == 0, "%s", c.text);
    cr_expect(strlen(c.text) < sizeof c.text);
}
