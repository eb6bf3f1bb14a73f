#include "util/base_name.h"

#include "support/test.h"

Test(base_name, stands_behind_the_last_slash)
{
    static const struct {
        const char *path, *want;
    } cases[] = {
        { "/usr/lib/libc.so.6", "libc.so.6" },
        { "a/b", "b" },
        { "libc.so.6", "libc.so.6" },
        { "[vdso]", "[vdso]" },
        { "/", "" },
        { "folder/", "" },
        { "//x", "x" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(sfb_base_name(cases[i].path), cases[i].want, "%s", cases[i].path);
}
