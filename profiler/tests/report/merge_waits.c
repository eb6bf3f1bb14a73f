/* sfb merge: waits stand in the merged recording as in its inputs, and idle threads of pools apart from them. */
#include <string.h>

#include "profiler/tests/report/made.h"
#include "profiler/tests/report/merge_made.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(report_merge_waits, .init = folder_enter, .fini = folder_remove);

Test(report_merge_waits, waits_stay)
{
    static const char *const views[] = { "--unit ns --value wall --top=0",
                                         "--unit ns --value wall --tree",
                                         "--unit ns --value blocked --top=0",
                                         "--unit ns --value wall --by call",
                                         "--unit ns --value blocked --by call",
                                         "--unit ns --value runnable --by call",
                                         "--unit ns --value cpu --top=0",
                                         "--unit ns --value wall --by thread",
                                         "--unit ns --value wall --time 0.9..0.945 --by call",
                                         "--value wall --folded-ns=-",
                                         NULL };
    struct run run;

    merge_record(true);
    run = merge_run(0, "$SFB merge -o m a b");
    run_expect_text("complaints", run.err, "");
    run_free(&run);
    merge_expect_all_same(views);
    merge_expect("$SFB report --check m | grep -oE '[0-9]+ samples, [0-9]+ waits, [0-9]+ stacks'",
                 "12 samples, 12 waits, 8 stacks\n");
    merge_expect("$SFB report --no-pager --unit ns --value blocked --by call m | sed 's/  */ /g'",
                 "total (ns) total % state and call\n"
                 " 64000032 58.18 short waits\n"
                 " 32000016 29.09 page fault\n"
                 " 8000004 7.27 disk in read\n"
                 " 4000002 3.64 asleep in epoll_wait\n"
                 " 2000001 1.82 asleep in futex\n");
}

/* Threads 3 and 4 are a pool in each recording. Thread 5 waits as long, alone: under another name in each. */
static void record_pool(const char *name, uint64_t module, const char *lone)
{
    uint32_t pool, alone;

    merge_begin(module, 0);
    made_thread(3, 1, "pool");
    made_thread(4, 1, "pool");
    made_thread(5, 1, lone);
    merge_put_samples(1000);
    merge_put_waits(MS);
    pool = MERGE_STACK(false, { 1, PRICE, 6 });
    alone = MERGE_STACK(false, { 1, MAIN, 1 });
    for (uint32_t thread = 3; thread <= 5; thread++)
        merge_put_wait(thread, thread == 5 ? alone : pool, 2000 * MS, 2000 * MS, SFB_STATE_ASLEEP,
                       "futex");
    merge_end(name);
}

Test(report_merge_waits, idle_threads_stay_apart)
{
    static const char *const views[] = { "--unit ns --value wall --top=0",
                                         "--unit ns --value blocked --by call",
                                         "--unit ns --value wall --by thread", NULL };

    record_pool("a", 0x10000000, "one");
    record_pool("b", 0x7f0000001000, "other");
    merge_expect("$SFB report a b | grep -o 'not in it: .* for'",
                 "not in it: 2 idle threads pool, 4.000 s asleep in futex for\n"
                 "not in it: 2 idle threads pool, 4.000 s asleep in futex for\n");
    for (unsigned i = 0; i < 2; i++) {
        merge_expect(i == 0 ? "$SFB merge -o m a b" : "$SFB merge -o n m && mv n m", "");
        merge_expect_all_same(views);
        merge_expect("$SFB report m | grep -o 'not in it: .* for'",
                     "not in it: 4 idle threads pool, 8.000 s asleep in futex for\n");
    }
}

/* main waits in two parts, and worker wakes it up; an interrupt and another process end waits of worker's. */
static void record_wakers(const char *name, uint64_t module)
{
    uint32_t cart, price;

    merge_begin(module, 0);
    cart = MERGE_STACK(false, { 1, CART, 3 }, { 1, MAIN, 1 });
    price = MERGE_STACK(false, { 1, PRICE, 6 });
    made_awaited(1, SFB_AWAITED_FUTEX, module + 0x2010, module, "/not/here.so");
    MADE_WAIT(300, 200, ASLEEP, "futex", .thread = 1, .stack = cart, .since = 100 * MS);
    MADE_WAIT(400, 50, ASLEEP, "read", .thread = 2, .stack = price, .waker_name = "interrupt");
    MADE_WAIT(450, 150, ASLEEP, "futex", .thread = 1, .stack = cart, .since = 100 * MS, .waker = 2,
              .waker_stack = price);
    MADE_WAIT(500, 40, ASLEEP, "read", .thread = 2, .stack = price, .waker_name = "nginx (pid 7)");
    MADE_WAIT(600, 30, ASLEEP, "futex", .thread = 1, .stack = cart, .awaited = 1, .holder = 2,
              .holder_stack = price, .since = 570 * MS, .waker = 2);
    MADE_WAIT(700, 20, ASLEEP, "futex", .thread = 1, .stack = cart, .since = 680 * MS);
    merge_end(name);
}

