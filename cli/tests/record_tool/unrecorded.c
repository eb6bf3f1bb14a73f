/* CPU time that the kernel counted and the recording does not have: how much, and of which programs. */
#include <stdio.h>
#include <string.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_unrecorded, .init = folder_enter, .fini = folder_remove);

/* A static program of 150 ms ends before it is looked at. */
Test(record_unrecorded, is_told_of_programs_that_were_not_seen)
{
    struct recorded r = recorded("--engine timer $P spawn 2 '%s' burn 75", SFB_RECORD_STATIC);
    const uint64_t ms = r.contents->lost[SFB_LOSS_CPU];

    cr_expect(ms >= 150 && ms <= 200, "%s", r.run.err);
    cr_expect(ne(ptr, strstr(r.contents->texts, "all used "), NULL), "%s", r.contents->texts);
    cr_expect(ne(ptr, strstr(r.run.err, " ms of CPU time that is in no process"), NULL), "%s",
              r.run.err);
    recorded_free(&r);
}

/* What the loader did in many short programs. */
Test(record_unrecorded, is_told_of_time_before_agents)
{
    struct recorded r = recorded("--engine timer $P spawn 60 $P burn 0.1");
    const char *name = strrchr(SFB_RECORD_PROGRAM, '/') + 1;
    char want[96];

    snprintf(want, sizeof want, "; before an agent was loaded: %s ", name);
    cr_expect(ge(u64, r.contents->lost[SFB_LOSS_CPU], 10), "%s", r.run.err);
    cr_expect(ne(ptr, strstr(r.contents->texts, want), NULL), "%s: %s", want, r.contents->texts);
    recorded_free(&r);
}

Test(record_unrecorded, is_not_told_where_all_is_recorded)
{
    static const char *const lines[] = { "$P burn 500",
                                         "$P threads 200",
                                         "$P exec 20",
                                         "$P spawn 2 '" SFB_RECORD_STATIC "' burn 75",
                                         "env -i $P burn 75",
                                         "$P killed 20",
                                         "--no-children $P spawn 2 $P burn 75",
                                         "--duration 0.05 $P burn 200" };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct recorded r = recorded("%s", lines[i]);

        cr_expect(eq(u64, r.contents->lost[SFB_LOSS_CPU], 0), "%s: %s", lines[i], r.run.err);
        recorded_free(&r);
    }
}

/* Looks see few of so short programs: all their time is in the recording, or counted as missing. */
Test(record_unrecorded, is_told_of_programs_between_looks)
{
    struct recorded r = recorded("--wall $P spawn 60 '%s' burn 5", SFB_RECORD_STATIC);
    const uint64_t ms = r.contents->lost[SFB_LOSS_CPU];

    cr_expect(ge(u64, ms, 100), "%s", r.run.err);
    cr_expect(ge(u64, ms + recorded_cpu(r.contents) / 1000000, 300), "%s", r.run.err);
    cr_expect(ne(ptr, strstr(r.contents->texts, "between two looks"), NULL), "%s",
              r.contents->texts);
    cr_expect(ne(ptr, strstr(r.run.err, " ms of CPU time that is in no process"), NULL), "%s",
              r.run.err);
    recorded_free(&r);
}
