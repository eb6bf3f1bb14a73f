/* A command that is not in a build says why: left_out.c is compiled here as in a build without both products. */
#include "cli/left_out.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

static const struct {
    const char *command;
    int exit_status;
} cases[] = { { "record", TOOL_FAILED }, { "report", TOOL_USAGE }, { "stack", TOOL_USAGE },
              { "ctl", TOOL_USAGE },     { "check", TOOL_USAGE },  { "dump", TOOL_USAGE } };

TestSuite(left_out, .init = cr_redirect_stderr);

Test(left_out, says_why)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum tool_exit exit_status = TOOL_DONE;

        cr_expect(left_out_say(cases[i].command, &exit_status));
        cr_expect_eq((int)exit_status, cases[i].exit_status, "%s", cases[i].command);
    }
    fflush(stderr);
    cr_assert_stderr_eq_str("sfb: record: this sfb was built without it: no such library\n"
                            "sfb: report: this sfb was built without it: no such library\n"
                            "sfb: stack: this sfb was built without it: no such library\n"
                            "sfb: ctl: this sfb was built without it: no such library\n"
                            "sfb: check: this sfb was built without it: no such folder\n"
                            "sfb: dump: this sfb was built without it: no such folder\n");
}

Test(left_out, knows_no_other_command)
{
    enum tool_exit exit_status = TOOL_DONE;

    cr_expect_not(left_out_say("symbolize", &exit_status));
    cr_expect_not(left_out_say("recrod", &exit_status));
}
