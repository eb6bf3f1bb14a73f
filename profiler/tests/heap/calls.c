/* Each function that gives out memory, and each event of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/heap/drainer.h"
#include "support/test.h"

/* A block of this size was allocated once, and freed once. */
static void expect_pair(const struct heap_log *log, uint32_t kind, uint64_t size, uint32_t freed)
{
    const struct heap_event *e = heap_find(log, kind, size), *behind;

    cr_expect_eq(heap_count(log, kind, size), 1, "%u of %u bytes",
                 (unsigned)heap_count(log, kind, size), (unsigned)size);
    cr_assert(e != NULL, "%u bytes", (unsigned)size);
    behind = heap_find_behind(log, e, freed);
    cr_expect(behind != NULL && behind->thread == e->thread, "%u bytes are freed", (unsigned)size);
}

static void expect_calls(const struct heap_log *log)
{
    static const unsigned sizes[] = { 10001, 10006, 10048, 10008, 10009, 10010 };
    const struct heap_event *e;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_pair(log, SFB_HEAP_ALLOC, sizes[i], SFB_HEAP_FREE);
    expect_pair(log, SFB_HEAP_ALLOC, 10002, SFB_HEAP_FREE_REALLOC);
    expect_pair(log, SFB_HEAP_ALLOC_REALLOC, 20003, SFB_HEAP_FREE_REALLOC);
    expect_pair(log, SFB_HEAP_ALLOC_REALLOC, 30005, SFB_HEAP_FREE);
    expect_pair(log, SFB_HEAP_ALLOC, 10011, SFB_HEAP_FREE_REALLOC);
    e = heap_find_behind(log, heap_find(log, SFB_HEAP_ALLOC, 10011), SFB_HEAP_REALLOC_FAILED);
    cr_assert(e != NULL);
    cr_expect(heap_find_behind(log, e, SFB_HEAP_FREE_REALLOC) != NULL); /* realloc(p, 0) */
}

Test(heap_calls, are_all_recorded)
{
    static const struct heap_how ways[] = { { 0 }, { .clock = true } };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct heap_log *log = heap_record(&ways[i], SFB_HEAP_PROGRAM " calls");
        struct heap_replay r;

        heap_expect_good(log, 0);
        expect_calls(log);
        cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 0), 1); /* malloc(0) */
        r = heap_replay(log, 0);
        cr_expect_eq(r.conflicts, 0);
        heap_log_free(log);
    }
}

static const char *const allocators[] = { SFB_HEAP_JEMALLOC, SFB_HEAP_TCMALLOC, SFB_HEAP_MIMALLOC };

/* Others round differently, and may refuse another way: what is counted is the same. */
Test(heap_calls, are_recorded_over_any_allocator)
{
    size_t seen = 0;

    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
        const struct heap_how how = { .behind = allocators[i] };
        struct heap_log *log;
        struct heap_replay r;

        if (access(allocators[i], R_OK) != 0) {
            printf("skipped: there is no %s\n", allocators[i]);
            continue;
        }
        seen++;
        log = heap_record(&how, SFB_HEAP_PROGRAM " loop 20000");
        heap_expect_good(log, 0);
        cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 777), 20000, "%s", allocators[i]);
        r = heap_replay(log, 0);
        cr_expect_eq(r.conflicts, 0, "%s", allocators[i]);
        cr_expect(r.allocated - r.freed == r.live && r.live < 100, "%s: %u live", allocators[i],
                  (unsigned)r.live);
        heap_log_free(log);
    }
    if (seen == 0)
        cr_skip_test("none of them is installed");
}

static void expect_operators(const char *behind)
{
    const struct heap_how how = { .behind = behind };
    const bool aborts = behind && strstr(behind, "mimalloc") != NULL;
    struct heap_log *log = heap_record(&how, aborts ? SFB_HEAP_CXX " no-throw" : SFB_HEAP_CXX);

    heap_expect_good(log, 0);
    for (unsigned size = 60001; size <= 60012; size++)
        expect_pair(log, SFB_HEAP_ALLOC, size, SFB_HEAP_FREE);
    cr_expect_geq(heap_count(log, SFB_HEAP_ALLOC, 99), 10);
    cr_expect_eq(heap_replay(log, 0).conflicts, 0);
    heap_log_free(log);
}

Test(heap_calls, of_cxx_are_counted_once)
{
    if (!*SFB_HEAP_CXX)
        cr_skip_test("there is no C++ compiler");
    expect_operators(NULL);
}

Test(heap_calls, of_cxx_are_counted_over_any_allocator)
{
    size_t seen = 0;

    if (!*SFB_HEAP_CXX)
        cr_skip_test("there is no C++ compiler");
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
        if (access(allocators[i], R_OK) != 0)
            continue;
        expect_operators(allocators[i]);
        seen++;
    }
    if (seen == 0)
        cr_skip_test("none of them is installed");
}

