#include "util/proc_stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/test.h"

Test(proc_stat, finds_words_behind_the_name)
{
    static const struct {
        const char *text;
        unsigned number;
        const char *want; /* the rest of the text; NULL: none */
    } cases[] = {
        { "12 (sh) S 7 8\n", 3, "S 7 8\n" },
        { "12 (sh) S 7 8\n", 4, "7 8\n" },
        { "12 (sh) S 7 8\n", 5, "8\n" },
        { "12 (sh) S 7 8\n", 6, NULL },
        { "12 (a b) R 3) Z 9\n", 3, "Z 9\n" },
        { "12 (()) R 3\n", 4, "3\n" },
        { "12 () T 3\n", 3, "T 3\n" },
        { "12 (sh", 3, NULL },
        { "12 (sh)", 3, NULL },
        { "12 (sh) ", 3, "" },
        { "", 3, NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *word = sfb_proc_stat_word(cases[i].text, cases[i].number);

        cr_assert_eq(word == NULL, cases[i].want == NULL, "%s", cases[i].text);
        if (word)
            cr_expect_str_eq(word, cases[i].want, "%s", cases[i].text);
    }
}

Test(proc_stat, finds_the_parent_in_what_the_kernel_writes)
{
    FILE *file = fopen("/proc/self/stat", "re");
    char text[1024];
    const char *word;
    size_t size;

    cr_assert_not_null(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    word = sfb_proc_stat_word(text, 4);
    cr_assert_not_null(word);
    cr_expect_eq(strtol(word, NULL, 10), (long)getppid());
    cr_expect_not_null(sfb_proc_stat_word(text, 22));
}
