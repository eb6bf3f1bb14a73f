/*
 * No test leaves a process behind, red or green: support/supervise.c runs every test and, for
 * `./dev test`, every ctest. What is started here hides or hangs on purpose.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

enum { LIMIT_OVER = 124, LEFT_SOMETHING = 125 };

static char folder[] = "/tmp/leftovers.XXXXXX";

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    free(command_output("rm -rf '%s'", folder));
}

TestSuite(leftovers, .init = make_folder, .fini = remove_folder);

/* Fails unless the process whose number is in the file pid has run, and is gone. */
static void expect_gone(void)
{
    char *text = text_read("pid");
    pid_t pid = atoi(text);

    cr_assert_gt(pid, 1, "nothing was started");
    cr_expect(kill(pid, 0) != 0 && errno == ESRCH, "process %d is left", (int)pid);
    free(text);
}

/* Runs a line of shell as the test `probe`, which has so many seconds. */
static struct command supervised(int seconds, const char *line)
{
    return command_run("%s %d probe sh -c '%s'", SFB_SUPERVISE, seconds, line);
}

/* Shell: starts a process that writes its number to pid, through env or setsid for one. */
#define HIDDEN(how) "(" how " sh -c \"echo \\$\\$ >pid; exec sleep 1234\" >/dev/null 2>&1 &); "
#define WAIT_FOR_IT "while [ ! -s pid ]; do sleep 0.01; done; "

Test(leftovers, hands_on_how_a_test_ended)
{
    cr_expect_eq(supervised(10, "exit 0").status, 0);
    cr_expect_eq(supervised(10, "exit 3").status, 3);
    cr_expect_eq(supervised(10, "exit 77").status, 77);
    cr_expect_eq(supervised(10, "kill -SEGV $$").status, 128 + SIGSEGV);
}

Test(leftovers, names_and_kills_what_a_green_test_left)
{
    struct command got = supervised(10, HIDDEN("setsid") WAIT_FOR_IT "exit 0");

    cr_expect_eq(got.status, LEFT_SOMETHING, "%d", got.status);
    cr_expect_not_null(strstr(got.output, "left by probe: process"), "%s", got.output);
    cr_expect_not_null(strstr(got.output, "sleep 1234"), "%s", got.output);
    expect_gone();
}

Test(leftovers, names_and_kills_what_a_red_test_left)
{
    struct command got = supervised(10, HIDDEN("") WAIT_FOR_IT "exit 1");

    cr_expect_eq(got.status, 1, "%d", got.status);
    cr_expect_not_null(strstr(got.output, "sleep 1234"), "%s", got.output);
    expect_gone();
}

Test(leftovers, finds_what_dropped_its_environment)
{
    struct command got = supervised(10, HIDDEN("setsid env -i") WAIT_FOR_IT "exit 0");

    cr_expect_eq(got.status, LEFT_SOMETHING, "%d", got.status);
    cr_expect_not_null(strstr(got.output, "sleep 1234"), "%s", got.output);
    expect_gone();
}

Test(leftovers, ends_what_is_deaf_when_its_time_is_over)
{
    struct command got = supervised(1, "trap \"\" TERM INT HUP; echo $$ >pid; while :; do :; done");

    cr_expect_eq(got.status, LIMIT_OVER, "%d", got.status);
    cr_expect_not_null(strstr(got.output, "its limit of 1 s is over"), "%s", got.output);
    expect_gone();
}

Test(leftovers, ends_all_when_it_is_told_to_end)
{
    struct command got =
        command_run("%s 100 probe sh -c '%s sleep 100' & " WAIT_FOR_IT "kill -TERM $!; wait $!",
                    SFB_SUPERVISE, HIDDEN("setsid"));

    cr_expect_eq(got.status, 128 + SIGTERM, "%d", got.status);
    expect_gone();
}

/* What a test left that nobody supervised: it says by itself which one it is. */
Test(leftovers, finds_what_a_whole_ctest_left)
{
    FILE *file = fopen("CTestTestfile.cmake", "we");
    struct command got;

    cr_assert_not_null(file);
    fprintf(file,
            "add_test(green true)\nadd_test(red false)\nadd_test(leaves sh -c [==[%s]==])\n"
            "set_tests_properties(leaves PROPERTIES ENVIRONMENT SFB_TEST=leaves)\n",
            HIDDEN("setsid") WAIT_FOR_IT);
    fclose(file);
    got = command_run("%s 60 outer %s", SFB_SUPERVISE, SFB_CTEST);
    cr_expect_eq(got.status, 8, "%d: %s", got.status, got.output);
    cr_expect_not_null(strstr(got.output, "left by leaves: process"), "%s", got.output);
    cr_expect_not_null(strstr(got.output, "sleep 1234"), "%s", got.output);
    expect_gone();
}
