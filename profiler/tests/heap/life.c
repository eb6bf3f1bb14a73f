/* Threads, processes, libraries, signals: how they begin and end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/heap/drainer.h"
#include "support/test.h"

Test(heap_life, of_blocks_that_go_round_has_no_contradiction)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " round 4 100000");
    struct heap_replay r;
    uint64_t elsewhere = 0;

    heap_expect_good(log, 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 48), 400000);
    r = heap_replay(log, 0);
    cr_expect_eq(r.conflicts, 0);
    cr_expect_leq(r.unknown, 8); /* from before the recording */
    for (size_t i = 0; i < log->event_count && elsewhere < 1000; i++)
        if (log->event[i].kind == SFB_HEAP_ALLOC && log->event[i].size == 48) {
            const struct heap_event *e = heap_find_behind(log, &log->event[i], SFB_HEAP_FREE);

            elsewhere++;
            cr_assert(e != NULL);
            cr_expect_neq(e->thread, log->event[i].thread);
        }
    heap_log_free(log);
}

Test(heap_life, goes_on_to_the_last_destructor)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " ends");
    unsigned ended = 0;

    heap_expect_good(log, 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 20100), 3);
    for (unsigned size = 20001; size <= 20003; size++)
        cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, size), 3, "round %u", size - 20000);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 20200), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 20301), 1);
    cr_expect_leq(heap_replay(log, 0).live, 8);
    cr_expect_eq(log->thread_count, 4); /* one ring each */
    for (uint32_t i = 0; i < log->thread_count; i++) {
        ended += log->thread[i].ended;
        cr_expect(log->thread[i].ended == (strcmp(log->thread[i].name, "renamed") == 0), "%s",
                  log->thread[i].name);
    }
    cr_expect_eq(ended, 3);
    cr_expect_neq(log->process[0].end, 0);
    heap_log_free(log);
}

Test(heap_life, is_counted_where_a_handler_comes_between)
{
    const struct heap_how how = { .behind = SFB_HEAP_BUMP };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " signals");
    unsigned handled = 0, pairs = 0;
    uint64_t lost, seen;

    cr_assert(heap_exited(log, 0));
    cr_assert_eq(sscanf(log->out, "%u %u", &handled, &pairs), 2);
    cr_expect_geq(handled, 2000);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 30002), pairs);
    seen = heap_count(log, SFB_HEAP_ALLOC, 30001);
    lost = heap_lost(log, SFB_LOSS_NESTED);
    /* Each event of a handler is recorded, or lost and counted. */
    cr_expect_leq(seen, handled);
    cr_expect_eq(2 * handled,
                 lost + seen + heap_count(log, SFB_HEAP_FREE, SIZE_MAX) -
                     heap_count(log, SFB_HEAP_ALLOC, SIZE_MAX) + seen + heap_replay(log, 0).live,
                 "%u handled, %u seen, %u lost", handled, (unsigned)seen, (unsigned)lost);
    heap_log_free(log);
}

Test(heap_life, goes_on_in_a_child_of_its_own)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " fork");
    struct heap_replay r;

    heap_expect_good(log, 0);
    cr_assert_geq(log->process_count, 3);
    cr_expect_eq(log->process[1].parent, 0);
    cr_expect_eq(log->process[2].parent, 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40001), 2);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40002), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40003), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40004), 0); /* a child of _Fork() */
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40005), 10000);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40006), 400000);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40007), 1);
    cr_expect_eq(heap_replay(log, 0).conflicts, 0);
    r = heap_replay(log, 1);
    cr_expect_eq(r.conflicts, 0);
    cr_expect_geq(r.unknown, 1); /* a block of its parent */
    heap_log_free(log);
}

Test(heap_life, of_children_is_not_recorded_where_that_is_asked_for)
{
    const struct heap_how how = { .flags = SFB_SHARED_NO_CHILDREN };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " fork");

    heap_expect_good(log, 0);
    cr_expect_eq(log->process_count, 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40001), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 40007), 1);
    heap_log_free(log);
}

Test(heap_life, is_one_with_a_child_of_vfork_and_anew_behind_exec)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " vfork");

    heap_expect_good(log, 0);
    cr_expect_eq(log->process_count, 4);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 41001), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 41002), 1); /* in the heap of its parent */
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 41003), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 777), 9);
    heap_log_free(log);
}

Test(heap_life, of_libraries_begins_with_their_constructors)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " libraries");
    const struct heap_event *e;
    uint32_t sent = 0;

    heap_expect_good(log, 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 50001), 4); /* the inner one stays */
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 50002), 3);
    cr_expect_eq(heap_replay(log, 0).conflicts, 0);
    e = heap_find(log, SFB_HEAP_ALLOC, 50002);
    cr_assert(e && heap_stack(log, e));
    for (size_t i = 0; i < log->stack_count; i++)
        if (log->stack[i].hash == e->hash)
            sent = log->stack[i].sent;
    /* What is at an address may be another library's, each time. */
    cr_expect_geq(sent, 2);
    heap_log_free(log);
}

Test(heap_life, begins_before_other_constructors)
{
    const struct heap_how how = { .behind = SFB_HEAP_LIBRARY };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " loop 3");

    heap_expect_good(log, 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 50001), 2);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 777), 3);
    heap_log_free(log);
}
