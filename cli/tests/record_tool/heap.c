/* sfb record --heap as a user meets it: options, and what is in the recording of a program that is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/command.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_heap, .init = folder_enter, .fini = folder_remove);

enum { SIZE = 12345, KEPT = 10, BLOCKS = 1000, SITES_MAX = 65536, PROCESSES_MAX = 16 };

struct heap {
    uint64_t allocated, freed;              /* events of blocks of our size */
    uint64_t allocated_all, allocated_sums; /* of all sizes: events, and sums of sites */
    uint64_t live, live_bytes;              /* sums of sites that have a block of our size */
    uint64_t bytes, variance;               /* allocated, and its variance */
    uint64_t states, resident, sums, losses, waits;
    struct sfb_recording_heap heap[PROCESSES_MAX];
    uint32_t heaps;
    struct sfb_recording_heap_state state; /* the last one */
    uint64_t later_held; /* states of other processes than the first, with the allocator's answer */
    char reason[256];
    bool finished;
};

static struct sfb_recording_heap_totals totals[SITES_MAX];

static void take(struct heap *h, const struct sfb_recording_event *e)
{
    switch (e->kind) {
    case SFB_EVENT_HEAP: h->heap[h->heaps++ % PROCESSES_MAX] = e->of.heap; return;
    case SFB_EVENT_HEAP_EVENT:
        h->allocated_all += !e->of.heap_event.freed;
        if (e->of.heap_event.size == SIZE && e->of.heap_event.freed)
            h->freed++;
        else if (e->of.heap_event.size == SIZE)
            h->allocated++;
        return;
    case SFB_EVENT_HEAP_TOTALS:
        cr_assert(e->of.heap_totals.site < SITES_MAX);
        totals[e->of.heap_totals.site] = e->of.heap_totals;
        h->sums++;
        return;
    case SFB_EVENT_HEAP_STATE:
        h->states++;
        h->state = e->of.heap_state;
        h->later_held += h->state.process != h->heap[0].process && h->state.allocator_held > 0;
        if (h->state.resident > h->resident)
            h->resident = h->state.resident;
        return;
    case SFB_EVENT_LOSSES:
        if (e->of.losses.reason == SFB_LOSS_HEAP_WAITS)
            h->waits += e->of.losses.count;
        else
            h->losses += e->of.losses.count;
        return;
    case SFB_EVENT_FINISH: snprintf(h->reason, sizeof h->reason, "%s", e->of.finish.reason); return;
    default: return;
    }
}

static void sum_up(struct heap *h)
{
    for (uint32_t i = 0; i < SITES_MAX; i++) {
        const struct sfb_recording_heap_totals *t = &totals[i];

        h->allocated_sums += t->allocated.blocks;
        h->bytes += t->allocated.bytes;
        h->variance += t->allocated.bytes_variance;
        if (t->sizes[14] == 0) /* 8,192 to 16,383 */
            continue;
        h->live += t->live.blocks;
        h->live_bytes += t->live.bytes;
    }
}

/* Runs "sfb record OPTIONS AND PROGRAM". @return its exit status */
static int record(struct heap *h, const char *arguments)
{
    struct run run =
        run_line("P='%s'; '%s' record -f -o it.sfbr %s", SFB_RECORD_HEAP, SFB_TOOL, arguments);
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    const int status = run.status;

    memset(h, 0, sizeof *h);
    memset(totals, 0, sizeof totals);
    cr_assert_eq(sfb_recording_reader_open(&reader, "it.sfbr", NULL), SFB_OK, "%s: %s", arguments,
                 run.err);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        take(h, &event);
    sfb_recording_reader_health(reader, &health);
    cr_expect(health.bad_blocks + health.bad_records + health.lost_records + health.torn == 0, "%s",
              arguments);
    h->finished = health.finished;
    sfb_recording_reader_close(reader);
    sum_up(h);
    run_free(&run);
    return status;
}

static void expect_blocks(const struct heap *h, uint64_t times, const char *what)
{
    cr_expect(h->allocated == times * BLOCKS, "%s: %zu allocated", what, (size_t)h->allocated);
    cr_expect(h->freed == times * (BLOCKS - KEPT), "%s: %zu freed", what, (size_t)h->freed);
    cr_expect(h->live == times * KEPT && h->live_bytes == times * KEPT * SIZE, "%s: %zu live", what,
              (size_t)h->live);
    cr_expect(h->allocated_all == h->allocated_sums, "%s: sums are not those of the events", what);
    cr_expect(h->losses == 0 && h->state.conflicts == 0 && h->finished, "%s", what);
}

