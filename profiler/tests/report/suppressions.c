/* Patterns of suppressions: as compiler-rt's TemplateMatch() answers. */
#include "profiler/report/model/suppressions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/report/model/pattern.h"
#include "support/run.h"
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
        cr_expect(eq(int, report_pattern_is_in(cases[i].pattern, cases[i].text), cases[i].want),
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

/* What LeakSanitizer itself suppresses of a program that leaks a block in each of four functions. */
Test(suppressions, are_those_of_leak_sanitizer_itself)
{
#ifndef REPORT_LEAKS
    cr_skip_test("there is no -fsanitize=leak, or another sanitizer is in");
#else
    static const char *const functions[] = { "Zq_Zq", "XZq", "ZqX", "ZaZbZc" };
    static const char *const patterns[] = {
        "Zq",    "^Zq",   "Zq$",  "^Zq$",   "Zq*$",     "^*qX",   "Za*Zc",  "Za*Zd",
        "^Za*Z", "ZbZc$", "ZbZ$", "Zq$bar", "^ZqX$",    "^XZq*",  "*qX$",   "^Zq_Zq$",
        "q_*q$", "Zq_*$", "^^Zq", "Z*Z*Z",  "^Z*Z*Zc$", "Za*b*c", "**Zb**", "$Zq",
    };
    char file[] = "/tmp/sfb-suppressions-XXXXXX";
    const int fd = mkstemp(file);

    cr_assert(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct run run = run_line("printf 'leak:%%s\\n' '%s' > %s && "
                                  "LSAN_OPTIONS=suppressions=%s:print_suppressions=0 '%s'",
                                  patterns[i], file, file, REPORT_LEAKS);

        if (strstr(run.err, "LeakSanitizer has encountered a fatal error")) {
            run_free(&run);
            unlink(file);
            cr_skip_test("LeakSanitizer does not work here: it is traced, or may not trace");
        }
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
            char frame[64];

            snprintf(frame, sizeof frame, " in %s ", functions[k]);
            cr_expect(eq(int, strstr(run.err, frame) == NULL,
                         report_pattern_is_in(patterns[i], functions[k])),
                      "leak:%s and %s: %s", patterns[i], functions[k], run.err);
        }
        run_free(&run);
    }
    unlink(file);
#endif
}
