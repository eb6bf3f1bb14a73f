/* SECURITY.md: each line of its tables names tests, and they are there. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

enum { PATH_ROOM = 512, LINES_LEAST = 20 };

/* @return which of the folders of tests has a file; NULL: none */
static const char *folder_of(const char *folder, const char *before, const char *name)
{
    static const char *const folders[] = { "tests",           "symbols/tests", "profiler/tests",
                                           "toolchain/tests", "cli/tests",     "remote/tests" };
    char path[PATH_ROOM];

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, SFB_SOURCE_DIR "/%s/%s/%s%s.c", folders[i], folder, before,
                 name);
        if (access(path, R_OK) == 0)
            return folders[i];
    }
    return NULL;
}

/* "fuzz.NAME": a target with a corpus. */
static void judge_target(const char *name)
{
    char path[PATH_ROOM], line[PATH_ROOM], *list;
    const char *folder = folder_of("fuzz", "fuzz_", name);

    cr_expect_not_null(folder, "no fuzz target %s", name);
    if (!folder)
        return;
    snprintf(path, sizeof path, SFB_SOURCE_DIR "/%s/fuzz/tests.cmake", folder);
    list = text_read(path);
    snprintf(line, sizeof line, "sfb_fuzz(%s ", name);
    cr_expect_not_null(strstr(list, line), "fuzz.%s is not built", name);
    free(list);
}

/* "FOLDER.FILE", with the case or without it. */
static void judge_test(char *name)
{
    char *file = strchr(name, '.'), *one, path[PATH_ROOM], has[PATH_ROOM], *text;
    const char *tests;

    cr_assert_not_null(file, "'%s' is no test", name);
    *file++ = '\0';
    if (strcmp(name, "fuzz") == 0) {
        judge_target(file);
        return;
    }
    one = strchr(file, '/');
    if (one)
        *one++ = '\0';
    tests = folder_of(name, "", file); /* NOLINT(readability-suspicious-call-argument) */
    cr_expect_not_null(tests, "no test %s.%s", name, file);
    if (!tests || !one)
        return;
    snprintf(path, sizeof path, SFB_SOURCE_DIR "/%s/%s/%s.c", tests, name, file);
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