/* Valgrind runs the program in itself: the process's file is Valgrind's. It lasts longer than two looks for other programs. */
Test(record_heap, has_each_block_of_a_program_that_valgrind_runs)
{
    struct run run = run_line("valgrind --version");
    const bool installed = run.status == 0;
    struct heap h;

    run_free(&run);
    if (!installed)
        cr_skip_test("valgrind is not installed");
    cr_expect_eq(record(&h, "--heap valgrind -q --tool=none $P many"), 0);
    cr_expect_eq(h.allocated, 1000000, "%zu allocated", (size_t)h.allocated);
    cr_expect_eq(h.freed, 1000000, "%zu freed", (size_t)h.freed);
}

Test(record_heap, has_each_block)
{
    static const struct {
        const char *arguments;
        int status;
        uint64_t times;
        uint32_t processes;
    } cases[] = {
        { "--heap $P blocks", 0, 1, 1 },
        { "--heap --heap-mmap $P blocks", 0, 1, 1 },
        { "--heap --snapshot 0.001 $P blocks", 0, 1, 1 },
        { "--heap $P blocks kill", 137, 1, 1 },
        { "--heap $P fork blocks", 0, 1, 2 },
        { "--heap $P blocks exec", 0, 2, 2 },
        { "--heap --no-children $P blocks exec", 0, 1, 1 },
        { "--heap sh -c \"'$P' blocks; '$P' blocks; exit 3\"", 3, 2, 3 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heap h;
        const int status = record(&h, cases[i].arguments);

        cr_expect(status == cases[i].status, "%s: %d", cases[i].arguments, status);
        cr_expect(h.heaps == cases[i].processes, "%s: %u", cases[i].arguments, h.heaps);
        cr_expect(h.heap[0].rate == 0);
        expect_blocks(&h, cases[i].times, cases[i].arguments);
    }
}

/* What the C library says of itself at the end: it holds 20 MB for 0.3. Of samples it is not asked. */
Test(record_heap, asks_the_allocator)
{
    struct heap h;

    cr_expect(record(&h, "--heap $P fragment") == 0);
    cr_expect(h.state.allocator_held >= 18 << 20 && h.state.allocator_held < 40 << 20, "%zu",
              (size_t)h.state.allocator_held);
    cr_expect(h.state.allocator_used >= 300000 && h.state.allocator_used < 2 << 20, "%zu",
              (size_t)h.state.allocator_used);
    cr_expect(h.losses == 0);
    cr_expect(record(&h, "--heap-rate 64k $P fragment") == 0);
    cr_expect(h.state.allocator_held == 0);
}

/* The parent has used three times the CPU time of its child, which is killed: nothing is asked at its end. */
Test(record_heap, asks_the_allocator_of_a_child)
{
    struct heap h;

    cr_expect(record(&h, "--heap $P busy busy busy fork busy kill") == 0);
    cr_expect(h.heaps == 2, "%u processes", h.heaps);
    cr_expect(h.later_held > 0, "no answer in %zu states", (size_t)h.states);
}

Test(record_heap, has_the_blocks_of_all_threads)
{
    struct heap h;

    cr_expect(record(&h, "--heap $P threads") == 0);
    cr_expect(h.allocated == 2000 && h.freed == 2000 - 12, "%zu, %zu", (size_t)h.allocated,
              (size_t)h.freed);
    cr_expect(h.losses == 0 && h.state.conflicts == 0 && h.allocated_all == h.allocated_sums);
}

/* The file has what was known then. */
Test(record_heap, ends_with_its_sums_when_interrupted)
{
    struct heap h;

    record(&h, "--heap $P blocks stop-parent");
    cr_expect_str_eq(h.reason, "interrupted");
    expect_blocks(&h, 1, "interrupted");
    record(&h, "--heap --duration 0.3 $P blocks until-ended");
    cr_expect_str_eq(h.reason, "--duration");
    expect_blocks(&h, 1, "--duration");
}

Test(record_heap, has_sums_alone)
{
    struct heap h;

    cr_expect(record(&h, "--heap --heap-wait --aggregate --snapshot 0.05 $P blocks many") == 0);
    cr_expect(h.heap[0].flags == SFB_HEAP_AGGREGATE && h.allocated_all == 0);
    cr_expect(h.live == KEPT && h.live_bytes == KEPT * SIZE, "%zu live", (size_t)h.live);
    cr_expect(h.allocated_sums >= 1000000 + BLOCKS && h.losses == 0, "%zu, %zu lost, %zu waits",
              (size_t)h.allocated_sums, (size_t)h.losses, (size_t)h.waits);
    cr_expect(h.resident > 100000, "%zu", (size_t)h.resident); /* it was asked for */
}

/* The file is no longer than that, and says what was known. */
Test(record_heap, stays_within_max_size)
{
    struct heap h;
    struct stat file;

    cr_expect(record(&h, "--heap --max-size 20k $P blocks many") == 0);
    cr_expect(stat("it.sfbr", &file) == 0 && file.st_size <= 20480, "%ld", (long)file.st_size);
    cr_expect_str_eq(h.reason, "--max-size");
    cr_expect(h.allocated_sums >= h.allocated_all && h.allocated_sums >= BLOCKS);
}

/* A million blocks of 12,345 bytes: 524,288 is the rate. */
Test(record_heap, estimates)
{
    struct heap h;
    double error, sigma;

    cr_expect(record(&h, "--heap-rate $P many") == 0);
    cr_expect(h.heap[0].rate == 524288);
    sigma = 1e4;
    error = ((double)h.bytes - 1e6 * SIZE) / 1e6;
    sigma = (double)h.variance / 1e12;
    cr_expect(h.variance > 0 && error * error < 25 * sigma, "%.1f million bytes off, sigma^2 %.1f",
              error, sigma);
    cr_expect(record(&h, "--heap-rate 64k $P many") == 0);
    cr_expect(h.heap[0].rate == 65536);
    cr_expect(record(&h, "--heap-rate=4096 $P blocks") == 0);
    cr_expect(h.heap[0].rate == 4096);
}

Test(record_heap, refuses_what_does_not_go_together)
{
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        { "--heap --rate 97 $P", "--rate is of CPU time" },
        { "--cpu --heap $P", "--cpu is of CPU time" },
        { "--heap-rate=1k --engine timer $P", "--engine is of CPU time" },
        { "--heap-mmap $P", "--heap-mmap needs --heap" },
        { "--aggregate $P", "--aggregate needs --heap" },
        { "--snapshot 3 $P", "--snapshot needs --heap" },
        { "--heap --snapshot soon $P", "no number of seconds" },
        { "--heap-rate=0 $P", "no mean number of bytes" },
        { "--heap-rate=2000G $P", "no mean number of bytes" },
        { "--heap-rate=many $P", "no mean number of bytes" },
        { "--heap-rate --heap-mmap $P", "mappings are not sampled" },
        { "--heap", "no program given" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("P='%s'; '%s' record -o new.sfbr %s", SFB_RECORD_HEAP, SFB_TOOL,
                                  cases[i].arguments);

        cr_expect(run.status == 125, "%s: %d", cases[i].arguments, run.status);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "%s: %s", cases[i].arguments, run.err);
        cr_expect(access("new.sfbr", F_OK) != 0);
        run_free(&run);
    }
}

