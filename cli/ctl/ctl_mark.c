/* sfb ctl PID mark NAME, and PID marks: what was allocated from a moment on, and lives. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/ctl/ctl.h"
#include "profiler/collector/live/live_marks.h"
#include "profiler/protocol/control.h"
#include "util/counted.h"
#include "util/foreign.h"

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* @return whether a recorder has the process, or nothing else is to be tried */
static bool mark_recording(const struct ctl_request *r, enum tool_exit *exit_status)
{
    enum ctl_answer answer;
    struct sfb_control_question question = { .what = SFB_CONTROL_MARK };
    struct sfb_control_reply reply;

    *exit_status = TOOL_DONE;
    if (strlen(r->mark) > SFB_CONTROL_NAME) {
        *exit_status = tool_complain(TOOL_USAGE, "%s: no mark: a mark's name has 1 to %d bytes",
                                     r->target, SFB_CONTROL_NAME);
        return true;
    }
    memcpy(question.name, r->mark, strlen(r->mark));
    answer = ctl_ask_recorder(r->target, &question, &reply);
    if (answer == CTL_LATE || (answer == CTL_NONE && !ctl_has_table(r->target))) {
        *exit_status = ctl_say_unrecorded(r->target, answer);
        return true;
    }
    if (answer == CTL_NONE)
        return false;
    if (reply.answer != SFB_CONTROL_DONE)
        *exit_status = tool_complain(TOOL_USAGE, "%s: no mark: %s", r->target, reply.text);
    return true;
}

enum tool_exit ctl_mark(const struct ctl_request *r)
{
    enum tool_exit exit_status;
    struct live_map map;
    const char *cause;

    /* A program that is recorded from outside may have a live table, too. */
    if (mark_recording(r, &exit_status) && (exit_status != TOOL_DONE || !ctl_has_table(r->target)))
        return exit_status;
    if (!ctl_open_target(&map, r->target))
        return TOOL_USAGE;
    cause = live_mark_add(&map, r->mark, now());
    live_map_close(&map);
    return cause ? tool_complain(TOOL_USAGE, "%s: no mark: %s", r->target, cause) : TOOL_DONE;
}

/* --- all marks -------------------------------------------------------------------------------------- */

struct era {
    double blocks, bytes;
};

static bool add_slots(void *user, const struct sfb_live_slot *slots, uint32_t first, uint32_t count)
{
    struct era *eras = user;

    for (uint32_t i = first == 0; i < count; i++) {
        const uint64_t what = slots[i].what, size = sfb_live_size_of(what);
        const double p = sfb_live_probability(size, sfb_live_level_of(what));

        if (!sfb_live_is_block(slots[i].block))
            continue;
        eras[sfb_live_era_of(what)].blocks += 1 / p;
        eras[sfb_live_era_of(what)].bytes += (double)size / p;
    }
    return true;
}

static void put(const struct live_mark *mark, const struct era *era, uint64_t at)
{
    printf("%8.1f s  %10" PRIu64 "  %14" PRIu64 "  ",
           at > mark->time ? (double)(at - mark->time) / 1e9 : 0.0, sfb_live_count(era->blocks),
           sfb_live_count(era->bytes));
    foreign_print(stdout, mark->name[0] ? mark->name : "[start]");
    putchar('\n');
}

enum tool_exit ctl_marks(const struct ctl_request *r)
{
    struct era eras[SFB_LIVE_ERAS] = { { 0, 0 } };
    struct live_mark marks[SFB_LIVE_ERAS];
    struct live_map map;
    uint32_t count;

    if (!ctl_open_target(&map, r->target))
        return TOOL_USAGE;
    live_read_slots(&map, add_slots, eras);
    count = live_marks_of(&map.head, marks);
    puts("       ago        live           bytes  allocated from this mark to the next");
    for (uint32_t i = 0; i < count; i++)
        put(&marks[i], &eras[marks[i].era], now());
    live_map_close(&map);
    return TOOL_DONE;
}
