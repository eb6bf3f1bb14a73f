#include "cli/tool_reporter.h"

#include "cli/tool.h"

static void complain(void *user, enum reported kind, const char *line)
{
    static const enum tool_exit exits[] = { [REPORTED_NOTE] = TOOL_DONE,
                                            [REPORTED_BAD_DATA] = TOOL_BAD_DATA,
                                            [REPORTED_UNREADABLE] = TOOL_USAGE };
    const enum tool_exit exit_status = tool_complain(exits[kind], "%s", line);
    enum tool_exit *worst = user;

    if (worst)
        *worst = tool_worse(*worst, exit_status);
}

const struct reporter tool_complaints = { .take = complain };

struct reporter tool_reporter(enum tool_exit *worst)
{
    return (struct reporter){ .take = complain, .user = worst };
}