/* It would crash, or show the allocations of its symbolizer alone. gcc's AddressSanitizer is a library, and is recorded. */
Test(record_heap, refuses_a_sanitizer_that_no_agent_can_precede)
{
    static const struct {
        const char *compiler, *says;
    } cases[] = {
        { "gcc -fsanitize=thread", "ThreadSanitizer, whose malloc()" },
        { "gcc -fsanitize=address -static-libasan", "AddressSanitizer, whose malloc()" },
        { "clang -fsanitize=address", "AddressSanitizer, whose malloc()" },
        { "clang -fsanitize=memory", "MemorySanitizer, whose malloc()" },
        { "clang -fsanitize=thread", "ThreadSanitizer, whose malloc()" },
        { "clang -fsanitize=leak", "LeakSanitizer, whose malloc()" },
        { "gcc -fsanitize=address", "" },
        { "gcc -fsanitize=leak", "" },
        { "gcc -fsanitize=undefined", "" },
    };

    cr_assert(system("printf '#include <stdlib.h>\\nint main(void) { free(malloc(12345)); "
                     "}\\n' >it.c") == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool refused = cases[i].says[0] != '\0';
        struct run built = run_line("%s -fno-builtin -o it it.c", cases[i].compiler), run;

        if (built.status != 0) {
            printf("%s: not here\n", cases[i].compiler);
            run_free(&built);
            continue;
        }
        run_free(&built);
        run = run_line("'%s' record --heap -f -o it.sfbr ./it && '%s' report it.sfbr", SFB_TOOL,
                       SFB_TOOL);
        cr_expect(run.status == (refused ? 125 : 0), "%s: %d: %s", cases[i].compiler, run.status,
                  run.err);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "%s: %s", cases[i].compiler, run.err);
        if (refused)
            cr_expect(strchr(run.err, '\n')[1] == '\0', "%s: %s", cases[i].compiler, run.err);
        else
            cr_expect(strstr(run.err, "sfb: 0 allocations") == NULL, "%s: %s", cases[i].compiler,
                      run.err);
        run_free(&run);
    }
}

