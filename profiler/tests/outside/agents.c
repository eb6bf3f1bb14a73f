#include <stdlib.h>

#include "profiler/collector/outside/alongside_agents.h"
#include "support/test.h"

static bool is_seven(const void *user, const struct alongside_agent *agent)
{
    (void)user;
    return agent->pid == 7;
}

/* A program may write any pids into its slots, again and again. */
Test(agents, leave_their_places_when_their_slots_end)
{
    struct alongside_agents agents = { .list.count = 0 };

    for (uint32_t i = 0; i < 5000; i++) {
        cr_assert(alongside_agents_came(&agents, i % 3, 1000000 + i, 10 + i));
        alongside_agents_ended(&agents, i % 3, 11 + i);
        alongside_agents_drop(&agents, 5 + i, is_seven, NULL);
        cr_assert(alongside_agents_find(&agents, 1000000 + i, 0) != NULL);
        cr_assert(agents.list.count <= 8, "%zu", agents.list.count);
    }
    alongside_agents_drop(&agents, UINT64_MAX, is_seven, NULL);
    cr_expect(eq(int, (int)agents.list.count, 0));
    free(agents.list.at);
}

/* No record is taken meanwhile: none of them may be dropped, but the oldest leave their places to new ones. */
Test(agents, are_bounded)
{
    struct alongside_agents agents = { .list.count = 0 };

    cr_assert(alongside_agents_came(&agents, 511, 7, 1));
    for (uint32_t i = 0; i < 5000; i++)
        cr_assert(alongside_agents_came(&agents, i % 500, 1000000 + i, 10 + i));
    cr_expect(eq(int, (int)agents.list.count, ALONGSIDE_AGENTS_MOST));
    cr_expect(alongside_agents_find(&agents, 7, 0) != NULL);
    cr_expect(alongside_agents_find(&agents, 1000000, 0) == NULL);
    for (uint32_t i = 4500; i < 5000; i++)
        cr_assert(alongside_agents_find(&agents, 1000000 + i, 0) != NULL);
    free(agents.list.at);
}

Test(agents, are_found_by_process_and_time)
{
    struct alongside_agents agents = { .list.count = 0 };
    const struct alongside_agent *found;

    cr_assert(alongside_agents_came(&agents, 1, 7, 100) &&
              alongside_agents_came(&agents, 2, 7, 200) && alongside_agents_came(&agents, 3, 8, 1));
    alongside_agents_left(&agents, 7, 150);
    found = alongside_agents_find(&agents, 7, 0);
    cr_assert(found && found->since == 200 && found->until == UINT64_MAX);
    cr_expect(alongside_agents_find(&agents, 7, 201) == NULL);
    alongside_agents_ended(&agents, 2, 300);
    alongside_agents_ended(&agents, 3, 300);
    alongside_agents_drop(&agents, 299, is_seven, NULL);
    cr_expect(alongside_agents_find(&agents, 8, 0) != NULL);
    alongside_agents_drop(&agents, 300, is_seven, NULL);
    cr_expect(alongside_agents_find(&agents, 8, 0) == NULL);
    cr_expect(alongside_agents_find(&agents, 7, 0) != NULL);
    alongside_agents_forget(&agents, 7, 150);
    found = alongside_agents_find(&agents, 7, 0);
    cr_assert(found && found->since == 200);
    alongside_agents_forget(&agents, 7, 200);
    cr_expect(eq(int, (int)agents.list.count, 0));
    free(agents.list.at);
}
