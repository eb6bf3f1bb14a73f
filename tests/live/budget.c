/*
 * The budget of a walk. No test here measures time: a budget that a walk keeps is one.
 *
 * The library has one function of 40,000 rows, and no build-id: nothing that its tables say may be
 * remembered beyond a walk.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"

enum { ROWS = 40000, DEPTH = 10000, FRAMES = DEPTH + 64 };

typedef int many_rows_fn(int depth, int (*function)(void));

static void *frames[FRAMES];
static struct sframe_backtrace_options options;
static struct sframe_backtrace_info info = { .size = sizeof info };
static ssize_t count;
static double milliseconds;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int capture(void)
{
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        double start = now();

        count = sframe_backtrace_addresses(frames, FRAMES, &options, &info);
        if (now() - start < best)
            best = now() - start;
    }
    milliseconds = best;
    return 0;
}

static void walk(const char *library, int depth, struct sframe_backtrace_options how)
{
    char path[512];
    many_rows_fn *many_rows = NULL;
    void *handle;

    snprintf(path, sizeof path, SFB_TEST_LIBS "/lib%s.so", library);
    handle = dlopen(path, RTLD_NOW);
    cr_assert(handle != NULL, "%s", dlerror());
    *(void **)&many_rows = dlsym(handle, "many_rows");
    cr_assert(many_rows != NULL);
    options = how;
    options.size = sizeof options;
    many_rows(depth, capture);
    dlclose(handle);
}

static const char *const libraries[] = { "many_rows-sframe", "many_rows-bare" };

enum { LIBRARIES = 2 };

/* Its rows are read once a walk, not once a frame: 400 million would be far beyond any budget. */
Test(budget, rows_of_a_module_without_a_build_id_are_read_once_a_walk)
{
    for (unsigned i = 0; i < LIBRARIES; i++) {
        walk(libraries[i], DEPTH, (struct sframe_backtrace_options){ .size = 0 });
        fprintf(stderr, "budget: %d frames in a function of %d rows, %s: %.2f ms\n", DEPTH, ROWS,
                libraries[i], milliseconds);
        cr_expect(eq(int, info.end, SFB_END), "%s: %s", libraries[i], sfb_status_str(info.end));
        cr_expect(le(int, DEPTH + 2, (int)count), "%s", libraries[i]);
    }
    /* Nor is more of the budget used: the rows, at two pcs, twice for each; a word or two a frame. */
    walk(libraries[0], 1000,
         (struct sframe_backtrace_options){ .max_work = 6 * (ROWS + 8) + 8 * 1000 });
    cr_expect(eq(int, info.end, SFB_END), "%s", sfb_status_str(info.end));
}

Test(budget, is_kept_and_says_so)
{
    for (unsigned i = 0; i < LIBRARIES; i++) {
        walk(libraries[i], 10, (struct sframe_backtrace_options){ .max_work = ROWS / 2 });
        cr_expect(eq(int, info.end, SFB_WORK_LIMIT), "%s: %s", libraries[i],
                  sfb_status_str(info.end));
        cr_expect(le(int, 1, (int)count));
        cr_expect(le(int, (int)count, 3), "the first frames are there");
    }
}

/* --- Stacks without end --------------------------------------------------------------------------
 */

NOINLINE static unsigned recurse(unsigned depth)
{
    volatile unsigned here = depth;

    if (depth > 0)
        here += recurse(depth - 1);
    else
        capture();
    return here;
}

enum { RECURSIONS = 300000 };

static void *recurse_in_a_thread(void *argument)
{
    recurse(RECURSIONS);
    return argument;
}

static void recurse_deep(struct sframe_backtrace_options how)
{
    static const size_t size = 1024u << 20;
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;

    cr_assert(stack != MAP_FAILED);
    options = how;
    options.size = sizeof options;
    pthread_attr_init(&attributes);
    cr_assert(eq(int, pthread_attr_setstack(&attributes, stack, size), 0));
    cr_assert(eq(int, pthread_create(&thread, &attributes, recurse_in_a_thread, NULL), 0));
    pthread_join(thread, NULL);
    munmap(stack, size);
}

/* All frames are left out, so that only the budget ends it. */
Test(budget, counts_the_words_of_a_stack_that_is_passed)
{
    const struct {
        uint32_t max_work;
        enum sfb_status end;
    } cases[] = { { 100, SFB_WORK_LIMIT }, { 100000, SFB_WORK_LIMIT }, { UINT32_MAX, SFB_END } };

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        recurse_deep((struct sframe_backtrace_options){ .skip = RECURSIONS - 1,
                                                        .max_work = cases[i].max_work });
        cr_expect(eq(int, info.end, cases[i].end), "%u: %s", cases[i].max_work,
                  sfb_status_str(info.end));
        cr_expect(eq(int, count >= 3, cases[i].end == SFB_END));
    }
}

/* What stops a walk is the last thing that its CBF says, and the reason is in info. */
NOINLINE static void cut_short(void)
{
    struct sframe_backtrace_options how = { .size = sizeof how, .max_work = 1 };
    struct sframe_backtrace_info cut = { .size = sizeof cut };
    uint8_t bytes[256];
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    ssize_t size = sframe_backtrace_cbf(bytes, sizeof bytes, &how, &cut);

    cr_assert(size > 0);
    cr_expect(eq(int, cut.end, SFB_WORK_LIMIT));
    cr_expect(eq(u32, cut.frames, 1));
    cr_assert(eq(int, sfb_cbf_decoder_init(&decoder, bytes, (size_t)size, NULL, NULL), SFB_OK));
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK)
        ;
    cr_expect(sfb_cbf_decoder_truncated(&decoder));
}

Test(budget, ends_in_a_truncated_cbf)
{
    cut_short();
}
