/* SECURITY.md: each line of its tables names tests, and they are there. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

enum { PATH_ROOM = 512, LINES_LEAST = 20 };

/* "fuzz.NAME": a target with a corpus. */
static void judge_target(const char *name)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, SFB_SOURCE_DIR "/tests/fuzz/fuzz_%s.c", name);
    cr_expect_eq(access(path, R_OK), 0, "no fuzz target %s", name);
    snprintf(path, sizeof path, SFB_SOURCE_DIR "/tests/fuzz/tests.cmake");
    {
        char *list = text_read(path), line[PATH_ROOM];

        snprintf(line, sizeof line, "sfb_fuzz(%s ", name);
        cr_expect_not_null(strstr(list, line), "fuzz.%s is not built", name);
        free(list);
    }
}

/* "FOLDER.FILE", with the case or without it. */
static void judge_test(char *name)
{
    char *file = strchr(name, '.'), *one, path[PATH_ROOM], has[PATH_ROOM], *text;

    cr_assert_not_null(file, "'%s' is no test", name);
    *file++ = '\0';
    if (strcmp(name, "fuzz") == 0) {
        judge_target(file);
        return;
    }
    one = strchr(file, '/');
    if (one)
        *one++ = '\0';
    snprintf(path, sizeof path, SFB_SOURCE_DIR "/tests/%s/%s.c", name, file);
    cr_expect_eq(access(path, R_OK), 0, "no test %s.%s", name, file);
    if (access(path, R_OK) != 0 || !one)
        return;
    text = text_read(path);
    snprintf(has, sizeof has, ", %s)", one);
    cr_expect_not_null(strstr(text, has), "%s.%s has no case %s", name, file, one);
    free(text);
}

/* @return whether the line is of a table, but for its head */
static bool judge_line(char *line)
{
    char *last, *name;
    int count = 0;

    if (strncmp(line, "| ", 2) != 0 || strncmp(line, "| what could happen ", 20) == 0)
        return false;
    last = strrchr(line, '|');
    *last = '\0';
    last = strrchr(line, '|');
    for (name = strchr(last, '`'); name; name = strchr(name, '`'), count++) {
        char *end = strchr(++name, '`');

        cr_assert_not_null(end, "%s", line);
        *end = '\0';
        judge_test(name);
        name = end + 1;
    }
    cr_expect_gt(count, 0, "no test in: %s", line);
    return true;
}

Test(security, lines_name_tests_that_are_there)
{
    char *page = text_read(SFB_SOURCE_DIR "/SECURITY.md");
    int lines = 0;

    for (char *rest = page, *line; (line = strsep(&rest, "\n"));)
        lines += judge_line(line);
    cr_expect_geq(lines, LINES_LEAST);
    free(page);
}