Test(heap_calls, have_the_stack_of_their_caller)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " deep 30");
    const struct heap_stack *shallow, *deep;

    heap_expect_good(log, 0);
    cr_assert_eq(heap_count(log, SFB_HEAP_ALLOC, 778), 2);
    deep = heap_stack(log, heap_find(log, SFB_HEAP_ALLOC, 778));
    shallow = heap_stack(log, heap_find(log, SFB_HEAP_ALLOC, 779));
    cr_assert(deep && shallow);
    cr_expect_eq(deep->end, SFB_END);
    cr_expect_eq(deep->frames, shallow->frames + 31);
    cr_expect_eq(deep->frame[0], shallow->frame[0]); /* pair() */
    for (size_t i = 2; i < 31; i++)
        cr_expect_eq(deep->frame[i], deep->frame[2]); /* go_deep() in go_deep() */
    for (size_t i = 0; i < log->stack_count; i++)
        cr_expect_eq(log->stack[i].sent, 1, "a stack was sent %u times", log->stack[i].sent);
    heap_log_free(log);
}

Test(heap_calls, cut_a_stack_that_is_too_deep)
{
    struct heap_log *log = heap_record(NULL, SFB_HEAP_PROGRAM " deep 3000");
    const struct heap_stack *deep;

    heap_expect_good(log, 0);
    deep = heap_stack(log, heap_find(log, SFB_HEAP_ALLOC, 778));
    cr_assert(deep != NULL);
    cr_expect_eq(deep->frames, 1024);
    cr_expect_eq(deep->end, SFB_FRAME_LIMIT);
    heap_log_free(log);
}

Test(heap_calls, leave_errno_alone)
{
    static const struct heap_how ways[] = { { 0 }, { .rate = 2000 } };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct heap_log *log = heap_record(&ways[i], SFB_HEAP_PROGRAM " errno");

        heap_expect_good(log, 0);
        heap_log_free(log);
    }
}

Test(heap_calls, map_memory_where_that_is_asked_for)
{
    const struct heap_how how = { .heap_flags = SFB_SHARED_HEAP_MMAP };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " maps");
    const struct heap_event *e;

    heap_expect_good(log, 0);
    e = heap_find(log, SFB_HEAP_ALLOC_MMAP, 40960);
    cr_assert(e && heap_count(log, SFB_HEAP_ALLOC_MMAP, 40960) == 1);
    e = heap_find_behind(log, e, SFB_HEAP_FREE_MMAP);
    cr_expect(e && e->size == 40960);
    e = heap_find(log, SFB_HEAP_ALLOC_MMAP, 45056);
    cr_assert(e != NULL);
    e = heap_find_behind(log, e, SFB_HEAP_FREE_MMAP);
    cr_expect(e && e->size == 45056);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC_MMAP, 901120), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_FREE_MMAP, 8192), 1); /* by MAP_FIXED */
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC_MMAP, 8192), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_FREE_MMAP, 4096), 0); /* it failed */
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC_MMAP, 0), 0);
    /* What the allocator maps is its own. */
    for (size_t i = 0; i < log->event_count; i++)
        cr_expect(log->event[i].kind != SFB_HEAP_ALLOC_MMAP || log->event[i].size < 1234567);
    heap_log_free(log);
    log = heap_record(NULL, SFB_HEAP_PROGRAM " maps");
    heap_expect_good(log, 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC_MMAP, SIZE_MAX), 0);
    heap_log_free(log);
}

/* With the agent that records nothing, or keeps a live table. */
static void expect_same_without_recorder(char *program, const char *live)
{
    const pid_t child = fork();
    int status = -1;

    if (child == 0) {
        char *words[] = { program, NULL };

        heap_preload(SFB_HEAP_AGENT);
        if (live)
            setenv("SFB_HEAP_LIVE", live, 1);
        execve(program, words, environ);
        _exit(127);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_expect_eq(status, 0, "%s, live %s: %x", program, live ? live : "none", (unsigned)status);
}

/* Whatever a program has of its own, what it gives out comes back to it; and what is not its own is recorded. */
Test(heap_calls, of_own_functions_are_passed_on)
{
    static const char *const programs[] = { "-new", "-malloc", "-user" };
    static const char *const tables[] = { NULL, "4M" };

    if (!*SFB_HEAP_CXX)
        cr_skip_test("there is no C++ compiler");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct heap_how how = { 0 };
        char words[4096];
        struct heap_log *log;

        snprintf(words, sizeof words, "%s%s", SFB_HEAP_OWN, programs[i]);
        log = heap_record(&how, words);
        cr_expect(heap_exited(log, 0), "%s: %x", programs[i], (unsigned)log->status);
        cr_expect_eq(heap_replay(log, 0).conflicts, 0, "%s", programs[i]);
        cr_expect_eq(heap_replay(log, 0).unknown, 0, "%s", programs[i]);
        cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 10), strcmp(programs[i], "-malloc") != 0, "%s",
                     programs[i]);
        heap_log_free(log);
        for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
            expect_same_without_recorder(words, tables[k]);
    }
}
