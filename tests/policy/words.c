/*
 * Prose is read once, and in a hurry: tests/policy/words.txt lists what makes a reader look back. None of it stands in pages,
 * public headers and the folders of FILES; words_except.txt has the exceptions. The rest of the profiler is to come: a room
 * is added to FILES when it holds.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

enum { EXCEPTIONS_MAX = 10 };

/*
 * The files of git. Left out: the page's bundle, which is made of the sources beside it; the texts of codes of `sfb check`,
 * which stand in SARIF and JSON byte for byte, and their table in CHECKS.md.
 */
#define FILES                                                                                      \
    "cd '%s' && git ls-files include src util symbols remote "                                     \
    "profiler toolchain cli contrib examples docs README.md CONTRIBUTING.md SECURITY.md | "        \
    "grep -E '[.](c|h|S|inc|md|js|css|html)$' | "                                                  \
    "grep -vE '/(tests|bench|test)/|codes_[a-z]+[.]inc|page/page[.]html'"

#define PATTERNS                                                                                   \
    "sed -nE '/^[^#]/s/\t.*//p' '" SFB_SOURCE_DIR "/tests/policy/words.txt' | "                    \
    "sed -E 's/^(.*)$/(^|[^A-Za-z_])(\\1)([^A-Za-z_]|$)/'"

/* A line of the exceptions: FILE, a part of the line, and why. */
static bool is_excepted(const char *found, char *exceptions)
{
    char *copy = strdup(exceptions);
    bool is = false;

    cr_assert_not_null(copy);
    for (char *rest = copy, *line; (line = strsep(&rest, "\n"));) {
        char *file = strsep(&line, "\t"), *part = strsep(&line, "\t");

        if (*file == '#' || *file == '\0')
            continue;
        cr_assert(part && line && *line, "%s: FILE, a tab, a part of the line, a tab, the reason",
                  file);
        is |= strncmp(found, file, strlen(file)) == 0 && strstr(found, part) != NULL;
    }
    free(copy);
    return is;
}

Test(words, are_read_once)
{
    char *exceptions = text_read(SFB_SOURCE_DIR "/tests/policy/words_except.txt");
    char *found = command_output(PATTERNS " >/tmp/sfb-words.$$ && " FILES
                                          " | xargs grep -inE -f /tmp/sfb-words.$$ | grep -v "
                                          "'CHECKS[.]md:[0-9]*:| SF0'; rm /tmp/sfb-words.$$",
                                 SFB_SOURCE_DIR);
    size_t excepted = 0;

    for (char *rest = found, *line; (line = strsep(&rest, "\n"));)
        if (*line && is_excepted(line, exceptions))
            excepted++;
        else
            cr_expect_str_eq(line, "", "tests/policy/words.txt: %.200s", line);
    cr_expect_leq(excepted, EXCEPTIONS_MAX);
    free(found);
    free(exceptions);
}

/* Each pattern finds what it is for. */
Test(words, are_found_at_all)
{
    static const char *const wrong[] = { "Who is asked",  "nobody knows",    "it is told of that",
                                         "there is none", "those that move", "say what it is",
                                         "is none",       "amid all this",   "to whom" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *found = command_output("echo '%s' >/tmp/sfb-word.$$ && " PATTERNS
                                     " | grep -icE -f - /tmp/sfb-word.$$; rm /tmp/sfb-word.$$",
                                     wrong[i]);

        cr_expect_str_eq(found, "1\n", "%s", wrong[i]);
        free(found);
    }
}
