/* Patterns of suppressions: as compiler-rt's TemplateMatch() answers. */
#include "report/suppressions.h"

#include <string.h>

#include "support/test.h"

Test(suppressions, match_as_those_of_leak_sanitizer)
{
    static const struct {
        const char *pattern, *text;
        bool want;
    } cases[] = {
        { "foo", "foo", true },
        { "foo", "xfoox", true },
        { "foo", "fo", false },
        { "foo", "", false },
        { "", "x", true },
        { "", "", false },
        { "*", "", false },
        { "*", "x", true },
        { "^foo", "foobar", true },
        { "^foo", "xfoo", false },
        { "foo$", "xfoo", true },
        { "foo$", "foox", false },
        { "^foo$", "foo", true },
        { "^foo$", "foofoo", false },
        { "f*o", "f--o", true },
        { "f*o", "of", false },
        { "^f*o$", "f--o", true },
        { "^f*o$", "xf--o", false },
        { "^*o", "xo", true },
        { "a*b*c", "1a2b3c4", true },
        { "a*b*c", "1a2c3b4", false },
        { "libc.so*", "/lib/libc.so.6", true },
        { "foo*$", "foox", true },
        /* Behind `$` nothing is looked at. */
        { "foo$bar", "foo", true },
        /* The first place is taken that is there: no other is tried. */
        { "foo$", "foofoo", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(eq(int, report_suppression_is_in(cases[i].pattern, cases[i].text), cases[i].want),
                  "'%s' in '%s'", cases[i].pattern, cases[i].text);
}

Test(suppressions, read_lines)
{
    struct report_suppressions s;
    size_t line;

    cr_assert(report_suppressions_read(&s, "#x\n\n leak:a b \t\r\nleak:\nleak:^c$", &line));
    cr_assert(eq(sz, s.all.count, 3));
    cr_expect(strcmp(s.all.at[0].pattern, "a b") == 0);
    cr_expect(eq(sz, s.all.at[0].line, 3));
    cr_expect(strcmp(s.all.at[1].pattern, "") == 0);
    cr_expect(strcmp(s.all.at[2].pattern, "^c$") == 0);
    report_suppressions_free(&s);
    cr_expect(not(report_suppressions_read(&s, "leak:a\nleaks:b\n", &line)));
    cr_expect(eq(sz, line, 2));
    report_suppressions_free(&s);
}
