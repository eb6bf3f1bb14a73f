/* Large recordings: 1,000,000 samples of 100,000 stacks, and a heap of 2,000,000 events. What each view takes is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/tests/report/made_heap.h"
#include "support/run.h"
#include "support/test.h"

enum {
    SAMPLES = 1000000,
    STACKS = 100000,
    LESS = 10,
    THREADS = 8,
    FUNCTIONS = 5003,
    DEPTH_MAX = 48,
    EVENTS = 2000000, /* of a heap without sums: all are replayed */
    SITES = 20000,
    BLOCKS = 100000
};

/* Far more than it takes, sanitizers and emulators included: a search that is quadratic takes hours. */
enum { SECONDS_MAX = 60 };

static uint64_t address_of(unsigned function)
{
    return 0x100000 + 0x100 * (uint64_t)function + 16;
}

/* A sanitizer is slow, and sees as much in a tenth. */
static size_t count_of(size_t all)
{
    return sanitized() ? all / LESS : all;
}

/* Stacks that share their outer ends, as those of programs do. */
static uint32_t put_stack(unsigned *seed)
{
    const unsigned depth = 8 + (unsigned)rand_r(seed) % (DEPTH_MAX - 8);
    uint64_t frames[DEPTH_MAX];
    unsigned function = 0;

    for (unsigned i = depth; i-- > 0;) {
        function = (7 * function + (unsigned)rand_r(seed) % 3 + depth - i) % FUNCTIONS;
        frames[i] = address_of(function);
    }
    return made_stack(frames[0], frames + 1, depth - 1, false);
}

static void put_names(void)
{
    char *text = malloc((size_t)FUNCTIONS * 64), *end = text;
    struct sfb_recording_file file = { 1, "perf-101.map", text, 0 };

    cr_assert(text != NULL);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        end += sprintf(end, "%llx 100 function_%u(int, std::vector<int> const&)\n",
                       (unsigned long long)address_of(i) - 16, i);
    file.size = (size_t)(end - text);
    cr_assert(eq(int, sfb_recording_put_file(made_writer, &file), SFB_OK));
    free(text);
}

static void make(void)
{
    static uint32_t stacks[STACKS];
    unsigned seed = 1;

    made_begin();
    for (uint32_t i = 2; i <= THREADS; i++)
        made_thread(i, 1, "worker");
    for (size_t i = 0; i < count_of(STACKS); i++)
        stacks[i] = put_stack(&seed);
    for (size_t i = 0; i < count_of(SAMPLES); i++) {
        const uint32_t thread = 1 + (uint32_t)rand_r(&seed) % THREADS;
        const size_t stack = i < count_of(STACKS) ? i : (size_t)rand_r(&seed) % count_of(STACKS);

        made_sample(thread, stacks[stack], made_start.monotonic + i * 1000, 1000000, SFB_END);
    }
    put_names();
    made_end("the program ended");
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Runs a view, and tells what it takes. */
static void expect_view(const char *options, const char *has)
{
    const double before = cpu_seconds();
    struct run run = run_line("'%s' report %s %s", SFB_TOOL, options, made_path);
    const double taken = cpu_seconds() - before;

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, has) != NULL, "%s: %.2000s", options, run.out);
    cr_log_info("sfb report %s: %.2f CPU seconds", options, taken);
    cr_expect(lt(dbl, taken, (double)SECONDS_MAX));
    run_free(&run);
}

/* Rows are written as they come: what is known of stacks is in memory, and never all rows beside it. */
static void expect_rows_as_they_come(void)
{
    char path[] = "/tmp/sfb-large-rows-XXXXXX";
    const int fd = mkstemp(path);
    struct rusage usage;
    struct stat file;
    struct run run;

    cr_assert(fd >= 0);
    run = run_line("'%s' report --thread 201 --rows=%s %s", SFB_TOOL, path, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_assert(stat(path, &file) == 0);
    getrusage(RUSAGE_CHILDREN, &usage);
    cr_log_info("%lld KB of rows with %ld KB", (long long)file.st_size / 1024, usage.ru_maxrss);
    cr_expect(sanitized() || usage.ru_maxrss < file.st_size / 1024 * 3 / 2, "%ld KB",
              usage.ru_maxrss);
    unlink(path);
    close(fd);
    run_free(&run);
}

Test(large, is_shown)
{
    make();
    expect_rows_as_they_come();
    expect_view("", "00.000 s in 1 process and 8 threads: 1");
    expect_view("--tree", "00.000   100.00  [all]\n");
    unlink(made_path);
}

/* Blocks come and go, of a site and a size of some thousands each, as those of programs do. */
static void make_heap(void)
{
    static struct block {
        uint32_t site;
        uint32_t size;
    } blocks[BLOCKS];
    unsigned seed = 1;

    made_begin();
    made_heap_begin(0, 0);
    for (uint32_t i = 1; i <= SITES; i++)
        made_heap_site(i, 1, put_stack(&seed));
    for (size_t i = 0; i < count_of(EVENTS); i++) {
        struct block *block = &blocks[(size_t)rand_r(&seed) % BLOCKS];
        const bool freed = block->site != 0;

        if (!freed)
            *block =
                (struct block){ 1 + (uint32_t)rand_r(&seed) % SITES, 16U << rand_r(&seed) % 5 };
        made_heap_events(block->site, i / 1000, block->size, 1, freed);
        if (freed)
            block->site = 0;
    }
    put_names();
    made_end(NULL);
}

Test(large, heaps_are_shown)
{
    make_heap();
    expect_view("", " in 1 process and 1 thread, ");
    expect_view("--at 0.5", "\n  live then     ");
    expect_view("--leaks --tail", "live at the end, and before the tail; at most: ");
    unlink(made_path);
}
