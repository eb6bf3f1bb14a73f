#include "profiler/collector/outside/alongside_agents.h"

static void remove_at(struct alongside_agents *a, size_t at)
{
    a->list.at[at] = a->list.at[--a->list.count];
}

/* Slots are fewer than places, so some have ended. */
static void remove_oldest(struct alongside_agents *a)
{
    size_t oldest = 0;

    for (size_t i = 1; i < a->list.count; i++)
        if (a->list.at[i].ended != 0 &&
            (a->list.at[oldest].ended == 0 || a->list.at[i].ended < a->list.at[oldest].ended))
            oldest = i;
    remove_at(a, oldest);
}

bool alongside_agents_came(struct alongside_agents *a, uint32_t slot, uint32_t pid, uint64_t since)
{
    struct alongside_agent *agent;

    alongside_agents_ended(a, slot, since);
    if (a->list.count >= ALONGSIDE_AGENTS_MOST)
        remove_oldest(a);
    agent = REPORT_NEXT(a->list);
    if (agent)
        *agent = (struct alongside_agent){ pid, slot, since, UINT64_MAX, 0 };
    return agent != NULL;
}

void alongside_agents_left(struct alongside_agents *a, uint32_t pid, uint64_t until)
{
    struct alongside_agent *last = NULL;

    for (size_t i = 0; i < a->list.count; i++)
        if (a->list.at[i].pid == pid && a->list.at[i].since <= until &&
            (!last || a->list.at[i].since >= last->since))
            last = &a->list.at[i];
    if (last)
        last->until = until;
}

void alongside_agents_ended(struct alongside_agents *a, uint32_t slot, uint64_t time)
{
    for (size_t i = 0; i < a->list.count; i++)
        if (a->list.at[i].slot == slot && a->list.at[i].ended == 0)
            a->list.at[i].ended = time > 0 ? time : 1;
}

const struct alongside_agent *alongside_agents_find(const struct alongside_agents *a, uint32_t pid,
                                                    uint64_t since)
{
    const struct alongside_agent *newest = NULL;

    for (size_t i = 0; i < a->list.count; i++)
        if (a->list.at[i].pid == pid && a->list.at[i].since >= since &&
            (!newest || a->list.at[i].since > newest->since))
            newest = &a->list.at[i];
    return newest;
}

void alongside_agents_forget(struct alongside_agents *a, uint32_t pid, uint64_t time)
{
    for (size_t i = a->list.count; i-- > 0;)
        if (a->list.at[i].pid == pid && a->list.at[i].since <= time)
            remove_at(a, i);
}

void alongside_agents_drop(struct alongside_agents *a, uint64_t time,
                           bool (*needed)(const void *user, const struct alongside_agent *agent),
                           const void *user)
{
    for (size_t i = a->list.count; i-- > 0;) {
        const struct alongside_agent *agent = &a->list.at[i];

        if (agent->ended != 0 && agent->ended <= time && !needed(user, agent))
            remove_at(a, i);
    }
}