/* For tests that run by themselves: one line, and status 1 where the program's own is 0. */
Test(record_heap, fails_above_a_peak_and_on_a_leak)
{
    static const struct {
        const char *options, *program, *says;
        int status;
    } cases[] = {
        { "--fail-on-leak", "clean", "", 0 },
        { "--fail-on-leak", "leaks",
          "--fail-on-leak: 3 blocks of 300 bytes live at the end: sfb report --leaks it.sfbr\n",
          1 },
        { "--fail-on-leak --suppressions known", "leaks", "", 0 },
        { "--fail-on-leak --suppressions other", "leaks", "--fail-on-leak: 3 blocks", 1 },
        { "--fail-on-leak --suppressions bad", "leaks", "bad:2: no suppression of a leak", 125 },
        { "--fail-on-leak --suppressions missing", "leaks", "missing: No such file", 125 },
        { "--fail-on-leak", "leaks 7", "--fail-on-leak: 3 blocks", 7 },
        { "--fail-on-leak --aggregate", "leaks", "--fail-on-leak: 3 blocks", 1 },
        { "--fail-on-leak", "dies", "--fail-on-leak: the program did not exit", 137 },
        { "--fail-above 1M", "clean", "", 0 },
        { "--fail-above 100k", "clean", "--fail-above: the peak is ", 1 },
        { "--fail-above 100k -q", "clean",
          "and 102400 are allowed: sfb report --value peak it.sfbr\n", 1 },
        { "--fail-above none", "clean", "is no size", 125 },
        { "--suppressions known", "clean", "--suppressions goes with --fail-on-leak", 125 },
        { "--heap-rate 1k --fail-on-leak", "clean", "not for --heap-rate", 125 },
    };

    cr_assert(system("cat >p.c <<'EOF'\n"
                     "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                     "static void forget(void) { malloc(100); }\n"
                     "int main(int n, char **word) {\n"
                     "    free(malloc(200000));\n    puts(\"stdio has a buffer\");\n"
                     "    if (*word[1] == 'd') raise(SIGKILL);\n"
                     "    for (int i = 0; *word[1] == 'l' && i < 3; i++) forget();\n"
                     "    return n > 2 ? atoi(word[2]) : 0;\n}\nEOF\n"
                     "echo leak:^forget$ >known; echo leak:others >other; printf '#\\nx\\n' >bad;"
                     "cc -O0 -g -fno-builtin -w -o p p.c") == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' record --heap -f -o it.sfbr %s -- ./p %s", SFB_TOOL,
                                  cases[i].options, cases[i].program);

        cr_expect(run.status == cases[i].status, "%s, %s: %d: %s", cases[i].options,
                  cases[i].program, run.status, run.err);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "%s, %s: %s", cases[i].options,
                  cases[i].program, run.err);
        cr_expect(cases[i].says[0] || !strstr(run.err, "--fail"), "%s", run.err);
        run_free(&run);
    }
}

Test(record_heap, says_what_it_has)
{
    struct run run =
        run_line("'%s' record --heap -o it.sfbr '%s' blocks", SFB_TOOL, SFB_RECORD_HEAP);

    cr_expect(run.status == 0);
    for (const char *const *says =
             (const char *const[]){ " allocations of ", "peak ", "live at the end ",
                                    "0 events lost", "1 process", "sfb report it.sfbr", NULL };
         *says; says++)
        cr_expect(strstr(run.err, *says) != NULL, "%s: %s", *says, run.err);
    run_free(&run);
}

/* Of several processes, too, the peak is no less than what lives; units are the report's. */
Test(record_heap, sums_the_peaks_of_processes)
{
    struct run run = run_line("'%s' record --heap -o it.sfbr sh -c '\"$0\" blocks; \"$0\" blocks; "
                              "\"$0\" blocks; true' '%s'",
                              SFB_TOOL, SFB_RECORD_HEAP);
    const char *line = strstr(run.err, "sum of peaks ");
    double peaks = 0, live = 0;

    cr_assert(line != NULL, "%s", run.err);
    cr_expect_eq(sscanf(line, "sum of peaks %lf KiB, live at the end %lf KiB in ", &peaks, &live),
                 2, "%s", run.err);
    cr_expect_geq(live, 3.0 * KEPT * SIZE / 1024, "%s", run.err);
    cr_expect_geq(peaks, live, "%s", run.err);
    cr_expect(strstr(run.err, " kB") == NULL, "%s", run.err);
    run_free(&run);
}