Test(report_merge_waits, wakers_stay)
{
    static const char *const views[] = { "--unit ns --by waker", "--unit ns --by lock",
                                         "--unit ns --by waker --time 0.2..0.42", NULL };

    record_wakers("a", 0x10000000);
    record_wakers("b", 0x7f0000001000);
    for (unsigned i = 0; i < 2; i++) {
        merge_expect(i == 0 ? "$SFB merge -o m a b" : "$SFB merge -o n m && mv n m", "");
        merge_expect_all_same(views);
        merge_expect("$SFB report --unit ms --by waker m | grep -v '^          '",
                     "    waits    total (ms)  longest (ms)  waker\n"
                     "        4       760.000       350.000  worker\n"
                     "      700.000 ms ended by it in\n"
                     "      60.000 ms ended by it, not known where\n"
                     "      700.000 ms of main, asleep in futex, in\n"
                     "      60.000 ms of main, asleep in futex here.so+0x2010, in\n"
                     "        2       100.000        50.000  interrupt\n"
                     "      100.000 ms of worker, asleep in read, in\n"
                     "        2        80.000        40.000  nginx (pid 7)\n"
                     "      80.000 ms of worker, asleep in read, in\n"
                     "not in it: 40.000 ms of waits whose end is not known\n");
        merge_expect("$SFB report --unit ms --timeline m | grep -o 'that ended by.*'",
                     "that ended by thread 2 worker\n"
                     "that ended by interrupt\n"
                     "that ended by nginx (pid 7)\n");
    }
}

/* A stack stands in a recording again after each list of modules: two of four threads have the second one. */
Test(report_merge_waits, idle_threads_are_one_pool_with_other_lists)
{
    merge_begin(0x10000000, 0);
    for (uint32_t thread = 3; thread <= 6; thread++)
        made_thread(thread, 1, "pool");
    for (uint32_t thread = 3; thread <= 6; thread++) {
        const uint32_t pool = MERGE_STACK(false, { 1, PRICE, 6 });

        if (thread == 4)
            sfb_recording_forget_stacks(made_writer, 1);
        merge_put_wait(thread, pool, 2000 * MS, 2000 * MS, SFB_STATE_ASLEEP, "futex");
    }
    merge_end("a");
    merge_expect("$SFB report --check a | grep -oE '[0-9]+ stacks'", "2 stacks\n");
    merge_expect("$SFB report a | grep -o 'not in it: .* for'",
                 "not in it: 4 idle threads pool, 8.000 s asleep in futex for\n");
}

Test(report_merge_waits, differences_are_those_of_the_inputs)
{
#define DIFF  "$SFB report --no-pager --unit ns --value wall --diff "
#define TABLE " | sed -n '/^ *old (ns)/,$p' "
    merge_record(true);
    merge_expect("$SFB merge -o ma a && $SFB merge -o mb b", "");
    merge_expect(DIFF "a b" TABLE ">want && grep -q 'Shop.cart' want && " DIFF "ma mb" TABLE
                      "| diff want -",
                 "");
}

Test(report_merge_waits, recordings_with_and_without_waits_are_named)
{
    struct run run;

    merge_record(true);
    merge_expect("mv a w", "");
    merge_record(false);
    run = merge_run(0, "$SFB merge -o m a w");
    cr_expect(strstr(run.err, "not all recordings have waits") != NULL, "%s", run.err);
    run_free(&run);
    merge_expect("$SFB report a w b | grep 'in it: the waits\\|without waits: '",
                 "  not in it: the waits of 1 of 3 recordings\n");
    merge_expect("$SFB report w a b | grep 'in it: the waits\\|without waits: '",
                 "  without waits: 2 of 3 recordings, whose CPU time alone is known\n");
    merge_expect(
        "for f in w 'a b'; do $SFB report $f | grep 'in it: the waits\\|without waits: '; done; :",
        "");
}
